"""Tasks in joint space: a metric over all joint accelerations instead of a few rows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms


class JointTask(Task):
    """Minimise q_dd' W q_dd - 2 r' q_dd with a constant positive definite W over the joint accelerations.

    The optimum is q_dd* = W^-1 r. In p = L' (q_dd - q_dd*), W = L L', the cost is |p|²; N = L^-T leads back. ``W`` may
    be given as its diagonal (n,); then N is one too, and products with it cost nothing.
    """

    def __init__(self, W: Array) -> None:
        self.rows = len(W)
        self.diagonal = W.ndim == 1
        self.W = np.diag(W) if self.diagonal else W
        self.L = np.diag(np.sqrt(W)) if self.diagonal else np.linalg.cholesky(W)
        self.N = 1 / np.sqrt(W) if self.diagonal else np.linalg.inv(self.L).T

    @abstractmethod
    def pull(self, terms: Terms, reference: BodyReference) -> Array:
        """The linear term r (n,) at the present state."""

    def wanted(self, terms: Terms, reference: BodyReference) -> Array:
        """The optimum q_dd* without anything else to care for (n,) [rad/s²]."""
        r = self.pull(terms, reference)
        return r * self.N * self.N if self.diagonal else self.N.dot(self.N.T.dot(r))

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        """As rows, for a joint task that is not on the last level: L' q_dd = L^-1 r."""
        A[:, :6] = 0.0
        A[:, 6:] = self.L.T
        b[:] = np.linalg.solve(self.L, self.pull(terms, reference))
