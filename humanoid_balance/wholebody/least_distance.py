"""The smallest move that satisfies linear inequalities: DAQP, a dual active-set method in C, under loop discipline.

    minimise ½ |y|²   subject to   l <= C y <= u,   and C_i y = l_i for the rows that are fixed

D. Arnström, A. Bemporad and D. Axehill, "A Dual Active-Set Solver for Embedded Quadratic Programming Using Recursive
LDL' Updates", IEEE TAC 67, 2022. A cold solve of a humanoid's tick takes tens of microseconds, so nothing is kept from
one tick to the next: the same problem always gets the same answer. It ends at the exact optimum, or with a proof that
there is no feasible point, or gives up after ``MAX_CHANGES``. What it says is checked before it is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import daqp
import numpy as np

from humanoid_balance.types import Array

FEASIBILITY = 1e-9  # largest violation of a constraint that counts as satisfied; rows are scaled to about 1
ROUNDING = 1e-7  # violation that is forgiven in the end: dependent rows disagree by rounding
SINGULAR = 1e-14  # share of a row that must be new, squared, for it to count as independent
MAX_CHANGES = 400  # of the active set in one solve; bounds the time
AT_UPPER, AT_LOWER, EQUATION = 1, 3, 5  # DAQP's words for rows that it starts with
SOLVED, INFEASIBLE = 1, -1  # its verdicts


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


def smallest_move(
    C: Array, l: Array, u: Array, fixed: Sequence[int] = (), like: Result | None = None,  # noqa: E741
) -> Result:  # fmt: skip
    """Solve for y (n,); ``C`` (m, n), ``l`` and ``u`` (m,). Starts from the active rows of a result ``like`` it."""
    sense = np.zeros(len(C), dtype=np.intc)
    if like is not None:
        sense[like.active] = np.where(np.array(like.multipliers) > 0.0, AT_UPPER, AT_LOWER)
    sense[list(fixed)] = EQUATION
    y, _, verdict, info = daqp.solve(
        None, None, C, u, l, sense, primal_tol=FEASIBILITY, sing_tol=SINGULAR, iter_limit=MAX_CHANGES
    )
    changes, multipliers = int(info["iterations"]), info["lam"]
    value = C.dot(y)
    excess = np.maximum(l - value, value - u)
    outcome = Outcome.NOT_CONVERGED
    if verdict == INFEASIBLE:
        outcome = Outcome.INFEASIBLE
    elif verdict == SOLVED and excess.max() <= ROUNDING:  # also False for NaN
        outcome = Outcome.SOLVED
    at_bound = multipliers != 0.0
    at_bound[list(fixed)] = True
    active = at_bound.nonzero()[0]
    pushing = multipliers[active]
    dual = float(np.abs(y + pushing.dot(C[active])).max())
    gap = float(np.abs(pushing).dot(np.abs(excess[active])))
    return Result(outcome, y, active.tolist(), pushing.tolist(), changes, dual, gap)
