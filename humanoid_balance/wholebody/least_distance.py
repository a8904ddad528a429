"""The smallest move that satisfies linear inequalities: DAQP, a dual active-set method in C, under loop discipline.

    minimise ½ |y|²   subject to   l <= C y <= u,   and C_i y = l_i for the rows that are fixed

D. Arnström, A. Bemporad and D. Axehill, "A Dual Active-Set Solver for Embedded Quadratic Programming Using Recursive
LDL' Updates", IEEE TAC 67, 2022. It ends at the exact optimum, or with a proof that there is no feasible point, or
gives up after ``MAX_CHANGES``. What it says is checked before it is believed. Rows that were active in a similar
problem, that of the last tick, save most of the changes; as the optimum is unique, a start changes it only by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import daqp
import numpy as np

from humanoid_balance.types import Array

FEASIBILITY = 1e-9  # largest violation of a constraint that counts as satisfied; rows are scaled to about 1
ROUNDING = 1e-7  # violation that is forgiven in the end: dependent rows disagree by rounding
SINGULAR = 1e-14  # share of a row that must be new, squared, for it to count as independent
NOTHING = 1e-16  # squared length below which a row has no columns at all
MAX_CHANGES = 400  # of the active set in one solve; bounds the time
AT_UPPER, AT_LOWER, EQUATION = 1, 3, 5  # DAQP's words for rows that it starts with
SOLVED, INFEASIBLE = 1, -1  # its verdicts
# Cost of a move of the columns that are free, against the residuals, squared in the objective: a mild one finds the
# active rows in few changes, a hard one takes its effect out.
WARM = (1e-5,) * 5
COLD = (1e-3, 1e-4, *WARM)
SETTLED = 1e-7  # change of the residuals, or pull of that cost, at which this is done
CLEAR = 1e-2  # a residual of this size is there, not only not gone yet
NONE: list[int] = []


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
    active: list[int]  # rows, the fixed ones included
    multipliers: Array  # of all rows (m,), positive where the upper bound acts
    iterations: int = 0
    dual: float = 0.0  # largest entry of the gradient of the Lagrangian
    gap: float = 0.0  # sum of multiplier times distance to its bound


def smallest_move(
    C: Array, l: Array, u: Array, fixed: list[int] = NONE, start: Array | None = None,  # noqa: E741
) -> Result:  # fmt: skip
    """Solve for y (n,); ``C`` (m, n), ``l`` and ``u`` (m,). ``start``: multipliers of a similar problem (m,)."""
    result = _solve(C, l, u, fixed, start)
    if result.outcome is not Outcome.SOLVED and start is not None:  # the verdict is that of a cold start
        result = _solve(C, l, u, fixed, None, result.iterations)
    _measure(result, C, l, u, C.shape[1])
    return result


def smallest_residual(
    C: Array, l: Array, u: Array, residuals: int, fixed: list[int] = NONE, start: Array | None = None,  # noqa: E741
) -> Result:  # fmt: skip
    """The same where only the first ``residuals`` columns count and the others are free."""
    if residuals == C.shape[1]:
        return smallest_move(C, l, u, fixed, start)
    result = _refined(C, l, u, residuals, fixed, start)
    if result.outcome is not Outcome.SOLVED and start is not None:
        result = _refined(C, l, u, residuals, fixed, None, result.iterations)
    _measure(result, C, l, u, residuals)
    return result


def _refined(
    C: Array, l: Array, u: Array, residuals: int, fixed: list[int], start: Array | None, iterations: int = 0,  # noqa: E741
) -> Result:  # fmt: skip
    """Free columns get a small cost, so that there is one optimum; then the problem is solved again with that cost
    counted from there, until it makes no difference any more (proximal point method). With a good start, and a residual
    that is clearly there, once is mostly enough.
    """
    rest, scaled = C[:, residuals:], C.copy()
    ratio = float(np.linalg.norm(C[:, :residuals]) / np.linalg.norm(rest))
    best, centre, scale = None, np.zeros(rest.shape[1]), 0.0
    for trust in COLD if start is None else WARM:
        if scale != ratio / trust:
            scale = ratio / trust
            np.multiply(rest, scale, out=scaled[:, residuals:])
        shift = rest.dot(centre) if best else 0.0
        result = _solve(scaled, l - shift, u - shift, fixed, start, iterations)
        iterations = result.iterations
        if result.outcome is not Outcome.SOLVED:
            best = best or result  # the one before satisfies every constraint
            break
        e, move, start = result.y[:residuals], result.y[residuals:], result.multipliers
        pull = float(np.abs(move).max()) / scale  # of the cost on the free columns; zero at the optimum
        centre += scale * move
        move[:] = centre
        size = float(np.abs(e).max())
        settled = SETTLED * (1 + size)
        changed = float(np.abs(e - best.y[:residuals]).max()) if best else np.inf
        best = result
        if changed <= settled or (pull <= settled and size > CLEAR):
            break
    assert best is not None
    best.iterations = iterations
    return best


def _solve(C: Array, l: Array, u: Array, fixed: list[int], start: Array | None, iterations: int = 0) -> Result:  # noqa: E741
    """One call of DAQP; ``iterations`` were made before."""
    sense = np.zeros(len(C), dtype=np.intc)
    if start is not None:
        sense[start > 0.0], sense[start < 0.0] = AT_UPPER, AT_LOWER
    sense[fixed] = EQUATION
    y, _, verdict, info = daqp.solve(
        None, None, C, u, l, sense,
        primal_tol=FEASIBILITY, sing_tol=SINGULAR, zero_tol=NOTHING, iter_limit=MAX_CHANGES,
    )  # fmt: skip
    value, outcome = C.dot(y), Outcome.NOT_CONVERGED
    if verdict == SOLVED and max((l - value).max(), (value - u).max()) <= ROUNDING:  # also False for NaN
        outcome = Outcome.SOLVED
    elif verdict == INFEASIBLE:
        outcome = Outcome.INFEASIBLE
    multipliers = info["lam"]
    at_bound = multipliers != 0.0
    at_bound[fixed] = True
    return Result(outcome, y, at_bound.nonzero()[0].tolist(), multipliers, iterations + int(info["iterations"]))


def _measure(result: Result, C: Array, l: Array, u: Array, residuals: int) -> None:  # noqa: E741
    """How far the result is from the optimum's conditions; a failure has no multipliers to speak of."""
    if result.outcome is not Outcome.SOLVED:
        return
    y, multipliers = result.y, result.multipliers
    gradient = multipliers.dot(C)
    gradient[:residuals] += y[:residuals]
    distance = C.dot(y) - np.where(multipliers > 0.0, u, l)
    result.dual = float(np.abs(gradient).max())
    result.gap = float(np.abs(multipliers).dot(np.abs(distance)))
