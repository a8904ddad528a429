"""How the drives of a board are: temperatures, voltages, encoders, and the faults that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.plants.protocol import Derating, FaultCode, Joint, JointFault
from humanoid_balance.plants.protocol.vocabulary import JOINT_WARNINGS
from humanoid_balance.safety.glance import Glance
from humanoid_balance.types import Array, Flags

TEMPERATURE = 35.0  # of a drive that is well [°C]
VOLTAGE = 48.0  # [V]
OVER_SPEED = 1.2  # of the velocity limit


class Condition:
    """State of health of the drives of one board (n,), set from outside; what they report follows from it."""

    def __init__(self, joints: Sequence[Joint]) -> None:
        n = len(joints)
        self._joints, self._derating = joints, Derating(joints)
        self._lower, self._upper = (np.array([getattr(j, key) for j in joints]) for key in ("lower", "upper"))
        self._speed = OVER_SPEED * np.array([joint.velocity_limit for joint in joints])
        self._hottest = np.array([joint.temperature_max for joint in joints])
        self._lowest, self._highest = (np.array([getattr(j, f"voltage_{k}") for j in joints]) for k in ("min", "max"))
        self.temperature, self.voltage = np.full(n, TEMPERATURE), np.full(n, VOLTAGE)
        self.silent: Flags = np.zeros(n, dtype=bool)
        self._stuck = np.full(n, np.nan)  # where an encoder stopped [rad]
        self._any_stuck = False
        self.faults: NDArray[np.uint16] = np.zeros(n, dtype=np.uint16)
        self.share = np.ones(n)  # of the torque limit that each drive may use
        self._glance = Glance(np.stack([self._lower, -self._speed]), np.stack([self._upper, self._speed]))
        self._seen = b""  # temperatures, voltages and silence of which the next two are known
        self._lasting, self._severe = self.faults, False

    def stick(self, index: int, position: float) -> None:
        """The encoder stops here; not for long."""
        if np.isnan(self._stuck[index]):
            self._stuck[index] = position
            self._any_stuck = True

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
        self._any_stuck = bool(stuck.any())

    def measured(self, position: Array, velocity: Array, torque: Array) -> tuple[Array, Array, Array]:
        """What the board believes of its joints."""
        if np.count_nonzero(self.silent):
            position, velocity, torque = (np.where(self.silent, np.nan, x) for x in (position, velocity, torque))
        if self._any_stuck:
            stopped = ~np.isnan(self._stuck)
            position, velocity = np.where(stopped, self._stuck, position), np.where(stopped, 0.0, velocity)
        return position, velocity, torque

    def update(self, position: Array, velocity: Array) -> bool:
        """Faults and share from what is measured; True if a fault is there that stops the board."""
        seen = self.temperature.tobytes() + self.voltage.tobytes() + self.silent.tobytes()
        if seen != self._seen:  # changes when somebody inflicts something, looked at a thousand times a second
            self._seen = seen
            self._examine()
        self.faults = self._lasting
        if self.faults.size == 0:
            return False
        self._glance.look(position, velocity)
        if self._glance.well(0) and self._glance.well(1):
            return self._severe
        outside = (position < self._lower) | (position > self._upper)
        moving = {JointFault.OVER_SPEED: np.abs(velocity) > self._speed, JointFault.POSITION_LIMIT: outside}
        self.faults = self._lasting | _bits(moving, outside.size)
        return _stops(self.faults)

    def _examine(self) -> None:
        """Share, and the faults that do not depend on how the joints move."""
        share = self._derating.share(self.temperature, self.voltage)
        flags = {
            JointFault.OVER_TEMPERATURE: self.temperature >= self._hottest,
            JointFault.UNDER_VOLTAGE: self.voltage < self._lowest,
            JointFault.OVER_VOLTAGE: self.voltage > self._highest,
            JointFault.SILENT: self.silent,
            JointFault.DERATED: share < 1.0,
        }
        self._lasting = _bits(flags, share.size)
        self._severe = _stops(self._lasting)
        self.share = np.where(self.silent, 0.0, share)

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


def _bits(flags: Mapping[JointFault, Flags], n: int) -> NDArray[np.uint16]:
    bits = np.zeros(n, dtype=np.uint16)
    for fault, present in flags.items():
        bits |= np.where(present, np.uint16(fault), np.uint16(0))
    return bits


def _stops(faults: NDArray[np.uint16]) -> bool:
    return bool((faults & ~np.uint16(JOINT_WARNINGS)).any())
