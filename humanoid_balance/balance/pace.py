"""Does the body go as fast as it is told? The way of each stride against the command corrects what steps aim at.

Feet land a little early or late, soles slip by millimetres, the body is not quite a pendulum: a few per cent of speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance.gait import Velocity
from humanoid_balance.geometry import Point

LEARNT = 0.25  # share of the error of a stride that is corrected with each step
MOST = 0.06  # largest correction, in sqrt(g h) [1]


@dataclass(frozen=True, slots=True)
class Landing:
    stamp: float
    com: Point
    heading: float
    wanted: Velocity


class Pace:
    """``correction`` is added to the commanded velocity, forward and left [m/s]."""

    def __init__(self, speed: float) -> None:
        """``speed``: sqrt(g h) of the body [m/s]."""
        self._most = MOST * speed
        self.reset()

    def reset(self) -> None:
        self.correction = (0.0, 0.0)
        self.forget()

    def forget(self) -> None:
        """What is under way is no measure of the pace: a push, another command."""
        self._last: list[Landing | None] = [None, None]

    def landed(self, side: int, stamp: float, com: Point, heading: float, wanted: Velocity) -> None:
        """A foot came down; with the last landing of the same foot that is a stride."""
        last, self._last[side] = self._last[side], Landing(stamp, com, heading, wanted)
        if last is None or last.wanted != wanted:
            return
        time, middle = stamp - last.stamp, (heading + last.heading) / 2
        cos, sin = math.cos(middle), math.sin(middle)
        dx, dy = com[0] - last.com[0], com[1] - last.com[1]
        error = wanted[0] - (cos * dx + sin * dy) / time, wanted[1] - (cos * dy - sin * dx) / time
        x, y = (c + LEARNT * e for c, e in zip(self.correction, error, strict=True))
        self.correction = max(-self._most, min(self._most, x)), max(-self._most, min(self._most, y))
