"""The support polygon: convex hull of the soles in contact."""

from __future__ import annotations

from operator import sub

import numpy as np

from humanoid_balance.estimation.sole import Sole
from humanoid_balance.geometry import Point, convex_hull
from humanoid_balance.types import Array

Floats = list[float]


class SupportPolygon:
    """The hull of the soles in contact, kept as long as they stand still within ``tolerance`` [m]."""

    def __init__(self, soles: Array, tolerance: float = 5e-4) -> None:
        self._soles = soles  # corners (2, 4, 3) in the sole frames [m]
        self._tolerance = tolerance
        self._reach = float(np.abs(soles[..., :2]).max())
        self._key: Floats = []
        self.vertices: Array = np.zeros((0, 2))  # world x y, counter-clockwise; empty in flight; read only

    def update(self, left: Sole, right: Sole) -> None:
        """Take the soles."""
        key: Floats = []
        for sole in (left, right):
            if sole.contact.contact:
                x, y, _ = sole.position
                row_x, row_y, _ = sole.rows  # of their first column: where the toes point, and the pitch
                key += (x, y, self._reach * row_x[0], self._reach * row_y[0])
            key.append(2.0 * self._tolerance * sole.contact.contact)
        if len(key) == len(self._key) and max(map(abs, map(sub, key, self._key))) < self._tolerance:
            return
        self._key = key
        corners: list[Point] = []
        for side, sole in enumerate((left, right)):
            if sole.contact.contact:
                xy = self._soles[side] @ np.array(sole.rows[:2]).T + sole.position[:2]
                corners += [(x, y) for x, y in xy.tolist()]
        self.vertices = np.array(convex_hull(corners)).reshape(-1, 2)
        self.vertices.flags.writeable = False
