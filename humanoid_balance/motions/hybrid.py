"""Hybrid inverse dynamics of a floating base (specification A3): joints get accelerations, the base takes what is left.

With b the base, j the joints, f_c the ground forces:

    q_dd_b = M_bb^-1 ((J_c' f_c)_b - c_b - M_bj q_dd_j)
    tau    = M_jb q_dd_b + M_jj q_dd_j + c_j - (J_c' f_c)_j

In the thesis f_c is known when the torque is chosen. A measured one is a sample old, and ground that pushes back faster
than that answers to the torque: an error e of f_c comes back as (I - L J_b M_bb^-1 J_b') e, with L the inertia that the
contact feels with free joints, and for moments on a light foot that is nearly e itself (0.9994 and more on the body of
the thesis). So these torques alone let the stance ankle drift; drives have to hold the joints beside them.
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
        self._a[6:] = acceleration
        pin.crba(model, data, q)
        pin.computeJointJacobians(model, data, q)
        J = [pin.getFrameJacobian(model, data, f, LOCAL) for f in self._soles]
        passive = pin.rnea(model, data, q, v, self._a)  # c + M_.j q_dd_j
        M = data.M
        ground = J[0].T.dot(wrench[0]) + J[1].T.dot(wrench[1])  # J_c' f_c
        self.base = np.linalg.solve(M[:6, :6], ground[:6] - passive[:6])
        return np.asarray(passive[6:] + M[:6, 6:].T.dot(self.base) - ground[6:])
