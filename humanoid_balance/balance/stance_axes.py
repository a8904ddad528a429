"""Coordinates of the stance foot: x along it, y toward the side of the swinging leg; one rule serves both legs."""

from __future__ import annotations

import math

from humanoid_balance.balance.situation import Situation
from humanoid_balance.geometry import Point


class StanceAxes:
    """What a mode that swings one leg (``side``) sees from the centre of the other foot."""

    side: int

    def _axes(self, now: Situation) -> tuple[float, float, float]:
        """Cosine and sine of the stance foot's heading, and the sign of y."""
        ahead = now.state.sole_rotation[1 - self.side][:2, 0].tolist()
        size = math.hypot(*ahead)
        return ahead[0] / size, ahead[1] / size, 1.0 if self.side == 0 else -1.0

    def _local(self, now: Situation, point: Point) -> Point:
        (sx, sy), (c, s, sign) = now.centre[1 - self.side], self._axes(now)
        dx, dy = point[0] - sx, point[1] - sy
        return c * dx + s * dy, sign * (c * dy - s * dx)

    def _world(self, now: Situation, point: Point) -> Point:
        (sx, sy), (c, s, sign) = now.centre[1 - self.side], self._axes(now)
        x, y = point[0], sign * point[1]
        return sx + c * x - s * y, sy + s * x + c * y

    def _along(self, now: Situation, vector: Point) -> Point:
        """A direction in coordinates of the stance foot."""
        c, s, sign = self._axes(now)
        return c * vector[0] + s * vector[1], sign * (c * vector[1] - s * vector[0])
