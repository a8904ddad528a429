"""Strict priorities: a level acts only where the ones above do not care, inequalities hold on every level.

Three ways to the same optimum, from the cheapest on:

1. The closed form, every level met, satisfies all inequalities. It is the optimum: no level could do better.
2. Every upper level can still be met: the smallest move (z, g) of the last level that satisfies the inequalities.
3. Cascade: level by level the residual e is made as small as the inequalities allow and then kept.

The verdict of the last tick says at which level a cascade has to start. Levels above that one are tried as met and, if
this contradicts the inequalities, given up from the lowest on, so the order of trying never changes the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody.constraints import Constraints
from humanoid_balance.wholebody.forces import Forces
from humanoid_balance.wholebody.least_distance import FEASIBILITY, LeastDistance, Outcome, Result
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.motion import Motion
from humanoid_balance.wholebody.proxqp import ProxQP
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

MET = 1e-6  # a level is met when its residual is below this share of what it asks for
TRUST = 1e-4  # cost of a move below the level that is being solved, against its residual; squared in the objective


@dataclass(slots=True)
class Optimum:
    """Where the hierarchy ended; the arrays are meaningless unless ``outcome`` is SOLVED."""

    outcome: Outcome
    met: bool  # the first level's residual is zero
    acceleration: Array  # (nv,)
    wrench: Array  # of the soles that push (6 p,)
    torque: Array  # (n,)
    active: list[int]
    multipliers: list[float]
    violation: float  # of the scaled inequalities
    dual: float  # largest entry of the gradient of the Lagrangian of the last QP
    gap: float  # its sum of multiplier times distance to the bound
    iterations: int


class Hierarchy:
    """Solves one problem shape, tick after tick."""

    def __init__(self, robot: Robot, shape: Shape, limits: JointLimits) -> None:
        self.motion = Motion(robot, shape)
        self.forces = Forces(robot, shape)
        self.constraints = Constraints(robot, shape, limits)
        levels = len(shape.levels)
        self._active_sets = [LeastDistance() for _ in range(levels)]  # the last level has the last one
        self._solvers: dict[int, ProxQP] = {}  # by number of variables
        self._start = levels  # first level that could not be met in the last tick

    def solve(self, terms: Terms, reference: Reference) -> Optimum:
        motion, forces, constraints = self.motion, self.forces, self.constraints
        motion.update(terms, reference)
        forces.update(terms, motion.qdd)
        constraints.update(terms, reference)
        self._value = constraints.value(forces.wrench, forces.torque, motion.qdd)
        violation = max(float((constraints.lower - self._value).max()), float((self._value - constraints.upper).max()))
        if violation <= FEASIBILITY:
            self._start = len(motion.levels)
            self._active_sets[self._start].forget()
            return Optimum(Outcome.SOLVED, self._reachable(), forces.a, forces.wrench, forces.torque, [], [],
                           max(violation, 0.0), 0.0, 0.0, 0)  # fmt: skip
        return self._constrained()

    def _reachable(self) -> bool:
        motion = self.motion
        if not motion.levels or motion.unreachable[0] == 0.0:
            return True
        return bool(motion.unreachable[0] <= MET * (1 + motion.asked.max()))

    # ---- with active inequalities ----

    def _constrained(self) -> Optimum:
        motion, constraints = self.motion, self.constraints
        levels = len(motion.levels)
        lower, upper = constraints.lower - self._value, constraints.upper - self._value
        free = motion.free_moves()
        start = min(self._start, levels)
        if start == levels:
            columns = self.forces.columns(free)
            C = constraints.columns(*columns)
            result = self._smallest(levels, C, lower, upper)
            if result.outcome is Outcome.SOLVED or not levels:
                return self._optimum(result, result.y, levels, columns, C)
            start -= 1
        columns = self.forces.columns(np.hstack([motion.residual_moves(), free]))
        C = constraints.columns(*columns)
        while True:
            result, y, relaxed = self._cascade(start, C, lower, upper)
            if result.outcome is Outcome.SOLVED or start == 0:
                return self._optimum(result, y, relaxed, columns, C)
            start -= 1

    def _cascade(self, start: int, C: Array, lower: Array, upper: Array) -> tuple[Result, Array, int]:
        """Solve the levels from ``start`` on with those before met: result, y = (e, z, g), first level not met."""
        motion = self.motion
        levels, hard = motion.levels, motion.levels[0].start
        lower, upper = lower.copy(), upper.copy()
        y = np.zeros(C.shape[1])
        relaxed, iterations = len(levels), 0
        result = Result(Outcome.SOLVED, y, [], [])
        for k in range(start, len(levels) + 1):
            last = k == len(levels)
            first = levels[k].start - hard if not last else levels[-1].stop - hard
            end = levels[k].stop - hard if not last else C.shape[1]
            if first == end:
                continue
            part = C[:, first:]
            attempt = self._smallest(k, part, lower, upper, None if last else end - first)
            iterations += attempt.iterations
            if attempt.outcome is not Outcome.SOLVED:
                if k > start:  # what was reached above satisfies every constraint: keep it
                    y[first:] = reached[end_before - first_before :]
                    break
                return attempt, y, k
            result = attempt
            y[first:end] = result.y[: end - first]
            if last:
                break
            # The next levels may use this point: whatever violation rounding has left is allowed to stay.
            value = part.dot(result.y)
            np.minimum(lower, value, out=lower)
            np.maximum(upper, value, out=upper)
            settled = C[:, first:end].dot(y[first:end])
            lower -= settled
            upper -= settled
            reached, first_before, end_before = result.y, first, end
            if relaxed > k and np.abs(y[first:end]).max() > MET * (1 + motion.asked[levels[k]].max()):
                relaxed = k
        result.iterations = iterations
        return result, y, relaxed

    def _smallest(self, level: int, C: Array, lower: Array, upper: Array, residuals: int | None = None) -> Result:
        """Smallest move; with ``residuals`` only the first so many columns count, the others are all but free."""
        if residuals is not None:
            rest = C[:, residuals:]
            scale = float(np.linalg.norm(C[:, :residuals]) / np.linalg.norm(rest)) / TRUST
            C = C.copy()
            C[:, residuals:] *= scale
        solver = self._active_sets[level]
        result = solver.solve(C, lower, upper)
        if result.outcome is Outcome.NOT_CONVERGED:
            result = self._proxqp(C.shape[1]).solve(C, lower, upper)
            solver.suggest(result.active, result.multipliers)
        if residuals is not None:
            result.y[residuals:] *= scale
        return result

    def _proxqp(self, n: int) -> ProxQP:
        solver = self._solvers.get(n)
        if solver is None:
            solver = self._solvers[n] = ProxQP(n, self.constraints.rows)
        return solver

    def _optimum(
        self, result: Result, y: Array, relaxed: int, columns: tuple[Array, Array, Array], C: Array
    ) -> Optimum:
        forces, constraints = self.forces, self.constraints
        self._start = relaxed
        wrench, torque, a = (
            point + column.dot(y)
            for point, column in zip((forces.wrench, forces.torque, forces.a), columns, strict=True)
        )
        value = self._value + C.dot(y)
        violation = max(float((constraints.lower - value).max()), float((value - constraints.upper).max()), 0.0)
        met = relaxed > 0 or not self.motion.levels
        return Optimum(
            result.outcome, met and self._reachable(), a, wrench, torque, result.active, result.multipliers,
            violation, result.dual, result.gap, result.iterations,
        )  # fmt: skip
