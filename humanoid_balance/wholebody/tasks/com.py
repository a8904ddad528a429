"""The centre of mass follows a wanted acceleration."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, Flags
from humanoid_balance.wholebody.tasks.task import Task, indices
from humanoid_balance.wholebody.terms import Terms


class ComTask(Task):
    """sqrt(w) Ag_lin a / mass = sqrt(w) (s_dd* - drift), the axes with weight only [m/s²]."""

    def __init__(self, robot: Robot, axes: Flags) -> None:
        self.axes = indices(axes)
        self.rows = int(np.count_nonzero(axes))
        self._per_mass = 1 / robot.mass
        self._weight: list[float] = []  # for which the roots are

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        axes, weight = self.axes, reference.com_weight.tolist()
        if weight != self._weight:
            self._weight = weight
            self._root = np.sqrt(reference.com_weight[axes])
            self._scale = (self._root * self._per_mass)[:, None]
        np.subtract(reference.com_acceleration[axes], terms.drift[axes], out=b)
        b *= self._root
        np.multiply(terms.Ag[axes], self._scale, out=A)
