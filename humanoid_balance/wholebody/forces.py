"""From accelerations to contact wrenches and joint torques, M a + h = S' tau + J' w.

The six base rows have to be matched by the wrenches of the contacts that push: w_1 = X (M a + h - J_2' w_2)_base with
X = J_1,base^-T. What the others do, the second sole and planned contacts stacked into w_2, is free. For given
accelerations it is best where

    ½ |wrenches, each component relative to what its surface can|² FORCE + ½ |torques relative to their limits|² TORQUE

is least: w_2 = g*(a). The last level pays for the distance of w_2 from there in the metric of this cost.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv, dtrtri, dtrtrs

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array
from humanoid_balance.wholebody import contact
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms
from humanoid_balance.wholebody.touch import surface_of

FORCE = 1e3  # [rad²/s⁴], as the last level's joint accelerations
TORQUE = 1e1  # [rad²/s⁴]


class Forces:
    """The dynamics of one problem shape."""

    def __init__(self, robot: Robot, shape: Shape) -> None:
        self.robot, self.pushing = robot, shape.pushing
        n, size = robot.n, sum(shape.rows(c) for c in shape.pushing)
        self.internal = max(0, size - 6)  # freedom of the wrenches: all but the first
        self._J = np.zeros((size, n + 6))
        self._joints = self._J[:, 6:]
        self._metric = np.zeros((size, size))  # of the wrenches
        self._blocks = []
        first = 0
        for index in self.pushing:
            rows = shape.rows(index)
            surface = robot.contacts[index] if index < 2 else surface_of(robot, shape.touches[index - 2].name)
            block = slice(first, first + rows)
            scale = contact.wrench_scale(surface.corners, surface.friction)[:rows, :rows] / robot.weight
            self._metric[block, block] = FORCE * scale.T @ scale
            self._blocks.append(block)
            first += rows
        self._per_torque = np.sqrt(TORQUE) / robot.torque_limit
        # All wrenches per weight of w_2.
        self._inner = np.vstack([np.zeros((6, self.internal)), robot.weight * np.eye(self.internal)])
        self._first, self._inner_t = self._inner[:6], self._inner.T
        # Of all contacts but the first: index, its rows of J; the rows of all of them, base columns.
        self._others = [(i, self._J[block]) for i, block in zip(self.pushing[1:], self._blocks[1:], strict=True)]
        self._other_base = self._J[6:, :6].T
        self.a = np.zeros(n + 6)
        self.wrench, self.torque = np.zeros(size), np.zeros(n)

    def update(self, terms: Terms) -> None:
        """What depends on the state alone."""
        self._terms = terms
        if not self.pushing:
            return
        inner, first = self._inner, self._first
        self._J[:6] = terms.contacts[self.pushing[0]].J
        self._X = terms.X.T
        if not self.internal:
            return
        for index, rows in self._others:
            rows[:] = terms.contacts[index].J
        np.dot(self._X, self._other_base, out=first)
        first *= -self.robot.weight
        # Cost of wrenches w and torques tau = tau_a - J' w with its inner freedom g: ½ g' K g + g' (C w_a - D tau_a)
        scaled = self._joints * self._per_torque
        cost = scaled.dot(scaled.T)
        cost += self._metric
        self._by_wrench = self._inner_t.dot(cost)
        self._K = self._by_wrench.dot(inner)
        self._by_torque = self._inner_t.dot(scaled)

    def at(self, qdd: Array) -> None:
        """Generalised acceleration, best wrenches and torques for joint accelerations."""
        terms = self._terms
        a = np.empty(len(qdd) + 6)
        a[6:] = qdd
        np.add(terms.T.dot(qdd), terms.t, out=a[:6])
        force = terms.M.dot(a)
        force += terms.h
        self.a = a
        if not self.pushing:
            self.wrench, self.torque = np.zeros(0), force[6:]
            return
        first, torque = self._X.dot(force[:6]), force[6:]
        if self.internal:
            pull = self._by_torque.dot(torque * self._per_torque)
            pull -= self._by_wrench[:, :6].dot(first)
            self._chol, g, _ = dposv(self._K, pull)
            wrench = self._inner.dot(g)
            wrench[:6] += first
        else:
            wrench = first
        torque -= wrench.dot(self._joints)
        self.wrench, self.torque = wrench, torque

    def add_inner(self, w: Array) -> None:
        """Move w_2 by ``w``, in unit metric, away from where it is best."""
        wrench = self._inner.dot(dtrtrs(self._chol, w)[0])
        self.wrench += wrench
        self.torque -= wrench.dot(self._joints)

    def rows(self, wrench: Array, torque: Array, qdd: Array) -> tuple[Array, Array]:
        """Rows over wrenches, torques and joint accelerations as rows over q_dd alone, and over w_2 in unit metric.

        The way of ``columns`` backwards: for a few rows far cheaper than all columns.
        """
        terms = self._terms
        inner = np.zeros((len(qdd), self.internal))
        force = np.zeros((len(qdd), len(terms.h)))
        if self.pushing:
            wrench = wrench - torque.dot(self._joints.T)
            first = wrench[:, :6]
            if self.internal:
                inner_t = dtrtrs(self._chol, self._inner.T.dot(wrench.T), trans=1)[0]
                inner = inner_t.T
                best = dtrtrs(self._chol, inner_t)[0].T
                first = first - best.dot(self._by_wrench[:, :6])
                torque = torque + best.dot(self._by_torque) * self._per_torque
            force[:, :6] = first.dot(self._X)
        force[:, 6:] = torque
        a = force.dot(terms.M)
        return a[:, 6:] + qdd + a[:, :6].dot(terms.T), inner

    def columns(self, moves: Array, internal: bool = False) -> tuple[Array, Array, Array]:
        """Wrenches, torques and accelerations (nv) for moves of q_dd; then, if asked, those of w_2 in unit metric."""
        terms, n, k = self._terms, self.robot.n, moves.shape[1]
        end = k + self.internal * internal
        a = np.zeros((n + 6, end))
        a[6:, :k] = moves
        np.matmul(terms.T, moves, out=a[:6, :k])
        force = terms.M.dot(a)
        if not self.pushing:
            return np.zeros((0, k)), force[6:], a
        wrench = np.zeros((len(self._J), end))
        np.matmul(self._X, force[:6, :k], out=wrench[:6, :k])
        if self.internal:
            pull = (self._by_torque * self._per_torque).dot(force[6:, :k]) - self._by_wrench[:, :6].dot(wrench[:6, :k])
            back = np.triu(dtrtri(self._chol)[0])
            wrench[:, :k] += self._inner.dot(back.dot(back.T.dot(pull)))
            if internal:
                np.matmul(self._inner, back, out=wrench[:, k:])
        force[6:] -= self._joints.T.dot(wrench)
        return wrench, force[6:], a
