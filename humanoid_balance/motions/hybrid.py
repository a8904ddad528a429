"""Hybrid inverse dynamics of a floating base (specification A3): joints get accelerations, the base takes what is left.

With b the base, j the joints, f_c the measured ground forces:

    q_dd_b = M_bb^-1 ((J_c' f_c)_b - c_b - M_bj q_dd_j)
    tau    = M_jb q_dd_b + M_jj q_dd_j + c_j - (J_c' f_c)_j

f_c is that of the last sample, while hard ground answers the torque at once. An error e of f_c changes the torque such
that the ground's force changes by (I - L J_b M_bb^-1 J_b') e, with L the inertia that the contact feels with free
joints. A body with locked joints is never easier to move than with free ones, so the eigenvalues of L J_b M_bb^-1 J_b'
are between 0 and 1: the error shrinks from sample to sample, and where it is gone the joints have their accelerations.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

LOCAL = pin.ReferenceFrame.LOCAL


class HybridDynamics:
    """Torques of all joints for their accelerations. ``base`` is what the base does then."""

    def __init__(self, robot: Robot) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._soles = robot.sole_frames
        self._a = np.zeros(robot.model.nv)
        self.base = np.zeros(6)  # acceleration of the base in its frame: linear, angular [m/s², rad/s²]

    def torque(self, q: Array, v: Array, acceleration: Array, wrench: Array) -> Array:
        """For joint accelerations (n,) [rad/s²] and the ground's wrenches in the sole frames (2, 6) [N, N m]."""
        model, data = self._model, self._data
        pin.crba(model, data, q)
        pin.computeJointJacobians(model, data, q)
        ground = np.zeros(model.nv)  # J_c' f_c
        for frame, force in zip(self._soles, wrench, strict=True):
            if force.any():
                ground += pin.getFrameJacobian(model, data, frame, LOCAL).T.dot(force)
        self._a[6:] = acceleration
        passive = pin.rnea(model, data, q, v, self._a)  # c + M_.j q_dd_j
        M = data.M
        self.base = np.linalg.solve(M[:6, :6], ground[:6] - passive[:6])
        return np.asarray(passive[6:] + M[:6, 6:].T.dot(self.base) - ground[6:])
