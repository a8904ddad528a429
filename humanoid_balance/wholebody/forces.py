"""From accelerations to sole wrenches and joint torques, M a + h = S' tau + sum of J' w.

The six base rows have to be matched by the wrenches of the soles that push: w_1 = X (M a + h - J_2' w_2)_base with
X = J_1,base^-T. With two soles the second wrench g = w_2 / weight is free. It is drawn to the value with the least

    FORCE |wrenches, each component relative to what the sole can do|² + TORQUE |torques relative to their limits|²

at the closed-form accelerations.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv, dtrtri

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array
from humanoid_balance.wholebody import contact
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

FORCE = 1e-1  # [rad²/s⁴], as the last level's joint accelerations
TORQUE = 1e-2  # [rad²/s⁴]


class Forces:
    """The dynamics of one problem shape."""

    def __init__(self, robot: Robot, shape: Shape) -> None:
        self.robot, self.pushing = robot, shape.pushing
        n, p = robot.n, len(shape.pushing)
        self.internal = 6 if p == 2 else 0  # size of g
        self._J = np.zeros((6 * p, n + 6))
        self._scale = np.zeros((6 * p, 6 * p))
        for i, side in enumerate(self.pushing):
            block = slice(6 * i, 6 * i + 6)
            scale = contact.wrench_scale(robot.soles[side], robot.config.friction) / robot.weight
            self._scale[block, block] = np.sqrt(FORCE) * scale
        self._torque_scale = (np.sqrt(TORQUE) / robot.torque_limit)[:, None]
        self._inner = np.zeros((12, 6))  # both wrenches for a unit of g
        self._inner[6:] = robot.weight * np.eye(6)
        self._cost = np.zeros((12 + n, 7), order="F")
        self.a = np.zeros(n + 6)
        self.wrench, self.torque = np.zeros(6 * p), np.zeros(n)

    def update(self, terms: Terms, qdd: Array) -> None:
        """Generalised acceleration, wrenches and torques of the closed-form accelerations."""
        self._terms = terms
        a = np.empty(len(qdd) + 6)
        a[6:] = qdd
        np.dot(terms.T, qdd, out=a[:6])
        a[:6] += terms.t
        force = terms.M.dot(a)
        force += terms.h
        self.a = a
        if not self.pushing:
            self.torque = force[6:]
            return
        J = self._J
        J[:6] = terms.soles[self.pushing[0]].J
        self._X = terms.base_from_sole(self.pushing[0]).T
        first = self._X.dot(force[:6])
        if not self.internal:
            self.wrench = first
            self.torque = force[6:] - first.dot(J[:, 6:])
            return
        J[6:] = terms.soles[self.pushing[1]].J
        self._share(first, force[6:])

    def _share(self, first: Array, torque: Array) -> None:
        """Divide the load between two soles: 6 unknowns, least squares over wrenches and torques."""
        J, inner, cost = self._J, self._inner, self._cost
        np.dot(self._X, J[6:, :6].T, out=inner[:6])
        inner[:6] *= -self.robot.weight
        torque_inner = J[:, 6:].T.dot(inner)
        torque = torque - first.dot(J[:6, 6:])
        cost[:12, :6] = self._scale.dot(inner)
        cost[:12, 6] = self._scale[:, :6].dot(first)
        np.multiply(torque_inner, -self._torque_scale, out=cost[12:, :6])
        np.multiply(torque, self._torque_scale[:, 0], out=cost[12:, 6])
        normal = cost.T.dot(cost)
        self._chol, g, _ = dposv(normal[:6, :6], normal[:6, 6])
        wrench = -inner.dot(g)
        wrench[:6] += first
        self.wrench = wrench
        self.torque = torque + torque_inner.dot(g)

    def columns(self, moves: Array) -> tuple[Array, Array, Array]:
        """Wrenches, torques and accelerations (nv) for joint-acceleration moves, then for g in unit metric."""
        terms, n, k = self._terms, self.robot.n, moves.shape[1]
        a = np.zeros((n + 6, k + self.internal))
        a[6:, :k] = moves
        np.matmul(terms.T, moves, out=a[:6, :k])
        force = terms.M.dot(a)
        wrench = np.zeros((len(self._J), k + self.internal))
        if self.pushing:
            np.matmul(self._X, force[:6, :k], out=wrench[:6, :k])
            if self.internal:
                np.matmul(self._inner, dtrtri(self._chol)[0], out=wrench[:, k:])
            force[6:] -= self._J[:, 6:].T.dot(wrench)
        return wrench, force[6:], a
