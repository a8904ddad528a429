"""One convex quadratic program of fixed size, solved again and again.

    minimise ½ x' H x + g' x   subject to   l <= C x <= u

Most ticks have the active set of the tick before. So the engine first solves the equality-constrained problem of that
set, a few small linear systems, and checks the optimality conditions; when they hold, this is the exact optimum. Only
otherwise ProxQP runs, warm-started, under an iteration cap; its active set is then refined the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from proxsuite import proxqp

from humanoid_balance.types import Array

FEASIBILITY = 1e-9  # largest violation of a constraint that counts as satisfied; rows are scaled to about 1
ACCURACY = 1e-9  # of ProxQP
MAX_ITERATIONS = 60  # of ProxQP, over all its inner loops
ROUNDS = 4  # changes of the active set that are tried before ProxQP is asked
INFINITY = 1e20


class QPStatus(Enum):
    SOLVED = "solved"
    INFEASIBLE = "infeasible"  # with a certificate
    NOT_CONVERGED = "not converged"


@dataclass(slots=True)
class QPResult:
    """Optimum, multipliers of the rows of C (positive at the upper bound) and how it was found."""

    status: QPStatus
    x: Array
    active: Array  # indices of active rows
    multipliers: Array  # of the active rows
    primal: float  # largest violation of a constraint
    dual: float  # largest entry of the gradient of the Lagrangian
    iterations: int  # of ProxQP; 0 when the active set of the last tick was right


class QP:
    """A solver for one problem size; ``strict`` says that H is positive definite."""

    def __init__(self, n: int, m: int, strict: bool = True) -> None:
        self.n, self.m, self.strict = n, m, strict
        self._solver = proxqp.dense.QP(n, 0, m, False, proxqp.dense.HessianType.Dense,
                                       proxqp.dense.DenseBackend.PrimalDualLDLT)
        settings = self._solver.settings
        settings.eps_abs, settings.eps_rel = ACCURACY, 0.0
        settings.max_iter = MAX_ITERATIONS
        settings.initial_guess = proxqp.InitialGuess.NO_INITIAL_GUESS
        self._warm = False
        self._active = np.zeros(0, dtype=int)
        self._upper = np.zeros(0, dtype=bool)

    def solve(self, H: Array, g: Array, C: Array, l: Array, u: Array) -> QPResult:  # noqa: E741
        if self.strict:
            result = self._guess(H, g, C, l, u)
            if result is not None:
                return result
        return self._proxqp(H, g, C, l, u)

    # ---- active set ----

    def _guess(self, H: Array, g: Array, C: Array, l: Array, u: Array) -> QPResult | None:  # noqa: E741
        active, upper = self._active, self._upper
        for _ in range(ROUNDS):
            k = len(active)
            if k > self.n:
                return None
            if k:
                rows = C[active]
                rhs = np.empty((self.n, k + 1))
                rhs[:, :k] = rows.T
                rhs[:, k] = g
                try:
                    step = np.linalg.solve(H, rhs)
                    bound = np.where(upper, u[active], l[active])
                    multipliers = np.linalg.solve(rows.dot(step[:, :k]), -rows.dot(step[:, k]) - bound)
                except np.linalg.LinAlgError:
                    return None
                x = -step[:, k] - step[:, :k].dot(multipliers)
                wrong = np.where(upper, multipliers < 0, multipliers > 0)
                if wrong.any():
                    active, upper = active[~wrong], upper[~wrong]
                    continue
            else:
                multipliers = np.zeros(0)
                x = np.linalg.solve(H, -g)
            value = C.dot(x)
            excess = np.maximum(l - value, value - u)
            worst = float(excess.max())
            if worst <= FEASIBILITY:
                self._active, self._upper = active, upper
                dual = 0.0
                return QPResult(QPStatus.SOLVED, x, active, multipliers, max(worst, 0.0), dual, 0)
            i = int(excess.argmax())
            if i in active or not np.isfinite(worst):
                return None
            active, upper = np.append(active, i), np.append(upper, value[i] > u[i])
        return None

    # ---- ProxQP ----

    def _proxqp(self, H: Array, g: Array, C: Array, l: Array, u: Array) -> QPResult:  # noqa: E741
        solver = self._solver
        l, u = np.maximum(l, -INFINITY), np.minimum(u, INFINITY)  # noqa: E741
        if self._warm:
            solver.update(H=H, g=g, C=C, l=l, u=u, update_preconditioner=False)
        else:
            solver.init(H, g, None, None, C, l, u)
        solver.solve()
        results = solver.results
        status = results.info.status
        if not self._warm and status == proxqp.PROXQP_SOLVED:
            # A first solve that is asked to start from a previous result crashes, so the switch comes after it.
            solver.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
            self._warm = True
        x, z = results.x.copy(), results.z
        if status == proxqp.PROXQP_SOLVED and np.isfinite(x).all():
            outcome = QPStatus.SOLVED
        elif status == proxqp.PROXQP_PRIMAL_INFEASIBLE:
            outcome = QPStatus.INFEASIBLE
        else:
            outcome = QPStatus.NOT_CONVERGED
        if outcome is not QPStatus.SOLVED:
            self._forget()
        active = np.flatnonzero(np.abs(z) > 1e-7)
        self._active, self._upper = active, z[active] > 0
        value = C.dot(x)
        primal = float(np.maximum(l - value, value - u).max())
        return QPResult(outcome, x, active, z[active].copy(), max(primal, 0.0), float(results.info.dua_res),
                        int(results.info.iter))

    def _forget(self) -> None:
        """After a failure the next solve starts cold: nothing of a diverged iterate is carried over."""
        self._solver.settings.initial_guess = proxqp.InitialGuess.NO_INITIAL_GUESS
        self._warm = False
