"""A joint that is too fast for too long.

An impact throws a light joint for a few milliseconds: a foot that lands turns its ankle faster than a motor would. That
alone is no fault, and to brake a robot that is catching itself would make it fall. So the limit may be passed for a
short time, which adds up: a joint that shakes is below the limit twice in each swing, and trips all the same. Twice the
limit is never passed. Meanwhile torque, its rate and the joint's range are bounded as always: within the time allowed a
joint turns by less than 2 · limit · 10 ms.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.safety.glance import finite
from humanoid_balance.types import Array

LASTING = 0.010  # time beyond the limit that trips [s]
FORGET = 0.1  # of the time at which the joint was slow that is taken off again
CEILING = 2.0  # times the limit: trips at once
ROUNDING = 1e-6  # of stamps [s]


class SpeedWatch:
    """Adds up how long each joint is beyond its limit."""

    def __init__(self, limit: Array) -> None:
        """``limit`` (n,) [rad/s]."""
        self.limit = limit
        self._lasted = np.zeros(limit.shape)  # [s]
        self._seen = np.zeros(limit.shape)  # stamp at which the joint was last too fast [s]

    def reset(self) -> None:
        self._lasted[:] = self._seen[:] = 0.0

    def sound(self) -> bool:
        """What it remembers are numbers."""
        return finite(self._lasted) and finite(self._seen)

    def update(self, stamp: float, period: float, velocity: Array) -> int | None:
        """Index of a joint that trips; ``period`` is the time since the sample before [s]."""
        speed = np.abs(velocity)
        fast = speed > self.limit
        if not fast.any():
            return None
        slow = np.maximum(stamp - period - self._seen, 0.0)
        lasted = np.maximum(self._lasted - FORGET * slow, 0.0) + period
        self._lasted = np.where(fast, lasted, self._lasted)
        self._seen = np.where(fast, stamp, self._seen)
        trips = fast & (~(self._lasted <= LASTING - ROUNDING) | (speed > CEILING * self.limit))
        return int(np.argmax(trips)) if trips.any() else None
