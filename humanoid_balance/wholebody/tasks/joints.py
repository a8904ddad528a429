"""Tasks in joint space: a weight and a wanted acceleration for every joint, and perhaps a few rows more."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms


class JointTask(Task):
    """Minimise sum_i w_i (theta_dd_i - target_i)² - lift · s_dd_z.

    Kept apart from rows A, b because a diagonal is much cheaper to work with than a dense matrix. ``lift`` [s²/m ...]
    is the stay-tall term of K3; it is linear in the acceleration of the CoM's height.
    """

    weight: Array  # (n,)
    target: Array  # (n,) [rad/s²]
    lift: float = 0.0

    def __init__(self, n: int) -> None:
        self.rows = n
        self.weight, self.target = np.ones(n), np.zeros(n)
        self._diagonal = np.arange(n), np.arange(6, n + 6)

    @abstractmethod
    def update(self, terms: Terms, reference: Reference) -> None:
        """Set ``weight`` and ``target`` at the present state."""

    def fill(self, terms: Terms, reference: Reference, A: Array, b: Array) -> None:
        self.update(terms, reference)
        root = np.sqrt(self.weight)
        A[:] = 0.0
        A[self._diagonal] = root
        np.multiply(root, self.target, out=b)
