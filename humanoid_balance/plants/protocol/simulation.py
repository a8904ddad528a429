"""Frames that only a simulated board knows: a push on the body, and the truth about it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from humanoid_balance.plants.protocol.packet import FrameError, check_size, pack_name, unpack_name
from humanoid_balance.plants.protocol.vocabulary import NAME_SIZE
from humanoid_balance.types import Array

_PUSH = struct.Struct(f"<Q{NAME_SIZE}s9f")
_TRUTH = struct.Struct("<B7x19d")


@dataclass(frozen=True, slots=True, eq=False)
class WirePush:
    """Host to simulator: a wrench on one link, from now until a time; the next one for the link replaces it."""

    TYPE: ClassVar[int] = 0x06

    body: str  # link of the URDF
    until: int  # simulated time at which it ends [µs]
    point: Array  # where it acts, in the frame of the link (3,) [m]
    force: Array  # world axes (3,) [N]
    moment: Array  # world axes (3,) [N m]

    def pack(self) -> bytes:
        return _PUSH.pack(self.until, pack_name(self.body, NAME_SIZE), *self.point, *self.force, *self.moment)

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _PUSH.size)
        until, body, *values = _PUSH.unpack(payload)
        point, force, moment = np.array(values).reshape(3, 3)
        return cls(unpack_name(body), until, point, force, moment)


@dataclass(frozen=True, slots=True, eq=False)
class WireTruth:
    """Simulator to host, for the recorder only: what no robot can measure. World axes; base is the URDF's root link."""

    TYPE: ClassVar[int] = 0x87

    touching: bool  # a part other than the feet touches the ground
    base_position: Array  # (3,) [m]
    base_quaternion: Array  # x y z w (4,)
    base_velocity: Array  # of the link's origin (3,) [m/s]
    base_angular_velocity: Array  # (3,) [rad/s]
    com: Array  # (3,) [m]
    com_velocity: Array  # (3,) [m/s]

    def pack(self) -> bytes:
        return _TRUTH.pack(
            self.touching, *self.base_position, *self.base_quaternion, *self.base_velocity,
            *self.base_angular_velocity, *self.com, *self.com_velocity,
        )  # fmt: skip

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _TRUTH.size)
        touching, *values = _TRUTH.unpack(payload)
        if touching > 1:
            raise FrameError(f"touching {touching}; allowed: 0 or 1")
        v = np.array(values)
        return cls(bool(touching), v[0:3], v[3:7], v[7:10], v[10:13], v[13:16], v[16:19])
