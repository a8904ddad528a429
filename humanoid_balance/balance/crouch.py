"""How low a walking body goes: legs that are spread far have to reach the ground, and bend when they leave it."""

from __future__ import annotations

import math

from humanoid_balance.balance.footsteps import Adapted, Pendulum
from humanoid_balance.balance.gait import Gait, Velocity
from humanoid_balance.balance.legs import LOWEST
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

BENT = 0.97  # share of its length that a leg may have when its foot leaves after a step longer than usual
FURTHER = 0.06  # stride beyond the usual one from which on that counts in full [CoM heights]
EASE = GRAVITY / 6  # that speed changes no faster [m/s²]
SINK = 0.1  # speed of the height that is asked for [sqrt(g h)]: one that jumps takes the load off the stance foot


class Crouch:
    """The height that is asked of the CoM; it follows what the strides need with a limited speed."""

    def __init__(self, robot: Robot, gait: Gait) -> None:
        self.gait, self.standing = gait, robot.com_height
        self.speed = SINK * math.sqrt(GRAVITY * robot.com_height)  # [m/s]

    def reset(self, stamp: float, height: float) -> None:
        self.stamp, self.height, self.rate = stamp, height, 0.0

    def update(
        self, stamp: float, velocity: Velocity, body: Pendulum, plan: Adapted | None, wait: float, up: float = 0.0,
        rolls: bool = False,
    ) -> float:  # fmt: skip
        """Of the CoM above the ground [m].

        ``wait``: until the foot of the planned step leaves [s]; ``up``: how much higher than the other it lands [m];
        ``rolls``: the heel left behind comes up as soon as it has landed.
        """
        wanted = self.gait.height(velocity)
        if plan is not None:
            needed = self.standing - self._drop(velocity, body, plan, wait, up, rolls)
            wanted = max(LOWEST * self.standing, min(wanted, needed))
        dt, self.stamp = stamp - self.stamp, stamp
        away = wanted - self.height
        slow = math.sqrt(2 * EASE * abs(away))  # to come to rest there
        rate = math.copysign(min(self.speed, slow), away)
        self.rate += max(-EASE * dt, min(EASE * dt, rate - self.rate))
        self.height += self.rate * dt
        return self.height

    def _drop(self, velocity: Velocity, body: Pendulum, plan: Adapted, wait: float, up: float, rolls: bool) -> float:
        """What the foot that lands needs to reach the ground, and the one left behind to leave it [m].

        A knee that is straight when its foot leaves does not bend: the leg swings like a stick and scuffs the ground.
        """
        legs, time = self.gait.legs, wait + plan.time
        later = time if rolls else time + self.gait.transfer
        _, front = body.strides(time, plan.pressure, plan.place, legs.hip)
        rear, _ = body.strides(later, plan.pressure, plan.place, legs.hip)
        share = max(0.0, min(1.0, (rear - self.gait.stride(velocity)) / (FURTHER * self.standing)))
        level = legs.drop(rear) if rolls else share * legs.drop(rear, BENT)
        # The body goes along the line from foot to foot: from it, the upper one is too high, the lower one too low.
        over = up * (1.0 - _passed(body, plan, time)), -up * _passed(body, plan, later)
        lower = legs.drop(rear, rise=over[1]) - legs.drop(rear) if over[1] < 0.0 else 0.0
        return max(legs.drop(front, rise=over[0]), level + lower)


def _passed(body: Pendulum, plan: Adapted, time: float) -> float:
    """Share of the way from foot to foot that the body has behind it."""
    length = plan.place[0]
    return max(0.0, min(1.0, body.com_after(time, plan.pressure)[0] / length)) if length else 0.5
