"""The smallest move that satisfies linear inequalities, by a dual active-set method.

    minimise ½ |y|²   subject to   l <= C y <= u,   and C_i y = l_i for the rows that are fixed

D. Goldfarb and A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs",
Mathematical Programming 27, 1983, with the identity as Hessian. It starts from the active set of the tick before, which
is nearly always right; then the cost is one small factorisation. It ends at the exact optimum, or with a proof that
there is no feasible point, or gives up after ``MAX_CHANGES``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from humanoid_balance.types import Array
from humanoid_balance.wholebody.active_set import ActiveSet

FEASIBILITY = 1e-9  # largest violation of a constraint that counts as satisfied; rows are scaled to about 1
ROUNDING = 1e-7  # violation that is forgiven when no move can remove it: dependent rows disagree by rounding
WRONG_SIGN = 1e-6  # of a multiplier, that is taken for zero
LONGEST = 1e5  # a longer move would only mean that the row depends on the active ones; y is scaled to about 1
REFRESH = 20  # changes after which everything is computed from scratch again
MAX_CHANGES = 150  # of the active set in one solve; bounds the time


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


class LeastDistance:
    """Keeps the active set from one solve to the next."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._signs: list[float] = []
        self.cold = True  # nothing to start from but a suggestion

    def suggest(self, rows: Sequence[int], multipliers: Sequence[float]) -> None:
        """Start the next solve from this active set, as a Result gives it."""
        self._rows, self._signs = list(rows), [-1.0 if m > 0 else 1.0 for m in multipliers]
        self.cold = True

    def solve(self, C: Array, l: Array, u: Array, fixed: Sequence[int] = ()) -> Result:  # noqa: E741
        active, y = self._warm_start(C, l, u, list(fixed))
        if y is None:
            return Result(Outcome.NOT_CONVERGED, np.zeros(C.shape[1]), [], [])
        changes, since = 0, 0  # all, and those since y was last computed from scratch
        while True:
            value = C.dot(y)
            excess = np.maximum(l - value, value - u)
            violation = float(np.maximum.reduce(excess))
            p = -1
            if violation > FEASIBILITY and since < REFRESH:
                if not active.ready:
                    active.make_operators(C)
                p = active.steepest(excess, FEASIBILITY)
            steps = 0
            if p >= 0:
                before = y
                y, steps = self._add(C, active, y, p, 1.0 if value[p] < l[p] else -1.0, float(excess[p]))
                changes += abs(steps)
                if changes > MAX_CHANGES:
                    return self._result(Outcome.NOT_CONVERGED, y, active, changes, C, excess)
                if steps > 0:
                    since += steps
                    continue
                y = before
            if since:  # nothing more to do, or no way to do it, or it is time: take the rounding of the updates out
                since = 0
                fresh = active.with_right_signs(C, l, u)
                if fresh is None:
                    return self._result(Outcome.NOT_CONVERGED, y, active, changes, C, excess)
                y = fresh
                continue
            if steps < 0 and excess[p] > ROUNDING:
                return self._result(Outcome.INFEASIBLE, y, active, changes, C, excess)
            return self._end(violation, y, active, changes, C, excess)

    @staticmethod
    def _add(C: Array, active: ActiveSet, y: Array, p: int, sign: float, violation: float) -> tuple[Array, int]:
        """Make row p active, dropping rows whose multiplier reaches zero on the way.

        Returns the new y and the number of changes; negative if no y satisfies row p and the active ones.
        """
        normal, multiplier, steps = sign * C[p], 0.0, 0
        while True:
            steps += 1
            response, direction = active.D.dot(normal), active.P.dot(normal)
            curvature = float(direction.dot(normal))
            full = np.inf
            if violation**2 <= LONGEST**2 * curvature and len(active.rows) < len(normal):
                full = violation / curvature
            step, leaving, multipliers, slopes = full, -1, active.multipliers, response.tolist()
            for i in range(active.fixed, len(slopes)):
                if slopes[i] > 1e-12 and multipliers[i] < step * slopes[i]:
                    step, leaving = multipliers[i] / slopes[i], i
            if step == np.inf:
                if active.fresh:
                    return y, -steps
                active.make_operators(C)
                continue
            active.multipliers = [m - step * r for m, r in zip(multipliers, slopes, strict=True)]
            multiplier += step
            if full < np.inf:
                y = y + step * direction
                violation -= step * curvature
            if leaving < 0:
                active.append(C, p, sign, multiplier, response, direction)
                return y, steps
            active.remove(C, leaving)

    def _warm_start(self, C: Array, l: Array, u: Array, fixed: list[int]) -> tuple[ActiveSet, Array | None]:  # noqa: E741
        count, ones = len(fixed), [1.0] * len(fixed)
        others = [(r, s) for r, s in zip(self._rows, self._signs, strict=True) if r not in fixed]
        active = ActiveSet(fixed + [r for r, _ in others], ones + [s for _, s in others], count)
        y = active.with_right_signs(C, l, u)
        if y is None and others:
            active = ActiveSet(list(fixed), ones, count)
            y = active.with_right_signs(C, l, u)
        return active, y

    def _end(self, violation: float, y: Array, active: ActiveSet, changes: int, C: Array, excess: Array) -> Result:
        self._rows, self._signs = active.rows[active.fixed :], active.signs[active.fixed :]
        self.cold = False
        solved = violation <= ROUNDING and min(active.multipliers[active.fixed :], default=0.0) > -WRONG_SIGN
        return self._result(Outcome.SOLVED if solved else Outcome.NOT_CONVERGED, y, active, changes, C, excess)

    @staticmethod
    def _result(outcome: Outcome, y: Array, active: ActiveSet, changes: int, C: Array, excess: Array) -> Result:
        rows = active.rows
        if not rows:
            return Result(outcome, y, [], [], changes)
        multipliers = np.array(active.signs) * active.multipliers
        dual = float(np.abs(y - multipliers.dot(C[rows])).max())
        gap = float(np.abs(multipliers).dot(np.abs(excess[rows])))
        return Result(outcome, y, list(rows), (-multipliers).tolist(), changes, dual, gap)
