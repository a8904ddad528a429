"""A joint that moves against its torque: an encoder with the wrong sign, or a motor that measures its own torque wrong.

A joint that is pushed, or carries a load downwards, also moves against its torque, but the torque slows it down, or
holds it about steady; a blow throws it for a moment. A runaway gets faster and faster although the motor works against
the motion with a good part of its strength. The criterion needs no word on whether the robot is being pushed: that word
is an estimate from the same sensors, and a joint gone mad looks like a push to it. Instead the limit lies beyond what
pushes do: up to 0.9 m/s within 0.2 s made a slow trunk joint faster by 5.0 rad/s against its motor, a wrist by
2.5 rad/s, a weak neck by 8.2 rad/s (at 0.8 m/s); the limits of these joints are 7.3, 4.4 and 15 rad/s.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.glance import finite
from humanoid_balance.types import Array, Flags

EFFORT = 0.3  # share of the torque limit that counts as working against the motion
LASTING = 0.06  # shorter than this is a bump: a landing throws a light joint [s]
GAIN = 0.8  # share of the joint's velocity limit by which it gets faster meanwhile, ...
THROWN = (
    3.0  # ... and this much more: a push of 1 m/s on a lever of a third of a metre, for joints with low limits [rad/s]
)


class RunawayWatch:
    """Follows each joint from the moment its torque opposes its motion."""

    def __init__(self, robot: Robot) -> None:
        self.effort = EFFORT * robot.torque_limit  # [N m]
        self._gain = GAIN * robot.velocity_limit + THROWN
        self._since = np.zeros(robot.n)  # stamp at which the present opposition began [s]
        self._speed = np.zeros(robot.n)  # lowest speed since then [rad/s]
        self._opposed: Flags | None = None  # those that are opposed, if any are

    def reset(self) -> None:
        """Nothing is opposed; takes the place of ``update`` where no motor works with ``effort``."""
        self._opposed = None

    def limit(self, joint: int) -> float:
        """Speed at which the joint counts as running away, if it began to be opposed as it was last [rad/s]."""
        return float(self._speed[joint] + self._gain[joint])

    def update(self, stamp: float, torque: Array, velocity: Array) -> int | None:
        """Index of a joint that runs away; measured torques [N m] and velocities [rad/s] (n,)."""
        along = np.sign(torque) * velocity  # the speed along the torque
        opposed = (along < 0.0) & (np.abs(torque) > self.effort)  # False where a reading is missing
        if not opposed.any():
            self._opposed = None
            return None
        speed = np.abs(velocity)
        new = opposed if self._opposed is None else opposed & ~self._opposed
        self._since = np.where(new, stamp, self._since)
        self._speed = np.where(new, speed, np.minimum(self._speed, speed))
        self._opposed = opposed
        away = opposed & ~(stamp - self._since <= LASTING) & ~(speed - self._speed <= self._gain)
        return int(np.argmax(away)) if away.any() else None

    def sound(self) -> bool:
        """What it remembers are numbers."""
        return self._opposed is None or (finite(self._since) and finite(self._speed))
