"""The rows of a least-distance problem that are kept at a bound, and the linear algebra on them."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dormqr, dtrtrs

from humanoid_balance.types import Array

SINGULAR = 1e-9  # share of a row that must be new for the rows to count as independent
DEPENDENT = 1e-12  # squared share of a row below which what is left of it is rounding
WORK = 256  # workspace of LAPACK, enough for 256 rows or columns


class ActiveSet:
    """Rows at a bound, with multipliers; sign +1: lower bound, C y >= l, sign -1: upper bound, -C y >= -u.

    The first ``fixed`` rows are equations: they never leave and their multipliers may have any sign.

    For changes of the set there are the operators of Goldfarb and Idnani, with the signed rows as columns of A: D = A⁺
    (k, n) and the projector P = I - A A⁺ (n, n). They are made from a QR factorisation and then follow a change by a
    rank-one update, which is several times faster and a little less exact; ``optimum`` always factorises anew.
    """

    def __init__(self, rows: list[int], signs: list[float], fixed: int) -> None:
        self.rows, self.signs, self.fixed = rows, signs, fixed
        self.multipliers: list[float] = [0.0] * len(rows)
        self.ready = False  # D and P belong to these rows
        self.fresh = False  # and are straight from a factorisation

    def optimum(self, C: Array, l: Array, u: Array) -> Array | None:  # noqa: E741
        """Smallest y with all rows at their bounds; sets the multipliers.

        Rows that depend on those before them are dropped: they are at their bounds with the others, or will be found
        violated. None if equations depend on each other.
        """
        size = C.shape[1]
        self.ready = False
        while self.rows:
            dependent = self._factorise(C)
            if not dependent:
                break
            if min(dependent) < self.fixed:
                return None
            self._keep([i for i in range(len(self.rows)) if i not in dependent])
        else:
            self.multipliers = []
            return np.zeros(size)
        k = len(self.rows)
        x = np.zeros((size, 1), order="F")
        sign = np.array(self.signs)
        bound = np.where(sign > 0, l[self.rows], u[self.rows])
        bound *= sign
        x[:k, 0] = dtrtrs(self._R, bound, trans=1)[0]
        self.multipliers = dtrtrs(self._R, x[:k, 0])[0].tolist()
        return np.asarray(dormqr("L", "N", self._qr, self._tau, x, WORK, overwrite_c=1)[0][:, 0])

    def with_right_signs(self, C: Array, l: Array, u: Array) -> Array | None:  # noqa: E741
        """Optimum on these rows less those, in turn, whose multiplier has the wrong sign; None as in ``optimum``."""
        while True:
            y = self.optimum(C, l, u)
            if y is None:
                return None
            right = [i for i, m in enumerate(self.multipliers) if m >= 0.0 or i < self.fixed]
            if len(right) == len(self.rows):
                return y
            self._keep(right)

    def _keep(self, chosen: list[int]) -> None:
        self.rows, self.signs = [self.rows[i] for i in chosen], [self.signs[i] for i in chosen]

    def _factorise(self, C: Array) -> list[int]:
        """QR of the signed rows as columns; positions of rows that depend on those before them.

        Not of their Gram matrix: that would square the condition number.
        """
        k, size = len(self.rows), C.shape[1]
        if k > size:
            return list(range(size, k))
        normals = C[self.rows]
        normals *= np.array(self.signs)[:, None]
        self._qr, self._tau, _, _ = dgeqrf(normals.T, lwork=WORK, overwrite_a=1)
        self._R = self._qr[:k]
        pivots = np.abs(self._R.diagonal()).tolist()
        least = SINGULAR * max(pivots)
        return [i for i, pivot in enumerate(pivots) if not pivot > least]

    # ---- changes ----

    def make_operators(self, C: Array) -> None:
        """D and P from scratch, and the squared length of every row of C that the active ones leave."""
        size, k = C.shape[1], len(self.rows)
        self._D, self.P = np.zeros((size + 1, size)), np.eye(size)
        if k:
            self._factorise(C)
            Q = dorgqr(self._qr, self._tau, lwork=WORK)[0]
            self._D[:k] = dtrtrs(self._R, Q.T)[0]
            self.P -= Q.dot(Q.T)
        self.D = self._D[:k]
        self._lengths = np.einsum("ij,ij->i", C, C)
        self._floor = DEPENDENT * self._lengths
        if k:
            along = C.dot(Q)
            self._lengths -= np.einsum("ij,ij->i", along, along)
        self.fresh = self.ready = True

    def steepest(self, excess: Array, tolerance: float) -> int:
        """The violated row whose bound is farthest away, given that the active ones stay at theirs.

        Making this row active raises the dual objective most. It takes a third of the changes that the row with the
        largest violation would. Active rows are at their bounds but for rounding and do not count; -1 if no other is
        violated.
        """
        far = np.maximum(excess, 0.0)
        far[self.rows] = 0.0
        if far.max() <= tolerance:
            return -1
        far *= far
        far /= np.maximum(self._lengths, self._floor)
        return int(far.argmax())

    def append(self, C: Array, row: int, sign: float, multiplier: float, response: Array, direction: Array) -> None:
        """A row comes in; ``response`` = D n and ``direction`` = P n of its signed normal n."""
        k = len(self.rows)
        size = direction.dot(direction)
        unit = direction / size
        self.D -= response[:, None] * unit
        self.P -= direction[:, None] * unit
        along = C.dot(unit)
        along *= along
        self._lengths -= size * along
        self._D[k] = unit
        self.rows.append(row)
        self.signs.append(sign)
        self.multipliers.append(multiplier)
        self.D = self._D[: k + 1]
        self.fresh = False

    def remove(self, C: Array, i: int) -> None:
        """The row at position i leaves."""
        leaving = self.D[i].copy()
        size = leaving.dot(leaving)
        unit = leaving / size
        self.P += leaving[:, None] * unit
        self.D -= self.D.dot(leaving)[:, None] * unit
        self.D[i:-1] = self.D[i + 1 :]
        along = C.dot(unit)
        along *= along
        self._lengths += size * along
        del self.rows[i], self.signs[i], self.multipliers[i]
        self.D = self._D[: len(self.rows)]
        self.fresh = False
