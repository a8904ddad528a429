"""Sole wrenches of a robot without foot sensors, from joint torques: generalised momentum observer.

The equation of motion  M v' + C v + g = Sᵀ τ + J_lᵀ w_l + J_rᵀ w_r (+ push)  leaves, when everything else is known,

    e = M Δv / Δt + C v + g - Sᵀ τ = J_lᵀ w_l + J_rᵀ w_r

which is the derivative of the momentum M v minus its known part. It is low-passed (the observer) and solved for both
wrenches by weighted least squares. The rows of the leg joints know the wrenches apart from a push on the trunk, so they
count; the six rows of the floating base also contain the push and only help where a straight leg hides a force.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

BASE_WEIGHT = 0.02  # of the base rows against those of the leg joints
RIDGE = 1e-6  # keeps a singular leg solvable
STICTION = 0.05  # joint speed over which Coulomb friction turns its sign [rad/s]


class FootWrenchObserver:
    """Wrench of the ground on each sole, in and about the sole frame (2, 6) [N, N m]."""

    def __init__(self, robot: Robot, bandwidth: float) -> None:
        self._robot, self._bandwidth = robot, bandwidth
        model = robot.model
        self._data = model.createData()
        legs = [
            [int(model.joints[j].idx_v) for j in model.supports[model.frames[frame].parentJoint] if j > 1]
            for frame in robot.sole_frames
        ]
        self._rows = np.array([*range(6), *sorted(set(legs[0]) | set(legs[1]))])
        self._weight = np.where(self._rows < 6, BASE_WEIGHT, 1.0)
        self._force = np.zeros(model.nv)
        self._matrix = np.zeros((12, len(self._rows)))
        self.reset()

    def reset(self) -> None:
        """Start from a robot at rest that carries half its weight with each foot."""
        self._velocity: Array | None = None
        self._residual: Array | None = None
        self.wrench = np.zeros((2, 6))
        self.wrench[:, 2] = self._robot.weight / 2

    def update(self, q: Array, v: Array, torque: Array, dt: float) -> Array:
        """Take configuration, velocity (Pinocchio's, base included) and joint torques [N m]."""
        robot, model, data, force = self._robot, self._robot.model, self._data, self._force
        mass = pin.crba(model, data, q)
        bias = pin.nonLinearEffects(model, data, q, v)
        acceleration = np.zeros(model.nv) if self._velocity is None else (v - self._velocity) / dt
        self._velocity = v.copy()
        speed = v[6:]
        force[6:] = torque - robot.damping * speed - robot.friction * np.tanh(speed / STICTION)
        mass = np.triu(mass) + np.triu(mass, 1).T
        error = mass @ acceleration + bias - force
        if self._residual is None:
            self._residual = error
        self._residual = self._residual + min(self._bandwidth * dt, 1.0) * (error - self._residual)
        pin.computeJointJacobians(model, data, q)
        for side, frame in enumerate(robot.sole_frames):
            jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
            self._matrix[6 * side : 6 * side + 6] = jacobian[:, self._rows]
        weighted = self._matrix * self._weight**2
        normal = weighted @ self._matrix.T
        normal.flat[::13] += RIDGE
        self.wrench = np.linalg.solve(normal, weighted @ self._residual[self._rows]).reshape(2, 6)
        return self.wrench
