"""The smallest move that satisfies linear inequalities, by a dual active-set method.

    minimise ½ |y|²   subject to   l <= C y <= u

D. Goldfarb and A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs",
Mathematical Programming 27, 1983, with the identity as Hessian. It starts from the active set of the tick before, which
is nearly always right; then the cost is one small factorisation. It ends at the exact optimum, or with a proof that
there is no feasible point, or gives up after ``MAX_CHANGES``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.linalg.lapack import dgeqrf, dormqr, dtrtrs

from humanoid_balance.types import Array

FEASIBILITY = 1e-9  # largest violation of a constraint that counts as satisfied; rows are scaled to about 1
INDEPENDENCE = 1e-14  # squared sine of the angle below which a row counts as dependent on the active ones
MAX_CHANGES = 80  # of the active set in one solve; bounds the time
WORK = 2048  # workspace LAPACK likes for these sizes


class Outcome(Enum):
    """How a quadratic program ended."""

    SOLVED = "solved"
    INFEASIBLE = "infeasible"  # proven
    NOT_CONVERGED = "not converged"


@dataclass(slots=True)
class Result:
    """Optimum and the constraints that shape it."""

    outcome: Outcome
    y: Array
    active: list[int]  # rows
    multipliers: list[float]  # of the active rows, positive where the upper bound acts
    iterations: int = 0
    dual: float = 0.0  # largest entry of the gradient of the Lagrangian
    gap: float = 0.0  # sum of multiplier times distance to its bound


class ActiveSet:
    """Rows that are kept at a bound, with multipliers; sign +1: lower bound, C y >= l, -1: upper bound, -C y >= -u."""

    def __init__(self, rows: list[int], signs: list[float]) -> None:
        self.rows, self.signs = rows, signs
        self.multipliers: list[float] = []

    def factorise(self, C: Array) -> None:
        """QR of the signed rows as columns. Not of their Gram matrix: that would square the condition number."""
        self.normals = C[self.rows]
        self.normals *= np.array(self.signs)[:, None]
        self._qr, self._tau, _, _ = dgeqrf(self.normals.T, lwork=WORK)
        self._R = self._qr[: len(self.rows)]

    def singular(self) -> bool:
        pivots = np.abs(self._R.diagonal())
        return bool(pivots.min() <= 1e-9 * pivots.max())

    def rotate(self, x: Array, transpose: str) -> Array:
        """Q' x or Q x."""
        return np.asarray(dormqr("L", transpose, self._qr, self._tau, x[:, None], WORK)[0][:, 0])

    def solve(self, rhs: Array, transpose: int = 0) -> Array:
        """R^-1 rhs, or R^-T rhs."""
        return np.asarray(dtrtrs(self._R, rhs, trans=transpose)[0])

    def keep(self, chosen: list[bool]) -> None:
        self.rows = [r for r, k in zip(self.rows, chosen, strict=True) if k]
        self.signs = [s for s, k in zip(self.signs, chosen, strict=True) if k]
        self.multipliers = [m for m, k in zip(self.multipliers, chosen, strict=True) if k]


class LeastDistance:
    """Keeps the active set from one solve to the next."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._signs: list[float] = []

    def forget(self) -> None:
        self._rows, self._signs = [], []

    def suggest(self, rows: list[int], multipliers: list[float]) -> None:
        """Start the next solve from this active set, as a Result gives it."""
        self._rows, self._signs = list(rows), [-1.0 if m > 0 else 1.0 for m in multipliers]

    def solve(self, C: Array, l: Array, u: Array) -> Result:  # noqa: E741
        y, active = self._on_active_set(C, l, u, ActiveSet(list(self._rows), list(self._signs)))
        changes, clean = 0, True
        while True:
            value = C.dot(y)
            excess = np.maximum(l - value, value - u)
            p = int(excess.argmax())
            violation = float(excess[p])
            if violation <= FEASIBILITY:
                if not clean:  # steps have piled up rounding errors: once more in one go
                    clean = True
                    y, active = self._on_active_set(C, l, u, active)
                    continue
                self._rows, self._signs = active.rows, active.signs
                return self._result(Outcome.SOLVED, y, active, changes, C, excess)
            sign = 1.0 if value[p] < l[p] else -1.0
            normal, multiplier = sign * C[p], 0.0
            length = float(normal.dot(normal))
            while True:  # make row p active, dropping rows whose multiplier reaches zero on the way
                changes, clean = changes + 1, False
                if changes > MAX_CHANGES or p in active.rows:
                    return self._result(Outcome.NOT_CONVERGED, y, active, changes, C, excess)
                k = len(active.rows)
                if k:
                    active.factorise(C)
                    rotated = active.rotate(normal, "T")
                    response = active.solve(rotated[:k]).tolist()
                    rotated[:k] = 0.0
                    curvature = float(rotated.dot(rotated))
                    direction = active.rotate(rotated, "N")
                else:
                    response, direction, curvature = [], normal, length
                full = violation / curvature if curvature > INDEPENDENCE * length else np.inf
                step, leaving = full, -1
                for i, r in enumerate(response):
                    if r > 1e-12 and active.multipliers[i] / r < step:
                        step, leaving = active.multipliers[i] / r, i
                if step == np.inf:
                    return self._result(Outcome.INFEASIBLE, y, active, changes, C, excess)
                active.multipliers = [m - step * r for m, r in zip(active.multipliers, response, strict=True)]
                multiplier += step
                if full < np.inf:
                    y = y + step * direction
                    violation -= step * curvature
                if leaving < 0:
                    active.rows.append(p)
                    active.signs.append(sign)
                    active.multipliers.append(multiplier)
                    break
                active.keep([i != leaving for i in range(k)])

    @staticmethod
    def _on_active_set(C: Array, l: Array, u: Array, active: ActiveSet) -> tuple[Array, ActiveSet]:  # noqa: E741
        """Optimum with an active set held at its bounds, less the rows whose multiplier has the wrong sign."""
        while active.rows:
            k = len(active.rows)
            if k > C.shape[1]:
                break
            active.factorise(C)
            if active.singular():
                break
            bound = np.where(np.array(active.signs) > 0, l[active.rows], -u[active.rows])
            x = np.zeros(C.shape[1])
            x[:k] = active.solve(bound, 1)
            active.multipliers = active.solve(x[:k]).tolist()
            right = [m >= 0.0 for m in active.multipliers]
            if all(right):
                return active.rotate(x, "N"), active
            active.keep(right)
        return np.zeros(C.shape[1]), ActiveSet([], [])

    @staticmethod
    def _result(outcome: Outcome, y: Array, active: ActiveSet, changes: int, C: Array, excess: Array) -> Result:
        rows = active.rows
        if not rows:
            return Result(outcome, y, [], [], changes)
        multipliers = np.array(active.signs) * active.multipliers
        dual = float(np.abs(y - multipliers.dot(C[rows])).max())
        gap = float(np.abs(multipliers).dot(np.abs(excess[rows])))
        return Result(outcome, y, list(rows), (-multipliers).tolist(), changes, dual, gap)
