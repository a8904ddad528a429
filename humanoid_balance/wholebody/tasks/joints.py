"""Tasks in joint space: a metric over all joint accelerations instead of a few rows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms


class JointTask(Task):
    """Minimise q_dd' W q_dd - 2 r' q_dd with a constant positive definite W over the joint accelerations.

    The optimum is q_dd* = W^-1 r. In p = L' (q_dd - q_dd*), W = L L', the cost is |p|²; N = L^-T leads back.
    """

    def __init__(self, W: Array) -> None:
        self.rows = len(W)
        self.W = W
        self.L = np.linalg.cholesky(W)
        self.N = np.linalg.inv(self.L).T
        self.identity = bool((np.eye(self.rows) == W).all())  # saves the products with N on the fast path

    @abstractmethod
    def pull(self, terms: Terms, reference: Reference) -> Array:
        """The linear term r (n,) at the present state."""

    def wanted(self, terms: Terms, reference: Reference) -> Array:
        """The optimum q_dd* without anything else to care for (n,) [rad/s²]."""
        r = self.pull(terms, reference)
        return r if self.identity else self.N.dot(self.N.T.dot(r))

    def fill(self, terms: Terms, reference: Reference, A: Array, b: Array) -> None:
        """As rows, for a joint task that is not on the last level: L' q_dd = L^-1 r."""
        A[:, :6] = 0.0
        A[:, 6:] = self.L.T
        np.matmul(self.N.T, self.pull(terms, reference), out=b)
