"""Sensors that are not joints: the inertial unit and the soles."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from humanoid_balance.plants.protocol.packet import FrameError, check_size
from humanoid_balance.types import LEFT, RIGHT, Array

_IMU = struct.Struct("<6f")
_WRENCH = struct.Struct("<Bxxx6f")


@dataclass(frozen=True, slots=True, eq=False)
class Imu:
    """Board to host: one sample of the inertial unit, in its own frame."""

    TYPE: ClassVar[int] = 0x84

    gyro: Array  # (3,) [rad/s]
    acceleration: Array  # specific force; at rest it points up with 9.81 (3,) [m/s²]

    def pack(self) -> bytes:
        return _IMU.pack(*self.gyro, *self.acceleration)

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _IMU.size)
        values = np.array(_IMU.unpack(payload))
        return cls(values[:3], values[3:])


@dataclass(frozen=True, slots=True, eq=False)
class FootWrench:
    """Board to host: wrench of the ground on one foot, in and about the sole frame."""

    TYPE: ClassVar[int] = 0x85

    side: int  # LEFT or RIGHT
    wrench: Array  # force, moment (6,) [N, N m]

    def pack(self) -> bytes:
        return _WRENCH.pack(self.side, *self.wrench)

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _WRENCH.size)
        side, *values = _WRENCH.unpack(payload)
        if side not in (LEFT, RIGHT):
            raise FrameError(f"foot {side}; allowed: {LEFT} left, {RIGHT} right")
        return cls(side, np.array(values))
