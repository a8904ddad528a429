"""ProxQP under the discipline of a control loop: one warm-started object a size, bounded, never trusted blindly.

    minimise ½ |y|²   subject to   l <= C y <= u

The second opinion when the dual active-set method gives up. Its answer counts only if it satisfies the constraints;
that it finds none is no proof that there is none.
"""

from __future__ import annotations

import numpy as np
from proxsuite import proxqp

from humanoid_balance.types import Array
from humanoid_balance.wholebody.least_distance import Outcome, Result

ACCURACY = 1e-9  # of residuals; rows are scaled to about 1
ACCEPTED = 1e-7  # violation up to which a solution may leave this file
MAX_ITERATIONS = 50  # outer ones
MAX_INNER = 20  # in each outer one
INFINITY = 1e20
WARM = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
COLD = proxqp.InitialGuess.NO_INITIAL_GUESS


class ProxQP:
    """A solver for ``n`` variables and ``m`` two-sided constraints."""

    def __init__(self, n: int, m: int) -> None:
        dense = proxqp.dense
        self._H, self._g = np.eye(n), np.zeros(n)
        self._solver = dense.QP(n, 0, m, False, dense.HessianType.Dense, dense.DenseBackend.PrimalDualLDLT)
        settings = self._solver.settings
        settings.eps_abs, settings.eps_rel = ACCURACY, 0.0
        settings.eps_primal_inf = 1e-4
        settings.default_mu_in = 1e-3  # rows are scaled by hand: a stiff start takes half the iterations
        settings.max_iter, settings.max_iter_in = MAX_ITERATIONS, MAX_INNER
        settings.initial_guess = COLD  # a first solve that is told to start from a previous result crashes
        self._ready = False

    def solve(self, C: Array, l: Array, u: Array) -> Result:  # noqa: E741
        solver, settings = self._solver, self._solver.settings
        if self._ready:
            solver.update(C=C, l=l, u=u, update_preconditioner=False)
        else:
            solver.init(self._H, self._g, None, None, C, l, u, compute_preconditioner=False)
            self._ready = True
        solver.solve()
        iterations = int(solver.results.info.iter)
        if solver.results.info.status != proxqp.PROXQP_SOLVED and settings.initial_guess == WARM:
            # A bad start can make a sound problem run away: the verdict is a cold solve's.
            settings.initial_guess = COLD
            solver.solve()
            iterations += solver.results.info.iter
        results = solver.results
        y, z, status = results.x.copy(), results.z, results.info.status
        outcome = Outcome.NOT_CONVERGED
        if status == proxqp.PROXQP_SOLVED:
            value = C.dot(y)
            if max((l - value).max(), (value - u).max()) <= ACCEPTED:  # also False for NaN
                outcome = Outcome.SOLVED
        settings.initial_guess = WARM if outcome is Outcome.SOLVED else COLD
        multipliers = np.where(np.abs(z) > 1e-6, z, 0.0)
        return Result(outcome, y, np.flatnonzero(multipliers).tolist(), multipliers, iterations,
                      float(results.info.dua_res), abs(float(results.info.duality_gap)))  # fmt: skip
