"""A motor that works more than it was asked to, or the other way round: a wrong sign, or a drive gone mad.

No push explains this: a motor's torque is its own doing. A motor that gives too little is no danger to a person beside
the robot and is not looked for here.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.glance import finite
from humanoid_balance.types import Array, Flags

EXCESS = 0.3  # share of the torque limit beyond what was asked for
LASTING = 0.030  # a drive answers within the 20 ms that a command may be old; impacts on the torque sensor are over [s]


class FollowWatch:
    """Follows each joint from the moment its motor gives too much."""

    def __init__(self, robot: Robot) -> None:
        self.excess = EXCESS * robot.torque_limit  # [N m]
        self._since = np.zeros(robot.n)  # stamp at which the present excess began [s]
        self._over: Flags | None = None  # joints with too much torque, if any

    def reset(self) -> None:
        self._over = None

    def update(self, stamp: float, measured: Array, sent: Array) -> int | None:
        """Index of a joint that trips; torques (n,) [N m], ``sent`` is that of the last tick."""
        along = np.sign(measured) * sent  # what was asked for in the direction of the measured torque
        over = np.abs(measured) - np.maximum(along, 0.0) > self.excess  # False where a reading is missing
        if not over.any():
            self._over = None
            return None
        new = over if self._over is None else over & ~self._over
        self._since = np.where(new, stamp, self._since)
        self._over = over
        trips = over & ~(stamp - self._since <= LASTING)  # a stamp that is not a number does not keep it from tripping
        return int(np.argmax(trips)) if trips.any() else None

    def sound(self) -> bool:
        """What it remembers are numbers."""
        return self._over is None or finite(self._since)
