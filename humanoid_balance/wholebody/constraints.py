"""All inequalities of a problem: wrench cones, torque limits, joint limits, as scaled rows l <= value <= u."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import MIN_LOAD, Array, BodyReference, PlannedContact
from humanoid_balance.wholebody import contact, rolling, touch
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

INFINITY = 1e20
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Block:
    """The cone of one contact that pushes."""

    index: int  # among the contacts of a tick, see ``Shape.pushing``
    name: str
    row_names: tuple[str, ...]
    rows: slice  # of the constraints
    columns: slice  # of the stacked wrenches


def _blocks(shape: Shape) -> list[Block]:
    blocks, row, column = [], 0, 0
    for index in shape.pushing:
        size = shape.rows(index)
        names = contact.ROW_NAMES if size == touch.FLAT_ROWS else contact.POINT_ROW_NAMES
        name = f"{SIDES[index]} sole" if index < 2 else shape.touches[index - 2].name
        blocks.append(Block(index, name, names, slice(row, row + len(names)), slice(column, column + size)))
        row, column = row + len(names), column + size
    return blocks


class Constraints:
    """Rows: a wrench cone for every contact that pushes (per weight), torques and joint accelerations (per limit)."""

    def __init__(self, robot: Robot, shape: Shape, limits: JointLimits) -> None:
        self.robot, self.pushing, self.limits = robot, shape.pushing, limits
        n = robot.n
        self._blocks = _blocks(shape)
        size = self._blocks[-1].columns.stop if self._blocks else 0
        self._cones = self._blocks[-1].rows.stop + 1 if self._blocks else 0  # the last one: the sum of normal forces
        self.first_joint = self._cones + n  # row of the first joint's acceleration
        self.rows = self._cones + 2 * n
        self._torques, self._joints = slice(self._cones, self.first_joint), slice(self.first_joint, None)
        self._per_limit = 1 / np.concatenate([robot.torque_limit, robot.acceleration_limit])
        self._per_torque, self._varying = self._per_limit[:n], not robot.actuation.constant
        # Over wrenches, torques and joint accelerations; only the wrench cones change, with the margin.
        self._matrix = np.zeros((self.rows, size + 2 * n))
        self._matrix[self._cones :, size:] = np.diag(self._per_limit)
        self._cone = self._matrix[: self._cones, :size]
        self._parts = slice(0, size), slice(size, size + n), slice(size + n, None)
        self._margin = -1.0  # for which the cones were made [m]
        self._touches: tuple[PlannedContact, ...] = ()  # for which they were
        self._rolling = False, False  # soles that were on their edge then
        self._loads: list[float] = []  # for which the bounds of the normal forces were set
        bounds = np.outer([-INFINITY, INFINITY], np.ones(self.rows))
        bounds[:, self._torques] = [[-1.0], [1.0]]
        self.lower, self.upper = bounds
        self._torque_bounds, self._joint_bounds = bounds[:, self._torques], bounds[:, self._joints]
        self._value, self._excess, self._worst = np.zeros(self.rows), np.zeros((2, self.rows)), 0
        self._of_cones, self._of_torques = self._value[: self._cones], self._value[self._torques]
        self._of_joints, self._of_limits = self._value[self._joints], self._value[self._cones :]
        self._below, self._above = self._excess
        cones = [f"{block.name}: {row}" for block in self._blocks for row in block.row_names]
        cones += ["all contacts: normal force"] * bool(self._blocks)
        joints = robot.joint_names
        self.names = (*cones, *(f"torque: {j}" for j in joints), *(f"joint limit: {j}" for j in joints))

    def update(self, terms: Terms, reference: BodyReference) -> None:
        """Bounds at the present state; the cones change only with the reference's margin."""
        left, right = reference.heels
        edges = left is not None, right is not None
        if reference.zmp_margin != self._margin or reference.touches is not self._touches or edges != self._rolling:
            self._rolling = edges
            self._update_cones(reference)
        if self.pushing:
            loads = reference.load_max.tolist()
            if loads != self._loads:
                self._update_loads(loads)
        self.limits.shares(terms.q, terms.v[6:], self._joint_bounds)
        if self._varying:
            self._torque_bounds[:] = self.robot.actuation.bounds(terms.q, terms.v[6:])
            self._torque_bounds *= self._per_torque

    def widen_joints(self, excess: Array, room: float) -> None:
        """Let joints pass their limits in this tick by an excess, positive below the lower one (n,), and some room."""
        self._joint_bounds[0] -= np.maximum(excess, 0.0) + room
        self._joint_bounds[1] += np.maximum(-excess, 0.0) + room

    def _update_cones(self, reference: BodyReference) -> None:
        robot, margin = self.robot, reference.zmp_margin
        self._margin, self._touches, self._loads = margin, reference.touches, []
        for block in self._blocks:
            if block.index < 2:
                sole, up = robot.contacts[block.index], 1.0
                corners = rolling.edge_corners(sole.corners) if self._rolling[block.index] else sole.corners
                cone = contact.wrench_cone(corners, sole.friction, margin)
            else:
                planned = reference.touches[block.index - 2]
                cone, up = touch.cone(touch.surface_of(robot, planned.name), planned, margin), float(planned.normal[2])
            self._cone[block.rows, block.columns] = cone / robot.weight
            self._cone[-1, block.columns.start + 2] = up / robot.weight
            self.upper[block.rows] = 0.0

    def _update_loads(self, load_max: list[float]) -> None:
        """Normal forces of the contacts, one by one and together, as shares of the weight."""
        self._loads, allowed = load_max, 0.0
        for block in self._blocks:
            normal = block.rows.stop - 1
            if block.index < 2:
                load = load_max[block.index]
                self.lower[normal], self.upper[normal] = min(MIN_LOAD, load / 2), load
            else:
                planned = self._touches[block.index - 2]
                self.lower[normal], self.upper[normal] = planned.load
                load = planned.load[1] * max(float(planned.normal[2]), 0.0)
            allowed += load
        self.lower[self._cones - 1] = min(contact.MIN_TOTAL, allowed / 2)

    def value(self, wrench: Array, torque: Array, qdd: Array) -> Array:
        """The rows at a point; the same memory in every call."""
        if self._cones:
            np.dot(self._cone, wrench, out=self._of_cones)
        self._of_torques[:] = torque
        self._of_joints[:] = qdd
        np.multiply(self._of_limits, self._per_limit, out=self._of_limits)
        return self._value

    def violation(self, value: Array) -> float:
        """By how much the worst row is outside its bounds; negative when all are inside."""
        np.subtract(self.lower, value, out=self._below)
        np.subtract(value, self.upper, out=self._above)
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
