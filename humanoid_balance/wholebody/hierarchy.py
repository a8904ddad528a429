"""Strict priorities: a level acts only where the ones above do not care, inequalities hold on every level.

Four ways to the same optimum, from the cheapest on:

1. The closed form, every level met, satisfies all inequalities. It is the optimum: no level could do better.
2. The same with the inequalities that were active in the last tick, or nearly these, as equations.
3. Every upper level can still be met: the smallest move (z, w_2) of the last level that satisfies the inequalities.
4. Cascade: level by level the residual e is made as small as the inequalities allow and then kept.

Where no point satisfies all constraints, this is proven and told. Contact and torque limits are physics, joint limits
are a wish: they are widened by the least squares excess with which the others can hold, and the optimum then is given.
The verdict of the last tick says at which level a cascade has to start. Levels above that one are tried as met and, if
this contradicts the inequalities, given up from the lowest on, so the order of trying never changes the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg.lapack import dgeqp3, dposv

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.constraints import INFINITY, Constraints
from humanoid_balance.wholebody.forces import Forces
from humanoid_balance.wholebody.least_distance import (
    FEASIBILITY,
    NONE,
    ROUNDING,
    Outcome,
    Result,
    smallest_move,
    smallest_residual,
)
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.motion import Motion
from humanoid_balance.wholebody.proxqp import ProxQP
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

MET = 1e-6  # a level is met when its residual is below this share of what it asks for
PUSHED = 1e-5  # a level pushes against constraints with at least this share of its largest multiplier
ROOM = 1e-8  # around the point a level has found, for those below
ROUNDS = 4  # of dropping and adding rows before the solver is asked
FAINT = 1e-5  # active rows of which less than this share is new to each other are left to the solver
INDEPENDENT = 1e-9  # a row of which less than this is new follows from the others
EXCESS_ROOM = 0.1  # joint limits give way by so much more than the least excess: a set without interior has no optimum


@dataclass(slots=True)
class Optimum:
    """Where the hierarchy ended; the arrays are meaningless unless ``outcome`` is SOLVED or ``let_go`` is set."""

    outcome: Outcome
    met: bool  # the first level's residual is zero
    acceleration: Array  # (nv,)
    wrench: Array  # of the soles that push (6 p,)
    torque: Array  # (n,)
    active: list[int]  # constraint rows
    multipliers: list[float]
    violation: float  # of the scaled inequalities
    dual: float = 0.0  # largest entry of the gradient of the Lagrangian of the last QP
    gap: float = 0.0  # its sum of multiplier times distance to the bound
    iterations: int = 0
    let_go: bool = False  # no point satisfies all constraints: joint limits are passed by as little as can be


@dataclass(slots=True)
class LastOptimum:
    """What the last tick found, as a start for the next one."""

    first: int  # level that could not be met
    multipliers: dict[int, Array] = field(default_factory=dict)  # of the constraints, by level


class Hierarchy:
    """Solves one problem shape, tick after tick."""

    def __init__(self, robot: Robot, shape: Shape, limits: JointLimits) -> None:
        self.pushing, self.still = shape.pushing, shape.still  # contacts
        self.motion = Motion(robot, shape)
        self.forces = Forces(robot, shape)
        self.constraints = Constraints(robot, shape, limits)
        levels = len(self.motion.levels)
        self._solvers: dict[int, ProxQP] = {}  # by number of variables
        self._memory, self._let_go_memory = LastOptimum(levels), LastOptimum(levels)
        self._excess_multipliers: Array | None = None
        self._active: list[int] = []  # constraints of the last tick's optimum, if every level was met
        self._low: list[bool] = []  # whether at the lower bound

    def solve(self, terms: Terms, reference: BodyReference) -> Optimum:
        motion, forces, constraints = self.motion, self.forces, self.constraints
        constraints.update(terms, reference)
        motion.update(terms, reference)
        forces.update(terms)
        qdd = motion.closed_form()
        forces.at(qdd)
        self._value = constraints.value(forces.wrench, forces.torque, qdd)
        violation = constraints.violation(self._value)
        if violation != violation:  # something that was asked for is no number
            return replace(self._point([], [], 0.0), outcome=Outcome.NOT_CONVERGED)
        if violation > FEASIBILITY:
            if self._memory.first == len(motion.levels):
                near = self._near_the_last(qdd)
                if near is not None:
                    return near
            optimum = self._constrained(self._memory)
            if optimum.outcome is Outcome.INFEASIBLE and self._widen():
                second = self._constrained(self._let_go_memory)
                if second.outcome is Outcome.SOLVED:
                    return replace(second, outcome=Outcome.INFEASIBLE, let_go=True)
            return optimum
        self._memory, self._active, self._low = LastOptimum(len(motion.levels)), [], []
        return self._point([], [], violation)

    def _near_the_last(self, qdd: Array) -> Optimum | None:
        """The optimum if its active constraints are nearly those of the last tick; None if that is not so.

        The smallest move y from the closed form ``qdd`` with S y = r, S the active rows, is y = -S' m. Rows that pull
        are dropped, the worst one that is violated is added; with multipliers m of the right signs and no violation
        it is the optimum.
        """
        motion, constraints, forces = self.motion, self.constraints, self.forces
        active, low = self._active.copy(), self._low.copy()
        closed, start = (forces.a, forces.wrench, forces.torque), self._value.copy()
        if not active:
            self._add_worst(active, low)
        S = self._rows_of(active)
        for _ in range(ROUNDS):
            missing = np.where(low, constraints.lower[active], constraints.upper[active]) - start[active]
            gram, multipliers, dependent = dposv(S.dot(S.T), -missing)
            new = gram.diagonal().tolist()
            if dependent or min(new) < FAINT * max(new):
                break
            signed = multipliers.tolist()
            kept = [i for i, m in enumerate(signed) if (m < 0) == low[i]]
            if len(kept) < len(signed):
                active, low, S = [active[i] for i in kept], [low[i] for i in kept], S[kept]
                if not active:
                    break
                continue
            y = multipliers.dot(S)
            free = len(y) - forces.internal
            forces.at(qdd - motion.move(y[:free]))
            if forces.internal:
                forces.add_inner(-y[free:])
            violation = constraints.violation(constraints.value(forces.wrench, forces.torque, forces.a[6:]))
            if violation <= ROUNDING:
                self._active, self._low = active, low
                return self._point(active, signed, violation)
            if not self._add_worst(active, low):
                break
            S = np.concatenate([S, self._rows_of(active[-1:])])
        forces.a, forces.wrench, forces.torque = closed
        self._value[:] = start
        return None

    def _add_worst(self, active: list[int], low: list[bool]) -> bool:
        """Add the row that is violated most; False if it is among the active ones already."""
        row, below = self.constraints.worst()
        if row in active:
            return False
        active.append(row)
        low.append(below)
        return True

    def _rows_of(self, active: list[int]) -> Array:
        """Constraint rows over (soft residuals, z, w_2)."""
        rows, inner = self.forces.rows(*self.constraints.picked(active))
        return np.concatenate([self.motion.free_rows(rows), inner], axis=1)

    def _point(self, active: list[int], multipliers: list[float], violation: float) -> Optimum:
        forces = self.forces
        return Optimum(Outcome.SOLVED, self._reachable(), forces.a, forces.wrench, forces.torque, active, multipliers,
                       max(violation, 0.0))  # fmt: skip

    def _reachable(self) -> bool:
        """The first level has no residual that is beyond every acceleration."""
        motion = self.motion
        if motion.levels is motion.every_row:
            return True
        return bool(motion.unreachable[0] <= MET * (1 + np.abs(motion.asked).max()))

    def _widen(self) -> bool:
        """Give the joint limits the least excess that contact and torque limits leave them; False if these have none.

        The smallest s with l <= C y + s <= u, s on the joint rows only. Without it one joint that its motor cannot stop
        in time would set all the others free: legs and arms were thrown at twice their speed.
        """
        motion, constraints, forces = self.motion, self.constraints, self.forces
        parts = forces.columns(motion.residual_moves()), forces.columns(motion.free_moves(), internal=True)
        excess = np.zeros((constraints.rows, constraints.robot.n))
        excess[constraints.first_joint :] = np.eye(constraints.robot.n)
        C = np.concatenate([excess, *(constraints.columns(*part) for part in parts)], axis=1)
        lower, upper = constraints.lower - self._value, constraints.upper - self._value
        n, start = excess.shape[1], self._excess_multipliers
        result = smallest_residual(C, lower, upper, n, start=start)
        solved = result.outcome is Outcome.SOLVED
        self._excess_multipliers = result.multipliers if solved else None
        if solved:
            constraints.widen_joints(result.y[:n], EXCESS_ROOM)
        return solved

    # ---- with active inequalities ----

    def _constrained(self, memory: LastOptimum) -> Optimum:
        motion, constraints, forces = self.motion, self.constraints, self.forces
        levels = len(motion.levels)
        lower, upper = constraints.lower - self._value, constraints.upper - self._value
        columns: Sequence[Array] = forces.columns(motion.free_moves(), internal=True)
        C = constraints.columns(*columns)
        start = min(memory.first, levels)
        if start == levels:
            result = self._smallest(C, lower, upper, memory.multipliers.get(levels))
            if result.outcome is Outcome.NOT_CONVERGED:
                result = self._proxqp(C.shape[1]).solve(C, lower, upper)
            if result.outcome is Outcome.SOLVED or not levels:
                memory.multipliers = {levels: result.multipliers}
                return self._optimum(result, result.y, levels, columns, C)
            start -= 1
        residual = forces.columns(motion.residual_moves())
        C = np.concatenate([constraints.columns(*residual), C], axis=1)
        columns = [np.concatenate(pair, axis=1) for pair in zip(residual, columns, strict=True)]
        while True:
            result, y, relaxed = self._cascade(start, C, lower, upper, memory)
            if result.outcome is Outcome.SOLVED or start == 0:
                memory.first = relaxed
                return self._optimum(result, y, relaxed, columns, C)
            start -= 1

    def _cascade(
        self, start: int, C: Array, lower: Array, upper: Array, memory: LastOptimum
    ) -> tuple[Result, Array, int]:
        """Solve the levels from ``start`` on with those before met: result, y = (e, z, w_2), first level not met."""
        levels, hard, columns = self.motion.levels, self.motion.levels[0].start, C.shape[1]
        lower, upper = lower.copy(), upper.copy()
        y = np.zeros(columns)
        relaxed, iterations = len(levels), 0
        fixed: list[int] = []  # constraints that a level above pushes against: all its optima have them at the bound
        result = Result(Outcome.NOT_CONVERGED, y, [], y)
        before, memory.multipliers = memory.multipliers, {}
        for k in range(start, len(levels) + 1):
            last = k == len(levels)
            first, end = (levels[-1].stop - hard, columns) if last else (levels[k].start - hard, levels[k].stop - hard)
            if first == end:
                continue
            part = C[:, first:]
            if last:
                attempt = self._smallest(part, lower, upper, before.get(k), fixed)
            else:
                attempt = smallest_residual(part, lower, upper, end - first, fixed, before.get(k))
            iterations += attempt.iterations
            if attempt.outcome is not Outcome.SOLVED:
                if k == start:
                    return attempt, y, k
                break  # y, as the level before left it, satisfies every constraint: keep it
            result = attempt
            memory.multipliers[k] = result.multipliers
            y[first:] = result.y
            if last:
                break
            value = part.dot(result.y)
            settled = C[:, first:end].dot(y[first:end])
            # The next levels may use this point, and need some room around it: what rounding leaves must not
            # contradict them.
            np.minimum(lower, value - ROOM, out=lower)
            np.maximum(upper, value + ROOM, out=upper)
            if self._residual(k, y[first:end]) > MET:
                relaxed = min(relaxed, k)
                fixed = self._fix(result, C[:, end:], fixed, lower, upper)
                if len(fixed) == columns - end:  # nothing is left to choose
                    break
            lower[fixed] = upper[fixed] = value[fixed]
            lower -= settled
            upper -= settled
        result.iterations = iterations
        return result, y, relaxed

    @staticmethod
    def _fix(result: Result, rest: Array, fixed: list[int], lower: Array, upper: Array) -> list[int]:
        """Turn the inequalities that a level pushes against into equations for the levels below.

        As inequalities they would leave a feasible set without interior. In the columns of the lower levels they depend
        on each other, so an independent choice is kept and the others, which follow from it, are let go.
        """
        push = np.abs(result.multipliers)
        push[fixed] = 0.0
        rows = fixed + (push > PUSHED * np.abs(result.multipliers).max()).nonzero()[0].tolist()
        if not rest.shape[1] or not rows:
            return rows
        qr, order, _, _, _ = dgeqp3(rest[rows].T)
        count = int((np.abs(qr.diagonal()) > INDEPENDENT * np.abs(rest).max()).sum())
        kept = [rows[i - 1] for i in order[:count]]
        lower[rows], upper[rows] = -INFINITY, INFINITY
        return kept

    def _residual(self, level: int, e: Array) -> float:
        """Size of a level's residual, as a share of what it asks for."""
        motion = self.motion
        return float(np.abs(e).max() / (1 + np.abs(motion.asked[motion.every_row[level]]).max()))

    @staticmethod
    def _smallest(C: Array, lower: Array, upper: Array, start: Array | None = None, fixed: list[int] = NONE) -> Result:
        if not C.shape[1]:  # the levels above have left nothing
            inside = bool((lower <= FEASIBILITY).all() and (upper >= -FEASIBILITY).all())
            return Result(Outcome.SOLVED if inside else Outcome.INFEASIBLE, np.zeros(0), [], np.zeros(len(C)))
        return smallest_move(C, lower, upper, fixed, start)

    def _proxqp(self, n: int) -> ProxQP:
        solver = self._solvers.get(n)
        if solver is None:
            solver = self._solvers[n] = ProxQP(n, self.constraints.rows)
        return solver

    def _optimum(self, result: Result, y: Array, relaxed: int, columns: Sequence[Array], C: Array) -> Optimum:
        forces, constraints, levels = self.forces, self.constraints, len(self.motion.levels)
        multipliers = result.multipliers[result.active].tolist()
        self._active = result.active if relaxed == levels and result.outcome is Outcome.SOLVED else []
        self._low = [m < 0 for m in multipliers] if self._active else []
        wrench, torque, a = (
            point + column.dot(y)
            for point, column in zip((forces.wrench, forces.torque, forces.a), columns, strict=True)
        )
        value = self._value + C.dot(y)
        met = relaxed > 0 or not levels
        return Optimum(
            result.outcome, met and self._reachable(), a, wrench, torque, result.active, multipliers,
            max(constraints.violation(value), 0.0), result.dual, result.gap, result.iterations,
        )  # fmt: skip
