"""A joint that moves against its torque: a motor or an encoder with the wrong sign, or a drive gone mad.

A joint that is pushed, or carries a load downwards, also moves against its torque, but the torque slows it down, or
holds it about steady. A runaway gets faster and faster although the motor works against the motion with a good part of
its strength.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Flags, RobotState, SensorFrame

EFFORT = 0.3  # share of the torque limit that counts as working against the motion
LASTING = 0.06  # shorter than this is a bump: a landing throws a light joint [s]
GAIN = 0.8  # share of the joint's velocity limit by which it gets faster meanwhile


class RunawayWatch:
    """Follows each joint from the moment its torque opposes its motion."""

    def __init__(self, robot: Robot) -> None:
        self.effort = EFFORT * robot.torque_limit  # [N m]
        self._gain = GAIN * robot.velocity_limit
        self._since = np.zeros(robot.n)  # stamp at which the present opposition began [s]
        self._speed = np.zeros(robot.n)  # speed then [rad/s]
        self._opposed: Flags | None = None  # those that are opposed, if any are

    def reset(self) -> None:
        """Nothing is opposed; takes the place of ``update`` where no motor works with ``effort``."""
        self._opposed = None

    def limit(self, joint: int) -> float:
        """Speed at which the joint counts as running away, if it began to be opposed as it was last [rad/s]."""
        return float(self._speed[joint] + self._gain[joint])

    def update(self, frame: SensorFrame, state: RobotState) -> int | None:
        """Index of a joint that runs away. A push throws limbs against their motors: while it lasts none is told."""
        if state.push.active:
            self._opposed = None
            return None
        torque, velocity = frame.torque, state.v[6:]
        opposed = (torque * velocity < 0.0) & (np.abs(torque) > self.effort)  # False where a reading is missing
        if not opposed.any():
            self._opposed = None
            return None
        speed = np.abs(velocity)
        new = opposed if self._opposed is None else opposed & ~self._opposed
        self._since = np.where(new, frame.stamp, self._since)
        self._speed = np.where(new, speed, np.minimum(self._speed, speed))
        self._opposed = opposed
        away = opposed & (frame.stamp - self._since > LASTING) & (speed - self._speed > self._gain)
        return int(np.argmax(away)) if away.any() else None
