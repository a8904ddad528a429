"""What a board reports every period: its mode and all of its joints."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.plants.protocol.packet import FrameError, check_size
from humanoid_balance.plants.protocol.vocabulary import MAX_JOINTS, BoardFault, Mode
from humanoid_balance.types import Array

_FIXED = struct.Struct("<BBHIQI")
JOINT_SIZE = 3 * 4 + 3 * 2  # bytes of one joint
NO_TEMPERATURE, NO_VOLTAGE = -32768, 65535  # on the wire; NaN here

_COUNTS = np.arange(65536)  # looked up in a table: 2 µs instead of 6 µs for the two vectors
_CELSIUS = np.where(_COUNTS == NO_TEMPERATURE % 65536, np.nan, _COUNTS.astype(np.uint16).view(np.int16) * 0.1)
_VOLTS = np.where(_COUNTS == NO_VOLTAGE, np.nan, _COUNTS * 0.01)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Board to host, last frame of a sample. A value that is not known is NaN."""

    TYPE: ClassVar[int] = 0x83

    mode: Mode
    faults: BoardFault
    configuration: int  # Configure.checksum in force; 0 without one
    echo: int  # stamp of the last valid Command [µs, host's clock]; 0 without one
    echo_age: int  # from the arrival of that Command to this sample [µs]
    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    torque: Array  # (n,) [N m]
    temperature: Array  # hottest place the board knows of each joint, in steps of 0.1 (n,) [°C]
    voltage: Array  # at the drive, in steps of 0.01 (n,) [V]
    joint_faults: NDArray[np.uint16]  # JointFault bits (n,)

    def pack(self) -> bytes:
        n = len(self.position)
        if n > MAX_JOINTS:
            raise FrameError(f"{n} joints; allowed: up to {MAX_JOINTS}")
        moving = np.array((self.position, self.velocity, self.torque), dtype="<f4")
        # fmin and fmax ignore NaN, so a value that is not known lands on its marker
        temperature = np.rint(np.fmin(np.fmax(10.0 * self.temperature, NO_TEMPERATURE), 32767)).astype("<i2")
        voltage = np.rint(np.fmax(np.fmin(100.0 * self.voltage, NO_VOLTAGE), 0)).astype("<u2")
        faults = self.joint_faults.astype("<u2")
        fixed = _FIXED.pack(self.mode, n, self.faults, self.configuration, self.echo, self.echo_age)
        return b"".join((fixed, moving.tobytes(), temperature.tobytes(), voltage.tobytes(), faults.tobytes()))

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload[: _FIXED.size], _FIXED.size)
        mode, n, faults, configuration, echo, echo_age = _FIXED.unpack_from(payload)
        check_size(payload, _FIXED.size + JOINT_SIZE * n)
        if n > MAX_JOINTS:
            raise FrameError(f"state of {n} joints; allowed: up to {MAX_JOINTS}")
        at = _FIXED.size
        position, velocity, torque = np.frombuffer(payload, "<f4", 3 * n, at).reshape(3, n).astype(float)
        counts = np.frombuffer(payload, "<u2", 3 * n, at + 12 * n).reshape(3, n)
        return cls(
            Mode(mode), BoardFault(faults), configuration, echo, echo_age,
            position, velocity, torque, _CELSIUS[counts[0]], _VOLTS[counts[1]], counts[2],
        )  # fmt: skip
