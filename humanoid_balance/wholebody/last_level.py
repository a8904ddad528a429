"""The objective of the last level as a distance: |p|² with q_dd = q_dd* + N p."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.joints import JointTask
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms

FEW = 8  # rows up to which their own eigenvalues are cheaper than a factorisation of all joints
TINY = 1e-9  # eigenvalue below which a row adds nothing
REST = 1e-4  # weight of joint accelerations where no task of the last level asks for any


class LastLevel:
    """Finds q_dd*, the joint accelerations the last level wants if nothing else mattered, and its metric N."""

    def __init__(self, robot: Robot, tasks: list[Task]) -> None:
        self._joints = [task for task in tasks if isinstance(task, JointTask)]
        self._others = [task for task in tasks if not isinstance(task, JointTask)]
        n, rows = robot.n, sum(task.rows for task in self._others)
        self._J, self._b = np.zeros((rows, n + 6)), np.zeros(rows)
        self._base_columns, self._joint_columns = self._J[:, :6], self._J[:, 6:]
        ends = np.cumsum([0, *(task.rows for task in self._others)]).tolist()
        self._filled = [
            (task, self._J[a:b], self._b[a:b]) for task, (a, b) in zip(self._others, pairwise(ends), strict=True)
        ]
        self._W = sum((task.W for task in self._joints), REST * np.eye(n) if not self._joints else np.zeros((n, n)))
        diagonal = np.diagonal(self._W)
        self._root = diagonal**-0.5 if (np.diag(diagonal) == self._W).all() else None
        self._N = np.zeros((n, n))
        self.wanted = np.zeros(n)  # q_dd* [rad/s²]
        self.N = np.ones(n)  # (n, n), or (n,) where it is diagonal
        self._alone = self._joints[0] if len(self._joints) == 1 and not self._others else None
        if self._alone is not None:
            self.N = self._alone.N

    def update(self, terms: Terms, reference: BodyReference) -> None:
        if self._alone is not None:
            self.wanted = self._alone.wanted(terms, reference)
            return
        for task, J, b in self._filled:
            task.fill(terms, reference, J, b)
        A = self._joint_columns + self._base_columns.dot(terms.T)
        r = A.T.dot(self._b - self._base_columns.dot(terms.t))
        for joint_task in self._joints:
            r += joint_task.pull(terms, reference)
        if self._root is not None and len(A) == 1:
            self._one_more_row(A[0], r)
            return
        if self._root is not None and len(A) <= FEW:
            self._few_more_rows(A, r)
            return
        L = np.linalg.cholesky(self._W + A.T.dot(A))
        self.N = np.linalg.inv(L).T
        self.wanted = self.N.dot(self.N.T.dot(r))

    def _one_more_row(self, row: Array, r: Array) -> None:
        """One row beside a diagonal W needs no factorisation: a fifth of the time.

        With D = W^-1/2 and a = D row, (W + row' row)^-1 = N N' for N = D (I - c a a') and
        c = (1 - 1 / sqrt(1 + |a|²)) / |a|².
        """
        root = self._root
        assert root is not None
        a = root * row
        square = float(a.dot(a))
        c = (1.0 - (1.0 + square) ** -0.5) / square if square > 1e-12 else 0.5
        N = self._N
        np.multiply((-c * root * a)[:, None], a, out=N)
        N.flat[:: len(a) + 1] += root
        self.N = N
        self.wanted = N.dot(N.T.dot(r))

    def _few_more_rows(self, A: Array, r: Array) -> None:
        """A few rows beside a diagonal W: a small eigenvalue problem instead of a large factorisation.

        With D = W^-1/2, B = A D and B B' = U S U', (W + A' A)^-1 = N N' for N = D (I - B' U C U' B) and
        C = (1 - 1 / sqrt(1 + S)) / S, column by column as in ``_one_more_row``.
        """
        root = self._root
        assert root is not None
        B = A * root
        S, U = np.linalg.eigh(B.dot(B.T))
        np.maximum(S, TINY, out=S)
        V = U.T.dot(B)
        N = self._N
        np.dot(((1.0 - (1.0 + S) ** -0.5) / S)[:, None].T * V.T, V, out=N)
        np.negative(N, out=N)
        N.flat[:: len(root) + 1] += 1.0
        N *= root[:, None]
        self.N = N
        self.wanted = N.dot(N.T.dot(r))

    def back(self, p: Array) -> Array:
        """N p, for a vector or for columns."""
        if self.N.ndim == 2:
            return self.N.dot(p)
        return self.N * p if p.ndim == 1 else self.N[:, None] * p

    def rows(self, A: Array) -> Array:
        """A N, for rows over the joint accelerations."""
        return A * self.N if self.N.ndim == 1 else A.dot(self.N)
