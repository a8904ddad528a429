"""The equations of one tick, reduced to the freedom that dynamics, contact and the upper levels leave.

With the sole that pushes first eliminated, the generalised acceleration is an affine function of the joint
accelerations, a = T q_dd + t. The rows of the other sole and of all levels but the last, A q_dd = b + e with the
residual e, are split off by the QR factorisation A' = Q R:

    q_dd = E (b + e) + Z z,     E = Q_1 R^-T,     Z = Q_2

So y = (e_1, ..., e_k, z, g) are coordinates of everything the body can still do, g being the wrench of the second
pushing sole. Accelerations, wrenches and torques are affine in y, and so are all constraints: l <= C y + c <= u.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody import contact
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.shape import Shape, Sole
from humanoid_balance.wholebody.tasks.joints import JointTask
from humanoid_balance.wholebody.terms import Terms

CONTACT_DAMPING = 20.0  # of a sole's measured velocity [1/s]; Baumgarte
FORCE_WEIGHT = 1e-2  # of a wrench that uses all the friction and sole there is at full weight [rad²/s⁴]
TORQUE_WEIGHT = 1e-3  # of a joint at its torque limit [rad²/s⁴]
REST_WEIGHT = 1e-4  # of joint accelerations that no task asks for
RANK = 1e-6  # a task row that is less independent than this of those before counts as dependent


class Affine:
    """Values that are affine in y: the last column is the constant part."""

    __slots__ = ("C", "V", "columns", "wrench")

    def __init__(self, nv: int, wrenches: int, rows: int, columns: int) -> None:
        self.columns = columns
        self.V = np.zeros((nv, columns + 1))  # generalised acceleration
        self.wrench = np.zeros((wrenches, columns + 1))
        self.C = np.zeros((rows, columns + 1))  # constraint rows, scaled


class Problem:
    """Assembles the reduced problem of one shape."""

    def __init__(self, robot: Robot, shape: Shape, limits: JointLimits) -> None:
        self.robot, self.shape, self.limits = robot, shape, limits
        n, nv = robot.n, robot.model.nv
        self.pushing = [s for s in range(2) if shape.soles[s] is Sole.PUSHING]
        still = [s for s in range(2) if shape.soles[s] is Sole.STILL]
        self.held = self.pushing + still
        self.levels = shape.tasks(robot)
        self.upper, self.last = self.levels[:-1], self.levels[-1]
        self._rows(nv)
        self.wrenches = 6 * len(self.pushing)
        self.internal = 6 * max(0, len(self.pushing) - 1)  # wrench freedom g
        self.cone_rows = contact.ROWS * len(self.pushing)
        self.rows = self.cone_rows + 2 * n
        self.lower, self.higher = np.full(self.rows, -np.inf), np.full(self.rows, np.inf)
        self.lower[self.cone_rows : -n], self.higher[self.cone_rows : -n] = -1.0, 1.0
        self._cone = np.zeros((self.cone_rows, self.wrenches))
        self._cone_key: tuple[float, ...] = ()
        self._metric = np.zeros((self.wrenches, self.wrenches))
        for i, side in enumerate(self.pushing):
            block = slice(6 * i, 6 * i + 6)
            self._metric[block, block] = contact.wrench_scale(robot.soles[side], robot.config.friction) / robot.weight
        self.names = self._names()
        self._row_scale = np.concatenate([1 / robot.torque_limit, 1 / robot.acceleration_limit])[:, None]
        self._T, self._t = np.zeros((6, n)), np.zeros(6)

    def _rows(self, nv: int) -> None:
        """Lay out the rows that are eliminated: the second held sole, then level by level."""
        start = 6 * max(0, len(self.held) - 1)
        self.level_rows: list[slice] = []
        first = start
        for level in self.upper:
            end = first + sum(task.rows for task in level)
            self.level_rows.append(slice(first, end))
            first = end
        self.hard_rows = start
        self._J, self._b = np.zeros((first, nv)), np.zeros(first)

    def _names(self) -> tuple[str, ...]:
        sides = ("left", "right")
        cones = [f"{sides[s]} sole: {name}" for s in self.pushing for name in contact.ROW_NAMES]
        joints = self.robot.joint_names
        return (*cones, *(f"torque: {j}" for j in joints), *(f"joint limit: {j}" for j in joints))

    # ---- one tick ----

    def update(self, terms: Terms, reference: Reference) -> None:
        """Bounds, eliminated base, stacked rows and their factorisation at the present state."""
        self.terms, self.reference = terms, reference
        self._bounds()
        self._eliminate_base()
        self._stack_rows()
        self._factorise()

    def _bounds(self) -> None:
        robot, reference = self.robot, self.reference
        key = (reference.zmp_margin, *(float(reference.load_max[s]) for s in self.pushing))
        if key != self._cone_key:
            self._cone_key = key
            for i, side in enumerate(self.pushing):
                rows, columns = slice(contact.ROWS * i, contact.ROWS * (i + 1)), slice(6 * i, 6 * i + 6)
                cone = contact.wrench_cone(robot.soles[side], robot.config.friction, reference.zmp_margin)
                self._cone[rows, columns] = cone / robot.weight
                self.higher[rows] = 0.0
                load = float(reference.load_max[side])
                self.lower[rows.stop - 1], self.higher[rows.stop - 1] = min(contact.MIN_LOAD, load / 2), load
        n = robot.n
        low, high = self.limits.bounds(self.terms.q, self.terms.v[6:])
        np.divide(low, robot.acceleration_limit, out=self.lower[-n:])
        np.divide(high, robot.acceleration_limit, out=self.higher[-n:])

    def _eliminate_base(self) -> None:
        """Base acceleration T q_dd + t from the first pushing sole, or from the base's own dynamics in flight.

        The base columns of a sole's Jacobian are a rigid transform, its inverse is that of the opposite direction.
        """
        terms = self.terms
        if not self.held:
            X = np.linalg.solve(terms.M[:6, :6], np.column_stack([terms.M[:6, 6:], terms.h[:6]]))
            np.negative(X[:, :-1], out=self._T)
            np.negative(X[:, -1], out=self._t)
            return
        sole = terms.soles[self.held[0]]
        self._inverse = terms.base_from_sole(self.held[0])
        np.matmul(self._inverse, sole.J[:, 6:], out=self._T)
        np.negative(self._T, out=self._T)
        np.matmul(self._inverse, -(sole.drift + CONTACT_DAMPING * sole.velocity), out=self._t)

    def _stack_rows(self) -> None:
        terms, J, b = self.terms, self._J, self._b
        if self.hard_rows:
            sole = terms.soles[self.held[1]]
            J[:6] = sole.J
            np.multiply(sole.velocity, -CONTACT_DAMPING, out=b[:6])
            b[:6] -= sole.drift
        for level, rows in zip(self.upper, self.level_rows, strict=True):
            first = rows.start
            for task in level:
                end = first + task.rows
                task.fill(terms, self.reference, J[first:end], b[first:end])
                first = end
        self.A = J[:, :6].dot(self._T)
        self.A += J[:, 6:]
        self.b = b - J[:, :6].dot(self._t)

    def _factorise(self) -> None:
        m = len(self.b)
        Q, R = np.linalg.qr(self.A.T, mode="complete")
        self._Q1, self.Z = Q[:, :m], Q[:, m:]
        self._R = R[:m]
        self.start = self._Q1.dot(np.linalg.solve(self._R.T, self.b)) if m else np.zeros(self.robot.n)

    # ---- affine maps ----

    def affine(self, basis: Array, start: Array) -> Affine:
        """Accelerations, wrenches and constraint rows for q_dd = basis z + start."""
        terms, n, k = self.terms, self.robot.n, basis.shape[1]
        out = Affine(n + 6, self.wrenches, self.rows, k + self.internal)
        z, one = slice(0, k), -1
        V = out.V
        V[6:, z], V[6:, one] = basis, start
        np.matmul(self._T, V[6:], out=V[:6])
        V[:6, one] += self._t if self.held else self._t
        force = terms.M.dot(V)
        force[:, one] += terms.h
        W = out.wrench
        if self.pushing:
            X = self._inverse.T
            W[:6] = X.dot(force[:6])
            if self.internal:
                weight = self.robot.weight
                second = terms.soles[self.pushing[1]].J[:, :6]
                W[:6, k:one] = X.dot(second.T) * -weight
                W[6:, k:one] = weight * np.eye(6)
            np.matmul(self._cone, W, out=out.C[: self.cone_rows])
            J = np.concatenate([terms.soles[s].J[:, 6:] for s in self.pushing])
            force[6:] -= J.T.dot(W)
        out.C[self.cone_rows : -n] = force[6:]
        out.C[-n:] = V[6:]
        out.C[self.cone_rows :] *= self._row_scale
        return out

    # ---- costs ----

    def last_cost(self, affine: Affine) -> tuple[Array, Array]:
        """Hessian and gradient of the last level: its tasks, and torque and force regularisation."""
        n = self.robot.n
        rows: list[Array] = [np.sqrt(TORQUE_WEIGHT) * affine.C[self.cone_rows : -n]]
        if self.pushing:
            rows.append(np.sqrt(FORCE_WEIGHT) * self._metric.dot(affine.wrench))
        joint_weight = np.full(n, REST_WEIGHT)
        target = np.zeros(n)
        for task in self.last:
            if isinstance(task, JointTask):
                task.update(self.terms, self.reference)
                joint_weight, target = task.weight, task.target
            else:
                J, b = np.zeros((task.rows, n + 6)), np.zeros(task.rows)
                task.fill(self.terms, self.reference, J, b)
                row = J.dot(affine.V)
                row[:, -1] -= b
                rows.append(row)
        row = np.sqrt(joint_weight)[:, None] * affine.V[6:]
        row[:, -1] -= np.sqrt(joint_weight) * target
        rows.append(row)
        L = np.concatenate(rows)
        K = L.T.dot(L)
        return K[:-1, :-1], K[:-1, -1]
