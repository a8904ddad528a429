"""An electric motor behind its gear: the torque-speed curve.

Driving, with torque and speed of one sign, a motor gives its peak torque up to the corner speed. From there on the
voltage that is left after the back-EMF falls, and the torque with it, down to nothing at the no-load speed:

    tau_drive(v) = tau (v_0 - |v|) / (v_0 - v_c),  between 0 and tau

Braking, the back-EMF helps: the current limit alone counts, and a motor gives its braking torque at any speed.

Friction of the rotor, Coulomb and viscous, is that of the joint: the simulators add it there (``Robot.friction`` and
``Robot.damping``), where their solvers treat it exactly.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.types import Array


class Motor:
    """One motor per joint, all arrays (n,)."""

    constant = False

    def __init__(self, torque: Array, braking: Array, corner: Array, no_load: Array) -> None:
        """Peak torques driving and braking [N m]; corner and no-load speed [rad/s], the second above the first."""
        self._torque, self._braking, self._corner, self._no_load = torque, braking, corner, no_load
        self._slope = torque / (no_load - corner)  # [N m s/rad]

    def bounds(self, q: Array, v: Array) -> tuple[Array, Array]:
        driving = self._slope * (self._no_load - np.abs(v))
        np.minimum(np.maximum(driving, 0.0, out=driving), self._torque, out=driving)
        return -np.where(v <= 0.0, driving, self._braking), np.where(v >= 0.0, driving, self._braking)

    def drive(self, scale: float) -> MotorDrive:
        """A ``scale`` below 1 is a weak motor: less torque at every speed."""
        return MotorDrive(self, scale)


class MotorDrive:
    def __init__(self, motor: Motor, scale: float) -> None:
        self._motor, self._scale = motor, scale

    def torque(self, wanted: Array, q: Array, v: Array, dt: float) -> Array:
        low, high = self._motor.bounds(q, v)
        return np.minimum(np.maximum(wanted, self._scale * low), self._scale * high)
