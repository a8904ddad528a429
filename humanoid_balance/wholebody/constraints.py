"""All inequalities of a problem: wrench cones, torque limits, joint limits, as scaled rows l <= value <= u."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody import contact
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

INFINITY = 1e20
SIDES = ("left", "right")


class Constraints:
    """Rows: a wrench cone for every sole that pushes (per weight), torques and joint accelerations (per limit)."""

    def __init__(self, robot: Robot, shape: Shape, limits: JointLimits) -> None:
        self.robot, self.pushing, self.limits = robot, shape.pushing, limits
        n, p = robot.n, len(shape.pushing)
        self._cones = contact.ROWS * p
        self.rows = self._cones + 2 * n
        self._cone = np.zeros((self._cones, 6 * p))
        self._key: tuple[float, ...] = ()
        self._per_torque, self._per_acceleration = 1 / robot.torque_limit, 1 / robot.acceleration_limit
        self.lower, self.upper = np.full(self.rows, -INFINITY), np.full(self.rows, INFINITY)
        self._torques = slice(self._cones, self._cones + n)
        self._joints = slice(self._cones + n, None)
        self.lower[self._torques], self.upper[self._torques] = -1.0, 1.0
        self._value = np.zeros(self.rows)
        cones = [f"{SIDES[s]} sole: {name}" for s in self.pushing for name in contact.ROW_NAMES]
        joints = robot.joint_names
        self.names = (*cones, *(f"torque: {j}" for j in joints), *(f"joint limit: {j}" for j in joints))

    def update(self, terms: Terms, reference: Reference) -> None:
        """Bounds at the present state; the cones change only with the reference's margin and load."""
        key = (reference.zmp_margin, *reference.load_max.tolist())
        if key != self._key:
            self._key = key
            self._update_cones(reference)
        low, high = self.limits.bounds(terms.q, terms.v[6:])
        np.multiply(low, self._per_acceleration, out=self.lower[self._joints])
        np.multiply(high, self._per_acceleration, out=self.upper[self._joints])

    def _update_cones(self, reference: Reference) -> None:
        robot = self.robot
        for i, side in enumerate(self.pushing):
            rows = slice(contact.ROWS * i, contact.ROWS * (i + 1))
            cone = contact.wrench_cone(robot.soles[side], robot.config.friction, reference.zmp_margin)
            self._cone[rows, 6 * i : 6 * i + 6] = cone / robot.weight
            self.upper[rows] = 0.0
            load = float(reference.load_max[side])
            normal = rows.stop - 1
            self.lower[normal], self.upper[normal] = min(contact.MIN_LOAD, load / 2), load

    def value(self, wrench: Array, torque: Array, qdd: Array) -> Array:
        """The rows at a point; the same memory in every call."""
        value = self._value
        if self._cones:
            np.dot(self._cone, wrench, out=value[: self._cones])
        np.multiply(torque, self._per_torque, out=value[self._torques])
        np.multiply(qdd, self._per_acceleration, out=value[self._joints])
        return value

    def columns(self, wrench: Array, torque: Array, a: Array) -> Array:
        """The rows for moves of wrenches, torques and generalised accelerations, a column each."""
        C = np.empty((self.rows, wrench.shape[1]))
        if self._cones:
            np.matmul(self._cone, wrench, out=C[: self._cones])
        np.multiply(torque, self._per_torque[:, None], out=C[self._torques])
        np.multiply(a[6:], self._per_acceleration[:, None], out=C[self._joints])
        return C
