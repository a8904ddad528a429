"""The mirror image of a pose: left and right change places. Found from the model, not from names."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

PLACE = 0.01  # joints of a pair lie at mirrored places, to this [m]
PARALLEL = 0.99  # cosine between mirrored axes


class Mirror:
    """``pose[partner] * sign`` is the mirrored pose."""

    def __init__(self, robot: Robot) -> None:
        model, data = robot.model, robot.model.createData()
        pin.computeJointJacobians(model, data, pin.neutral(model))
        place = np.array([data.oMi[j].translation for j in range(2, model.njoints)])
        axis = data.J[3:, 6:].T
        flipped = place * (1, -1, 1)
        turned = axis * (-1, 1, -1)  # a rotation axis is a pseudo-vector
        self.partner, self.sign = np.zeros(robot.n, dtype=int), np.zeros(robot.n)
        for i, name in enumerate(robot.joint_names):
            near = np.linalg.norm(place - flipped[i], axis=1) < PLACE
            cosine = axis @ turned[i]
            fits = np.flatnonzero(near & (np.abs(cosine) > PARALLEL))
            if not len(fits):
                raise InputError(f"robot '{robot.spec}': joint '{name}' has no mirror image")
            j = fits[np.argmin(np.abs(fits - i))] if abs(flipped[i, 1]) < PLACE else fits[0]
            self.partner[i], self.sign[i] = j, np.sign(cosine[j])

    def of(self, pose: Array) -> Array:
        """Mirrored joint positions (n,) [rad]."""
        mirrored: Array = pose[self.partner] * self.sign
        return mirrored
