"""A Catmull-Rom spline through key poses: passes through each, at rest at both ends (Torres T1)."""

from __future__ import annotations

import bisect

import numpy as np

from humanoid_balance.types import Array


class Curve:
    """Cubic Hermite pieces; the tangent of a knot is the slope between its neighbours (Catmull, Rom, 1974)."""

    def __init__(self, times: list[float], points: Array) -> None:
        """``times`` (k,) rising [s], ``points`` (k, n)."""
        self.times, self.points = times, points
        self.tangents = np.zeros(points.shape)
        steps = np.array(times)
        if len(times) > 2:
            self.tangents[1:-1] = (points[2:] - points[:-2]) / (steps[2:] - steps[:-2])[:, None]

    @property
    def end(self) -> float:
        return self.times[-1]

    def piece(self, time: float) -> int:
        """Index of the knot at the end of the piece that a time lies in."""
        return min(max(bisect.bisect_right(self.times, time), 1), len(self.times) - 1)

    def at(self, time: float) -> tuple[Array, Array]:
        """Position and velocity; before the first knot and after the last the curve stands still."""
        k = self.piece(time)
        width = self.times[k] - self.times[k - 1]
        s = min(max((time - self.times[k - 1]) / width, 0.0), 1.0)
        p, q, m, n = self.points[k - 1], self.points[k], self.tangents[k - 1], self.tangents[k]
        position = (
            (1 - s) ** 2 * (1 + 2 * s) * p
            + s * s * (3 - 2 * s) * q
            + width * s * (1 - s) ** 2 * m
            - width * s * s * (1 - s) * n
        )
        moving = 0.0 < time < self.end
        velocity = (
            6 * s * (1 - s) / width * (q - p) + (1 - s) * (1 - 3 * s) * m - s * (2 - 3 * s) * n
            if moving
            else np.zeros(p.shape)
        )
        return position, velocity
