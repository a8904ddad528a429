"""The height of the centre of mass, apart from its way over the ground."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms


class HeightTask(Task):
    """sqrt(w) Ag_z a / mass = sqrt(w) (s_dd*_z - drift_z) [m/s²].

    Below the horizontal CoM law it may give way: a bending trunk takes the CoM down, and legs that had to hold the
    height exactly would go straight. K3 has the same wish as its soft term - s_dd_z.
    """

    rows = 1

    def __init__(self, robot: Robot) -> None:
        self._per_mass = 1 / robot.mass

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        root = float(np.sqrt(reference.height_weight))
        b[0] = root * (reference.com_acceleration[2] - terms.drift[2])
        np.multiply(terms.Ag[2:3], root * self._per_mass, out=A)
