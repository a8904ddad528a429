"""The angular momentum about the centre of mass changes at a wanted rate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, Flags
from humanoid_balance.wholebody.tasks.task import Task, indices
from humanoid_balance.wholebody.terms import Terms


@lru_cache(maxsize=8)
def mean_inertia(robot: Robot) -> float:
    """Mean centroidal inertia of the nominal stance [kg m²]; kept, as a task may be made within a tick."""
    data = robot.model.createData()
    pin.ccrba(robot.model, data, robot.q_nominal, np.zeros(robot.model.nv))
    return float(np.trace(data.Ig.inertia)) / 3


class MomentumTask(Task):
    """sqrt(w) Ag_ang a / I = sqrt(w) (k_d* - drift) / I, the axes with weight only.

    I is the mean centroidal inertia of the nominal stance, so rows are in [rad/s²] and a weight means the same for a
    body of any size and next to an orientation task.
    """

    def __init__(self, robot: Robot, axes: Flags) -> None:
        self.axes = indices(axes)
        self.rows = int(np.count_nonzero(axes))
        self._of_six = indices(np.concatenate([np.zeros(3, dtype=bool), axes]))
        self.inertia = mean_inertia(robot)  # I [kg m²]
        self._weight: list[float] = []  # for which the scale is

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        weight = reference.momentum_weight.tolist()
        if weight != self._weight:
            self._weight = weight
            self._scale = np.sqrt(reference.momentum_weight[self.axes]) / self.inertia
            self._column = self._scale[:, None]
        np.subtract(reference.angular_momentum_rate[self.axes], terms.drift[self._of_six], out=b)
        b *= self._scale
        np.multiply(terms.Ag[self._of_six], self._column, out=A)
