"""What a walking foot learns of the ground: the slope under the sole that carries, without any map.

The next foot is sent to the plane of the stance sole. On level ground that plane is known from standing, and nothing is
changed by what a sole shows within SURE, which is less than a soft rim or a late ankle may tilt it. Beyond, the sole
that lies flat and carries the body alone is believed, and the next foot lands as it does.
"""

from __future__ import annotations

import math

from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Array

SURE = 0.04  # a sole that is tilted by less against the ground that is known tells nothing new [rad]
SETTLED = 0.08  # a stance sole is asked so long after the other foot has left [s]: it may have landed on an edge
QUICK = 0.03  # time constant with which its slope is taken [s]


class Footing:
    """Learns the normal of the ground in place, step by step."""

    def __init__(self) -> None:
        self._since = self._stamp = math.inf

    def begin(self, stamp: float) -> None:
        """A foot leaves: from now on the other one carries alone [s]."""
        self._since = self._stamp = stamp

    def learn(self, now: Situation, stance: int, ground: Array) -> None:
        """Turn ``ground``, a unit normal (3,), toward that of the ``stance`` sole, if it shows another slope."""
        state = now.state
        dt, self._stamp = state.stamp - self._stamp, state.stamp
        if state.stamp - self._since < SETTLED or not state.contact[stance] or state.contact[1 - stance]:
            return
        seen = state.ground_normal
        if float(seen.dot(ground)) > math.cos(SURE) * math.sqrt(float(ground.dot(ground))):
            return
        ground += min(1.0, dt / QUICK) * (seen - ground)
        ground /= math.sqrt(float(ground.dot(ground)))
