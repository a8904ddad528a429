"""Servos of the X series in current-control mode: registers, and torques and angles in SI units.

Current is proportional to torque before friction: torque = torque_constant * current at the output shaft. Angles are
those of the servo; offset, sign and ratio to the joint belong to the plant's calibration.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel.packet import MAX_ID
from humanoid_balance.types import Array


class Register(NamedTuple):
    """A place in the control table."""

    address: int
    size: int  # [bytes]


MODEL_NUMBER = Register(0, 2)
RETURN_DELAY = Register(9, 1)  # [2 µs] before each answer, 500 µs from the factory; writable while the torque is off
OPERATING_MODE = Register(11, 1)  # writable while the torque is off
CURRENT_LIMIT = Register(38, 2)  # writable while the torque is off
TORQUE_ENABLE = Register(64, 1)
HARDWARE_ERROR = Register(70, 1)
BUS_WATCHDOG = Register(98, 1)  # [20 ms], runs while the torque is on; -1: tripped, no goals until 0 is written
GOAL_CURRENT = Register(102, 2)
PRESENT = Register(126, 10)  # current, velocity and position, one behind the other
PRESENT_AND_HEALTH = Register(126, 21)  # the same, two trajectory registers, voltage and temperature

CURRENT_CONTROL = 0  # value of OPERATING_MODE
WATCHDOG_20_MS = 1  # value of BUS_WATCHDOG: the same 20 ms after which a board brakes

_PRESENT = struct.Struct("<hii")
_PRESENT_AND_HEALTH = struct.Struct("<hii8xHB")
COUNTS_PER_TURN = 4096
VELOCITY_UNIT = 0.229 * 2.0 * math.pi / 60.0  # [rad/s]
VOLTAGE_UNIT = 0.1  # [V]
CURRENT_COUNTS = 2047  # largest goal current that any model takes
CENTRE = COUNTS_PER_TURN // 2  # position of zero angle


@dataclass(frozen=True, slots=True)
class Present:
    """One reading of one servo."""

    position: float  # [rad]
    velocity: float  # [rad/s]
    torque: float  # [N m]
    voltage: float  # [V]; NaN if it was not read
    temperature: float  # [°C]; NaN if it was not read


@dataclass(frozen=True, slots=True)
class Servo:
    """What differs between models, and between the ways they are used."""

    identifier: int
    torque_constant: float  # at the output shaft [N m/A]
    current_limit: float  # [A]
    current_unit: float = 2.69e-3  # of goal and present current [A]; 1e-3 in the 330 models

    def __post_init__(self) -> None:
        if not 0 <= self.identifier <= MAX_ID:
            raise InputError(f"servo identifier {self.identifier}; allowed: 0 to {MAX_ID}")
        for key, value, top in (
            ("torque_constant", self.torque_constant, 1e3),
            ("current_unit", self.current_unit, 1.0),
            ("current_limit", self.current_limit, CURRENT_COUNTS * self.current_unit),
        ):
            if not 0 < value <= top:
                raise InputError(f"servo {self.identifier}: '{key}' is {value!r}; allowed: above 0, up to {top:g}")

    def goal(self, torque: float) -> bytes:
        """Goal current for a torque [N m], cut at the current limit; what is not a number becomes no current."""
        if math.isnan(torque):
            torque = 0.0
        torque = max(-self.torque_limit, min(self.torque_limit, torque))
        return round(torque / (self.torque_constant * self.current_unit)).to_bytes(2, "little", signed=True)

    def present(self, data: bytes) -> Present:
        """Data of PRESENT or of PRESENT_AND_HEALTH."""
        voltage = temperature = math.nan
        if len(data) == PRESENT.size:
            current, velocity, position = _PRESENT.unpack(data)
        else:
            current, velocity, position, decivolts, temperature = _PRESENT_AND_HEALTH.unpack(data)
            voltage = decivolts * VOLTAGE_UNIT
        return Present(
            position=(position - CENTRE) * 2.0 * math.pi / COUNTS_PER_TURN,
            velocity=velocity * VELOCITY_UNIT,
            torque=current * self.current_unit * self.torque_constant,
            voltage=voltage,
            temperature=float(temperature),
        )

    def registers(self, position: float, velocity: float, torque: float) -> bytes:
        """Data of PRESENT for a shaft in this state, as a servo would answer; the reverse of ``present``."""
        return _PRESENT.pack(
            round(torque / (self.torque_constant * self.current_unit)),
            round(velocity / VELOCITY_UNIT),
            round(position * COUNTS_PER_TURN / (2.0 * math.pi)) + CENTRE,
        )

    @property
    def torque_limit(self) -> float:
        """Largest torque that ``goal`` asks for [N m]."""
        return int(self.current_limit / self.current_unit) * self.current_unit * self.torque_constant


def goals(servos: tuple[Servo, ...], torque: Array) -> dict[int, bytes]:
    """Data of a sync write of GOAL_CURRENT for torques (n,) [N m] in the order of ``servos``."""
    return {servo.identifier: servo.goal(float(value)) for servo, value in zip(servos, torque, strict=True)}
