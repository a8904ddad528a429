"""All inequalities of a problem: wrench cones, torque limits, joint limits, as scaled rows l <= value <= u."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody import contact
from humanoid_balance.wholebody.limits import JointLimits, PowerLimits
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

INFINITY = 1e20
SIDES = ("left", "right")


class Constraints:
    """Rows: a wrench cone for every sole that pushes (per weight), torques and joint accelerations (per limit)."""

    def __init__(self, robot: Robot, shape: Shape, limits: JointLimits, power: PowerLimits | None = None) -> None:
        self.robot, self.pushing, self.limits, self.power = robot, shape.pushing, limits, power
        n, p = robot.n, len(shape.pushing)
        self._cones = contact.ROWS * p + bool(p)  # the last one is the sum of all normal forces
        self.first_joint = self._cones + n  # row of the first joint's acceleration
        self.rows = self._cones + 2 * n
        self._torques, self._joints = slice(self._cones, self.first_joint), slice(self.first_joint, None)
        self._per_limit = 1 / np.concatenate([robot.torque_limit, robot.acceleration_limit])
        # Over wrenches, torques and joint accelerations; only the wrench cones change, with the margin.
        self._matrix = np.zeros((self.rows, 6 * p + 2 * n))
        self._matrix[self._cones :, 6 * p :] = np.diag(self._per_limit)
        self._cone = self._matrix[: self._cones, : 6 * p]
        self._parts = slice(0, 6 * p), slice(6 * p, 6 * p + n), slice(6 * p + n, None)
        self._margin = -1.0  # for which the cones were made [m]
        self._loads: list[float] = []  # for which the bounds of the normal forces were set
        bounds = np.outer([-INFINITY, INFINITY], np.ones(self.rows))
        bounds[:, self._torques] = [[-1.0], [1.0]]
        self.lower, self.upper = bounds
        self._torque_bounds, self._joint_bounds = bounds[:, self._torques], bounds[:, self._joints]
        self._value, self._excess, self._worst = np.zeros(self.rows), np.zeros((2, self.rows)), 0
        cones = [f"{SIDES[s]} sole: {name}" for s in self.pushing for name in contact.ROW_NAMES]
        cones += ["both soles: normal force"] * bool(p)
        joints = robot.joint_names
        self.names = (*cones, *(f"torque: {j}" for j in joints), *(f"joint limit: {j}" for j in joints))

    def update(self, terms: Terms, reference: Reference) -> None:
        """Bounds at the present state; the cones change only with the reference's margin."""
        if reference.zmp_margin != self._margin:
            self._update_cones(reference.zmp_margin)
        if self.pushing:
            loads = reference.load_max.tolist()
            if loads != self._loads:
                self._update_loads(loads)
        self.limits.shares(terms.q, terms.v[6:], self._joint_bounds)
        if self.power is not None:
            self.power.shares(terms.v[6:], self._torque_bounds)

    def let_joints_go(self) -> None:
        """Forget the joint limits of this tick; wrench cones and torque limits stay."""
        self._joint_bounds[:] = [[-INFINITY], [INFINITY]]

    def _update_cones(self, margin: float) -> None:
        robot, self._margin = self.robot, margin
        for i, side in enumerate(self.pushing):
            rows = slice(contact.ROWS * i, contact.ROWS * (i + 1))
            cone = contact.wrench_cone(robot.soles[side], robot.config.friction, margin)
            self._cone[rows, 6 * i : 6 * i + 6] = cone / robot.weight
            self._cone[-1, 6 * i + 2] = 1 / robot.weight
            self.upper[rows] = 0.0

    def _update_loads(self, load_max: list[float]) -> None:
        """Normal forces of the soles, one by one and together, as shares of the weight."""
        self._loads, allowed = load_max, 0.0
        for i, side in enumerate(self.pushing):
            load, normal = load_max[side], contact.ROWS * (i + 1) - 1
            self.lower[normal], self.upper[normal] = min(contact.MIN_LOAD, load / 2), load
            allowed += load
        self.lower[self._cones - 1] = min(contact.MIN_TOTAL, allowed / 2)

    def value(self, wrench: Array, torque: Array, qdd: Array) -> Array:
        """The rows at a point; the same memory in every call."""
        value, first, joint = self._value, self._cones, self.first_joint
        if first:
            np.dot(self._cone, wrench, out=value[:first])
        value[first:joint] = torque
        value[joint:] = qdd
        value[first:] *= self._per_limit
        return value

    def violation(self, value: Array) -> float:
        """By how much the worst row is outside its bounds; negative when all are inside."""
        below, above = self._excess
        np.subtract(self.lower, value, out=below)
        np.subtract(value, self.upper, out=above)
        self._worst = int(self._excess.argmax())  # also finds a NaN
        return self._excess.item(self._worst)

    def worst(self) -> tuple[int, bool]:
        """The row that was violated most when ``violation`` was asked last, and whether it is below its lower bound."""
        above, row = divmod(self._worst, self.rows)
        return row, not above

    def picked(self, rows: list[int]) -> tuple[Array, Array, Array]:
        """Some of the rows, over wrenches, over torques and over joint accelerations."""
        matrix = self._matrix[rows]
        wrench, torque, qdd = self._parts
        return matrix[:, wrench], matrix[:, torque], matrix[:, qdd]

    def columns(self, wrench: Array, torque: Array, a: Array) -> Array:
        """The rows for moves of wrenches, torques and generalised accelerations, a column each."""
        first, joint = self._cones, self.first_joint
        C = np.empty((self.rows, a.shape[1]))
        if first:
            np.matmul(self._cone, wrench, out=C[:first])
        C[first:joint] = torque
        C[joint:] = a[6:]
        C[first:] *= self._per_limit[:, None]
        return C
