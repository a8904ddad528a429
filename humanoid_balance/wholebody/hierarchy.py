"""Strict priorities: a level acts only where the ones above do not care, inequalities hold on every level.

Fast path: set all residuals e of the upper levels to zero and solve the last level. If that is feasible it is the
optimum, for no level can do better than zero. Otherwise the cascade: level by level the residual is made as small as
the inequalities allow and then kept. Both give the same optimum; the verdict of the last tick says which to try first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_balance.types import Array
from humanoid_balance.wholebody.problem import Affine, Problem
from humanoid_balance.wholebody.qp import QP, QPResult, QPStatus

MET = 1e-6  # a level whose weighted residual is below this share of what was asked is met


@dataclass(slots=True)
class Optimum:
    """Where the hierarchy ended."""

    status: QPStatus
    met: bool  # the first level's residual is zero
    affine: Affine
    y: Array
    result: QPResult


class Hierarchy:
    """Solves the levels of one problem shape."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._cascading = False
        self._solvers: dict[tuple[int, bool], QP] = {}

    def _solver(self, columns: int, last: bool) -> QP:
        key = columns, last
        if key not in self._solvers:
            self._solvers[key] = QP(columns, self.problem.rows, strict=last)
        return self._solvers[key]

    def solve(self) -> Optimum:
        if not self._cascading:
            optimum = self._all_met()
            if optimum.status is QPStatus.SOLVED:
                return optimum
        optimum = self._cascade()
        return optimum

    def _all_met(self) -> Optimum:
        problem = self.problem
        affine = problem.affine(problem.Z, problem.start)
        H, g = problem.last_cost(affine)
        result = self._solve(affine, H, g, slice(0, affine.columns), affine.C[:, -1], True)
        return Optimum(result.status, True, affine, result.x, result)

    def _cascade(self) -> Optimum:
        problem = self.problem
        hard, m = problem.hard_rows, len(problem.b)
        E = np.linalg.solve(problem._R, problem._Q1.T).T[:, hard:]
        affine = problem.affine(np.hstack([E, problem.Z]), problem.start)
        y = np.zeros(affine.columns)
        lower, higher = problem.lower.copy(), problem.higher.copy()
        met, all_met = True, True
        constant = affine.C[:, -1].copy()
        for k, rows in enumerate(problem.level_rows):
            first, end = rows.start - hard, rows.stop - hard
            columns = slice(first, affine.columns)
            size = affine.columns - first
            H = np.zeros((size, size))
            H[range(end - first), range(end - first)] = 1.0
            result = self._solve(affine, H, np.zeros(size), columns, constant, False, lower, higher)
            if result.status is not QPStatus.SOLVED:
                self._cascading = False
                return Optimum(result.status, False, affine, y, result)
            e = result.x[: end - first]
            y[first:end] = e
            small = bool(np.abs(e).max() <= MET * (1 + np.abs(problem.b[rows]).max()))
            all_met = all_met and small
            if k == 0:
                met = small
            value = affine.C[:, first:-1].dot(result.x) + constant
            np.minimum(lower, value, out=lower)
            np.maximum(higher, value, out=higher)
            constant = constant + affine.C[:, first:end].dot(e)
        self._cascading = not all_met
        first = m - hard
        H, g = problem.last_cost(affine)
        g = g[first:] + H[first:, :first].dot(y[:first])
        result = self._solve(affine, H[first:, first:], g, slice(first, affine.columns), constant, True, lower, higher)
        y[first:] = result.x
        return Optimum(result.status, met, affine, y, result)

    def _solve(self, affine: Affine, H: Array, g: Array, columns: slice, constant: Array, last: bool,
               lower: Array | None = None, higher: Array | None = None) -> QPResult:
        problem = self.problem
        lower = problem.lower if lower is None else lower
        higher = problem.higher if higher is None else higher
        solver = self._solver(columns.stop - columns.start, last)
        return solver.solve(H, g, affine.C[:, columns], lower - constant, higher - constant)
