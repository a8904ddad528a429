"""Hybrid inverse dynamics of a floating base (specification A3): joints get accelerations, the base takes what is left.

With b the base, j the joints, f_c the ground forces:

    q_dd_b = M_bb^-1 ((J_c' f_c)_b - c_b - M_bj q_dd_j)
    tau    = M_jb q_dd_b + M_jj q_dd_j + c_j - (J_c' f_c)_j

In the thesis the ground is soft, so f_c is known before the torque. Hard ground answers the torque at once. With the
force of the last sample the stance ankle becomes an integrator: an error e of f_c comes back as
(I - L J_b M_bb^-1 J_b') e, with L the inertia that the contact feels with free joints, and for moments on a light foot
that is nearly e itself (0.9994 and more on the body of the thesis). So f_c is foreseen (``foreseen``): a sole that
carries does not accelerate, which gives the base's acceleration for the wanted ones of the joints, and by it the wrench
that the ground must give. What a sole cannot give is cut off. While both carry, each is taken as the one that stays,
and the torques are mixed by their loads.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

LOCAL = pin.ReferenceFrame.LOCAL
LIGHT = 0.02  # share of the weight below which a sole does not count as carrying
FLIGHT = 0.1  # ... and both together as on the ground


class HybridDynamics:
    """Torques of all joints for their accelerations. ``base`` is what the base does then."""

    def __init__(self, robot: Robot) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._robot, self._soles = robot, robot.sole_frames
        self._a, self._zero = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
        self._centre = robot.sole_centres
        self._half = np.ptp(robot.soles, axis=1)[:, :2] / 2  # of each sole's rectangle (2, 2) [m]
        self.base = np.zeros(6)  # acceleration of the base in its frame: linear, angular [m/s², rad/s²]

    def torque(self, q: Array, v: Array, acceleration: Array, wrench: Array, foreseen: bool = False) -> Array:
        """For joint accelerations (n,) [rad/s²] and the ground's wrenches in the sole frames (2, 6) [N, N m].

        ``foreseen``: the wrenches are measured ones, from before the torque acts, on hard ground.
        """
        model, data = self._model, self._data
        self._a[6:] = acceleration
        if foreseen:
            pin.forwardKinematics(model, data, q, v, self._zero)
            drift = [np.array(pin.getFrameAcceleration(model, data, f, LOCAL)) for f in self._soles]  # J_d v
        pin.crba(model, data, q)
        pin.computeJointJacobians(model, data, q)
        J = [pin.getFrameJacobian(model, data, f, LOCAL) for f in self._soles]
        passive = pin.rnea(model, data, q, v, self._a)  # c + M_.j q_dd_j
        M = data.M
        if not foreseen:
            return self._solve(M, J, passive, wrench)
        load = np.where(wrench[:, 2] > LIGHT * self._robot.weight, wrench[:, 2], 0.0)
        if load.sum() < FLIGHT * self._robot.weight:
            return self._solve(M, J, passive, wrench)
        torque = np.zeros(len(acceleration))
        for side, share in enumerate((load / load.sum()).tolist()):
            if share > 0.0:
                forces = self._foreseen(side, J, drift[side], M[:6, :6], passive[:6], acceleration, wrench)
                torque += share * self._solve(M, J, passive, forces)
        return torque

    def _solve(self, M: Array, J: list[Array], passive: Array, wrench: Array) -> Array:
        """A3 for known wrenches of the ground."""
        ground = J[0].T.dot(wrench[0]) + J[1].T.dot(wrench[1])  # J_c' f_c
        self.base = np.linalg.solve(M[:6, :6], ground[:6] - passive[:6])
        return np.asarray(passive[6:] + M[:6, 6:].T.dot(self.base) - ground[6:])

    def _foreseen(
        self, side: int, J: list[Array], drift: Array, M: Array, passive: Array, acceleration: Array, measured: Array
    ) -> Array:
        """The wrenches (2, 6) with which a sole stays where it is, as far as it can give its own; the other's stays."""
        fixed, other = J[side][:, :6], J[1 - side][:, :6]
        base = np.linalg.solve(fixed, -(J[side][:, 6:].dot(acceleration) + drift))
        out = np.empty((2, 6))
        out[1 - side] = self._possible(1 - side, measured[1 - side])
        out[side] = self._possible(side, np.linalg.solve(fixed.T, M.dot(base) + passive - other.T.dot(out[1 - side])))
        return out

    def _possible(self, side: int, wrench: Array) -> Array:
        """What a sole can give: it presses, within its rectangle and its friction."""
        fx, fy, fz, mx, my, mz = wrench.tolist()
        fz = max(fz, 0.0)
        (cx, cy, _), (hx, hy) = self._centre[side].tolist(), self._half[side].tolist()
        friction = self._robot.config.friction
        grip = friction * fz / max(math.hypot(fx, fy), 1e-9)
        if grip < 1.0:
            fx, fy = grip * fx, grip * fy
        mx = min(max(mx, (cy - hy) * fz), (cy + hy) * fz)  # m_x = y f_z, m_y = -x f_z at the centre of pressure
        my = min(max(my, -(cx + hx) * fz), -(cx - hx) * fz)
        turn = friction * math.hypot(hx, hy) / 2 * fz
        return np.array([fx, fy, fz, mx, my, min(max(mz, -turn), turn)])
