"""The last half minute of the page, to look at again."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from humanoid_balance.viewer.moment import Moment

KEPT = 30.0  # [s] of the robot's time


class History:
    """Moments in the order of their time; a clock that went back starts it anew."""

    def __init__(self) -> None:
        self._moments: deque[Moment] = deque()

    def add(self, moment: Moment) -> None:
        kept = self._moments
        if kept and moment.time < kept[-1].time:
            kept.clear()
        if not kept or moment.time > kept[-1].time:
            kept.append(moment)
        while kept[-1].time - kept[0].time > KEPT:
            kept.popleft()

    def clear(self) -> None:
        self._moments.clear()

    @property
    def length(self) -> float:
        """How far it goes back [s]."""
        return self._moments[-1].time - self._moments[0].time if self._moments else 0.0

    def ago(self, seconds: float) -> Moment:
        """The first moment not longer ago than that, or the oldest there is."""
        times = [moment.time for moment in self._moments]
        return self._moments[min(bisect_left(times, times[-1] - seconds - 1e-9), len(times) - 1)]
