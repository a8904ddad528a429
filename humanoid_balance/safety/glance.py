"""Many numbers against their limits in a few array operations: the usual tick passes in a few microseconds.

A glance says only whether all is well; who is not sure looks closely. Not a number and infinity are never well, and no
number is so large that the arithmetic here overflows.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.types import Array

SURE = 1.0 - 1e-9  # rounding here must not pass what an exact comparison would not


class Glance:
    """Rows of numbers, each number with its own limits."""

    def __init__(self, low: Array, high: Array) -> None:
        """``low`` < ``high`` (rows, n), both finite."""
        self._middle = (low + high).ravel() / 2
        self._reach = SURE * (high - low).ravel() / 2
        self._off = np.zeros(low.size)  # distance from the middle
        self._inside = np.zeros(low.size, dtype=bool)
        self._rows = list(self._inside.reshape(low.shape))
        self._before = [self._inside[: k * low.shape[1]] for k in range(low.shape[0] + 1)]

    def look(self, *rows: Array) -> None:
        """At new numbers, one array (n,) per row."""
        off = np.concatenate(rows, out=self._off)
        np.subtract(off, self._middle, off)
        np.absolute(off, off)
        np.less(off, self._reach, self._inside)

    def well_before(self, row: int) -> bool:
        """All numbers of the rows before this one are inside."""
        inside = self._before[row]
        return inside.item(inside.argmin())

    def well(self, row: int) -> bool:
        """All numbers of the row are inside."""
        inside = self._rows[row]
        return inside.item(inside.argmin())


def finite(row: Array) -> bool:
    """All numbers are finite; one so large that its square is not counts as infinite."""
    return math.isfinite(row.dot(row))
