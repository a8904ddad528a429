"""The base of all tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.types import Array, BodyReference, Flags
from humanoid_balance.wholebody.terms import Terms


class Task(ABC):
    """A wish about accelerations: minimise |A a - b|² over the generalised acceleration a (nv,).

    A is the task's Jacobian and b its wanted acceleration less the drift, both with the square root of the task's
    weight on them.
    """

    rows: int  # number of rows of A

    @abstractmethod
    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        """Write A (rows, nv) and b (rows,) at the present state into the given views."""


def indices(flags: Flags) -> slice | NDArray[np.intp]:
    """What is set, as a slice where possible: that makes views instead of copies."""
    chosen = np.flatnonzero(flags)
    first, count = int(chosen[0]), len(chosen)
    return slice(first, first + count) if chosen[-1] == first + count - 1 else chosen
