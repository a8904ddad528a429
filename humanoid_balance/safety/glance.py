"""Many numbers against their limits in a few array operations: the usual tick passes in a few microseconds.

A glance says only whether all is well; who is not sure looks closely. Not a number and infinity are never well.
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
        self._scale = 2.0 / (high - low).ravel()
        self._share = np.zeros(low.size)  # of the way from the middle to the limit
        self._rows = list(self._share.reshape(low.shape))

    def look(self, *rows: Array) -> None:
        """At new numbers, one array (n,) a row."""
        share = np.concatenate(rows, out=self._share)
        np.subtract(share, self._middle, share)
        np.multiply(share, self._scale, share)
        np.absolute(share, share)

    def well(self, row: int) -> bool:
        """All numbers of the row are inside."""
        share = self._rows[row]
        return share.item(share.argmax()) < SURE  # argmax finds a NaN first


def finite(row: Array) -> bool:
    """All numbers are finite; one so large that its square is not counts as infinite."""
    return math.isfinite(row.dot(row))
