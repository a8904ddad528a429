"""How the drives of a board are: temperatures, voltages, encoders, and the faults that follow from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.plants.protocol import FaultCode, Joint, JointFault, derating
from humanoid_balance.plants.protocol.vocabulary import JOINT_WARNINGS
from humanoid_balance.types import Array, Flags

TEMPERATURE = 35.0  # of a drive that is well [°C]
VOLTAGE = 48.0  # [V]
OVER_SPEED = 1.2  # of the velocity limit


class Condition:
    """State of health of the drives of one board (n,), set from outside; what they report follows from it."""

    def __init__(self, joints: Sequence[Joint]) -> None:
        n = len(joints)
        self._joints = joints
        self._lower, self._upper = (np.array([getattr(j, key) for j in joints]) for key in ("lower", "upper"))
        self._speed = OVER_SPEED * np.array([joint.velocity_limit for joint in joints])
        self._hottest = np.array([joint.temperature_max for joint in joints])
        self._lowest, self._highest = (np.array([getattr(j, f"voltage_{k}") for j in joints]) for k in ("min", "max"))
        self.temperature, self.voltage = np.full(n, TEMPERATURE), np.full(n, VOLTAGE)
        self.silent: Flags = np.zeros(n, dtype=bool)
        self._stuck = np.full(n, np.nan)  # where an encoder stopped [rad]
        self.faults: NDArray[np.uint16] = np.zeros(n, dtype=np.uint16)
        self.share = np.ones(n)  # of the torque limit that each drive may use

    def stick(self, index: int, position: float) -> None:
        """The encoder stops here; not for long."""
        if np.isnan(self._stuck[index]):
            self._stuck[index] = position

    def heal(self) -> None:
        """Everything but stuck encoders is well again."""
        self.temperature[:], self.voltage[:] = TEMPERATURE, VOLTAGE
        self.silent[:] = False

    def heat(self, index: int) -> None:
        """Too hot to go on."""
        self.temperature[index] = self._hottest[index] + 1.0

    def starve(self, index: int) -> None:
        """The supply breaks down to a tenth below the least voltage."""
        self.voltage[index] = 0.9 * self._lowest[index]

    def release(self, stuck: Flags) -> None:
        """Encoders that are not among ``stuck`` run again."""
        self._stuck[~stuck] = np.nan

    def measured(self, position: Array, velocity: Array, torque: Array) -> tuple[Array, Array, Array]:
        """What the board believes of its joints."""
        if self.silent.any():
            position, velocity, torque = (np.where(self.silent, np.nan, x) for x in (position, velocity, torque))
        stopped = ~np.isnan(self._stuck)
        if stopped.any():
            position, velocity = np.where(stopped, self._stuck, position), np.where(stopped, 0.0, velocity)
        return position, velocity, torque

    def update(self, position: Array, velocity: Array) -> bool:
        """Faults and share from what is measured; True if a fault is there that stops the board."""
        share = derating(self._joints, self.temperature, self.voltage)
        bits = {
            JointFault.OVER_TEMPERATURE: self.temperature >= self._hottest,
            JointFault.UNDER_VOLTAGE: self.voltage < self._lowest,
            JointFault.OVER_VOLTAGE: self.voltage > self._highest,
            JointFault.OVER_SPEED: np.abs(velocity) > self._speed,
            JointFault.SILENT: self.silent,
            JointFault.POSITION_LIMIT: (position < self._lower) | (position > self._upper),
            JointFault.DERATED: share < 1.0,
        }
        faults = np.zeros(len(share), dtype=np.uint16)
        for fault, flags in bits.items():
            faults |= np.where(flags, np.uint16(fault), np.uint16(0))
        self.faults = faults
        self.share = np.where(self.silent, 0.0, share)
        return bool((faults & ~np.uint16(JOINT_WARNINGS)).any())

    def evidence(self, code: FaultCode, index: int, velocity: Array, position: Array) -> tuple[float, float]:
        """Value and limit behind a fault, for the Fault frame."""
        joint = self._joints[index]
        at_upper = position[index] > joint.upper
        return {
            FaultCode.OVER_TEMPERATURE: (self.temperature[index], joint.temperature_max),
            FaultCode.UNDER_VOLTAGE: (self.voltage[index], joint.voltage_min),
            FaultCode.OVER_VOLTAGE: (self.voltage[index], joint.voltage_max),
            FaultCode.OVER_SPEED: (velocity[index], self._speed[index]),
            FaultCode.POSITION_LIMIT: (position[index], joint.upper if at_upper else joint.lower),
            FaultCode.DERATED: (self.share[index], 1.0),
        }.get(code, (1.0, 0.0))
