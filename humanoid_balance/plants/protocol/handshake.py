"""Who is there, which joints it has, and how the host wants it to work: identify, identity, joint, configure."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import ClassVar, Self

import numpy as np

from humanoid_balance.plants.protocol.packet import FrameError, check_size, pack_name, unpack_name
from humanoid_balance.plants.protocol.vocabulary import MAX_JOINTS, NAME_SIZE
from humanoid_balance.types import Array

UNIT_SI = 1  # rad, rad/s, N m at the joint; the only unit there is
FIRMWARE_SIZE = 20  # bytes of the firmware's commit hash

_IDENTITY = struct.Struct(f"<BBBxII{NAME_SIZE}s{FIRMWARE_SIZE}s")
_JOINT = struct.Struct(f"<BBBx{NAME_SIZE}s9f")
_CONFIGURE = struct.Struct("<IIBBxx")


class Sensors(IntFlag):
    """What a board has besides joints."""

    IMU = 1
    LEFT_FOOT = 2
    RIGHT_FOOT = 4


@dataclass(frozen=True, slots=True)
class Identify:
    """Host to board: say who you are. Answered by one Identity and then one Joint for each joint."""

    TYPE: ClassVar[int] = 0x01

    def pack(self) -> bytes:
        return b""

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, 0)
        return cls()


@dataclass(frozen=True, slots=True)
class Identity:
    """Board to host: name, firmware, number of joints, sensors."""

    TYPE: ClassVar[int] = 0x81

    name: str
    firmware: bytes  # commit hash of the firmware, 20 bytes
    joints: int
    sensors: Sensors
    simulator: bool  # knows Push, Truth and lock-step
    table: int  # check sum of the joint table, see table_hash
    period_min: int  # shortest state period the board can keep [µs]

    def pack(self) -> bytes:
        return _IDENTITY.pack(
            self.joints, self.sensors, self.simulator, self.table, self.period_min,
            pack_name(self.name, NAME_SIZE), self.firmware,
        )  # fmt: skip

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _IDENTITY.size)
        joints, sensors, simulator, table, period, name, firmware = _IDENTITY.unpack(payload)
        if joints > MAX_JOINTS or simulator > 1:
            raise FrameError(f"identity: {joints} joints, simulator {simulator}")
        return cls(unpack_name(name), firmware, joints, Sensors(sensors), bool(simulator), table, period)


@dataclass(frozen=True, slots=True)
class Joint:
    """Board to host: one row of the joint table."""

    TYPE: ClassVar[int] = 0x82

    index: int  # place in every joint vector of this board
    count: int  # joints of this board
    name: str
    lower: float  # [rad]
    upper: float  # [rad]
    velocity_limit: float  # [rad/s]
    torque_limit: float  # [N m]
    temperature_max: float  # [°C]
    voltage_min: float  # [V]
    voltage_max: float  # [V]
    position_scale: float  # one encoder count at the joint [rad]
    torque_scale: float  # one count of the torque or current measurement at the joint [N m]

    def pack(self) -> bytes:
        return _JOINT.pack(
            self.index, self.count, UNIT_SI, pack_name(self.name, NAME_SIZE),
            self.lower, self.upper, self.velocity_limit, self.torque_limit, self.temperature_max,
            self.voltage_min, self.voltage_max, self.position_scale, self.torque_scale,
        )  # fmt: skip

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _JOINT.size)
        index, count, unit, name, *values = _JOINT.unpack(payload)
        if not index < count <= MAX_JOINTS or unit != UNIT_SI:
            raise FrameError(f"joint {index} of {count}, unit {unit}")
        return cls(index, count, unpack_name(name), *values)


def table_hash(joints: Sequence[Joint]) -> int:
    """CRC-32 over the payloads of the joint frames in order of their index."""
    return zlib.crc32(b"".join(joint.pack() for joint in joints))


@dataclass(frozen=True, slots=True, eq=False)
class Configure:
    """Host to board: the joint table I know, the rate I want, limits that are at most yours.

    Accepted in UNCONFIGURED and DISARMED only; every State then carries ``checksum``.
    """

    TYPE: ClassVar[int] = 0x02

    table: int  # must equal the board's
    period: int  # between states [µs]; 0: one sample in answer to each Command, for half-duplex lines
    lockstep: bool  # simulators: stand still until a Command answers the State
    torque_limit: Array  # (n,) [N m]
    damping: Array  # with which the board brakes (n,) [N m s/rad]

    def pack(self) -> bytes:
        n = len(self.torque_limit)
        if n > MAX_JOINTS:
            raise FrameError(f"{n} joints; allowed: up to {MAX_JOINTS}")
        values = np.array((self.torque_limit, self.damping), dtype="<f4")
        return _CONFIGURE.pack(self.table, self.period, self.lockstep, n) + values.tobytes()

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload[: _CONFIGURE.size], _CONFIGURE.size)
        table, period, lockstep, n = _CONFIGURE.unpack_from(payload)
        check_size(payload, _CONFIGURE.size + 8 * n)
        if n > MAX_JOINTS or lockstep > 1:
            raise FrameError(f"configure: {n} joints, lock-step {lockstep}")
        torque_limit, damping = np.frombuffer(payload, "<f4", 2 * n, _CONFIGURE.size).reshape(2, n).astype(float)
        return cls(table, period, bool(lockstep), torque_limit, damping)

    @property
    def checksum(self) -> int:
        """CRC-32 of the payload: what State.configuration shows once the board has taken it."""
        return zlib.crc32(self.pack())
