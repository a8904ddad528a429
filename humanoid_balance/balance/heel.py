"""The heel of the foot that is left behind comes up before the foot leaves: the leg is too short otherwise.

A flat sole ties the ankle to the ground. Where the hip gets further away from it than the leg is long, the knee is
straight, the foot is torn off, swings like a stick and scuffs the ground. A sole that turns about its front edge lets
the ankle follow the hip: ``Legs.rise`` says how far it has to turn for the hip as it will be ``AHEAD`` from now.
"""

from __future__ import annotations

import math

from humanoid_balance.balance.legs import Legs
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.swing import Pitch, Swing
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import HeelReference

LENGTH = 0.98  # share of its length that the leg may have
FREE = 0.85  # share of the ankle's range that a raised heel uses
LEAST = 0.03  # a heel that has to come up by less stays down [rad]
QUICK = 40.0  # the heel follows what the leg needs at this frequency, critically damped [1/s]
AHEAD = 0.1  # what the leg needs is looked ahead [s]: the heel follows late, and a foot that left lags behind the hip


def _fronts(robot: Robot) -> list[float]:
    """How far the front edges of both soles are ahead of their origins [m]."""
    return [float(corners[:, 0].max()) for corners in robot.soles]


class Heel:
    """Of the foot that carries now, or is left behind."""

    def __init__(self, robot: Robot, legs: Legs) -> None:
        self.robot, self.legs = robot, legs
        self.most = FREE * legs.points  # [rad]
        self.toe = _fronts(robot)
        self.steep = False  # on stairs: a foot that is left behind above the other one would bend its ankle too far
        self.reset()

    def reset(self) -> None:
        """The sole is flat, or another one is looked at."""
        self.angle = self.rate = 0.0
        self.up = False

    def update(self, now: Situation, side: int, dt: float) -> HeelReference | None:
        """What the heel of a foot should do; None as long as its sole is flat."""
        needed = self.needed(now, side, AHEAD)
        if not self.up:
            if needed < LEAST:
                return None
            self.up = True
        acceleration = QUICK * QUICK * (needed - self.angle) - 2 * QUICK * self.rate
        self.rate += acceleration * dt
        self.angle += self.rate * dt
        if self.angle < 0.0 or (needed == 0.0 and self.angle < 0.2 * LEAST):
            self.reset()
            return None
        return HeelReference(self.angle, self.rate, acceleration)

    def needed(self, now: Situation, side: int, ahead: float) -> float:
        """By how much the heel has to be up in a while [rad]."""
        legs, state = self.legs, now.state
        position, rotation = state.sole_position[side], state.sole_rotation[side]
        cos, sin = rotation[0, 0], rotation[1, 0]
        size = math.hypot(cos, sin)
        cos, sin = cos / size, sin / size
        tx, ty, tz = (position + self.toe[side] * rotation[:, 0]).tolist()
        hx, hy, hz = legs.hip_of(state.q, side)
        vx, vy, vz = state.com_velocity.tolist()
        dx, dy = hx + ahead * vx - tx, hy + ahead * vy - ty
        x, y = cos * dx + sin * dy + legs.toe, cos * dy - sin * dx
        z = hz + ahead * vz - tz - legs.ankle
        needed = legs.rise(x, y, z, LENGTH)
        return min(self.most, max(needed, legs.tiptoe(x, y, z)) if self.steep else needed)


class Toes:
    """Of the foot that swings: they point down as far as its ankle cannot bend for a flat sole.

    A foot that is lifted straight up behind the edge of a stair is far behind the knee over it. An ankle at its end
    stop turns the whole leg, and with it the pelvis: by 1.3 rad on the first stairs of g1.
    """

    def __init__(self, robot: Robot, legs: Legs) -> None:
        self.legs = legs
        self.front = _fronts(robot)
        self.reset()

    def reset(self) -> None:
        """Another foot swings."""
        self.angle = self.rate = 0.0

    def point(self, now: Situation, side: int, swing: Swing, dt: float) -> None:
        """Tell the swing of their foot what they should do."""
        swing.front = self.front[side]
        needed = max(self.needed(now, side, swing, AHEAD), swing.tipped(now.state.stamp + 2.0 / QUICK))
        acceleration = QUICK * QUICK * (needed - self.angle) - 2 * QUICK * self.rate
        self.rate += acceleration * dt
        self.angle += self.rate * dt
        swing.pitch = Pitch(self.angle, self.rate, acceleration)

    def needed(self, now: Situation, side: int, swing: Swing, ahead: float) -> float:
        """By how much they have to point down in a while, beyond what the path of the foot has [rad]."""
        legs, state = self.legs, now.state
        (x, y, z), tilt = swing.ahead(state.stamp + ahead)
        hx, hy, hz = legs.hip_of(state.q, side)
        vx, vy, vz = state.com_velocity.tolist()
        dx, dy, dz = hx + ahead * vx - x, hy + ahead * vy - y, hz + ahead * vz - z
        cos, sin = math.cos(now.yaw), math.sin(now.yaw)
        back = self.front[side] - legs.toe  # of the ankle behind the sole's origin
        return max(0.0, legs.tiptoe(cos * dx + sin * dy - back, cos * dy - sin * dx, dz - legs.ankle) - tilt)
