"""What the host asks of the drives: command, emergency stop, reset."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from humanoid_balance.plants.protocol.packet import FrameError, check_size
from humanoid_balance.plants.protocol.vocabulary import COMMANDED_MODES, MAX_JOINTS, Mode
from humanoid_balance.types import Array

_FIXED = struct.Struct("<BBxxQ")
ROWS = {Mode.DISARMED: 0, Mode.DAMPING: 0, Mode.TORQUE: 1, Mode.IMPEDANCE: 5}  # joint vectors that follow


@dataclass(frozen=True, slots=True, eq=False)
class WireCommand:
    """Host to board: a mode and the joint vectors it needs, one row each.

    TORQUE has the row torque [N m]; IMPEDANCE has torque, position [rad], velocity [rad/s], stiffness [N m/rad] and
    damping [N m s/rad], of which the drive makes torque + stiffness (position - q) + damping (velocity - qd). DISARMED
    and DAMPING have none.
    """

    TYPE: ClassVar[int] = 0x03

    mode: Mode
    answers: int  # stamp of the newest State of this board [µs, board's clock]
    joints: Array  # (rows, n)

    @staticmethod
    def idle(mode: Mode, answers: int, n: int) -> WireCommand:
        """DISARMED or DAMPING for ``n`` joints."""
        return WireCommand(mode, answers, np.empty((0, n)))

    def pack(self) -> bytes:
        rows, n = self.joints.shape
        if self.mode not in COMMANDED_MODES or rows != ROWS[self.mode] or n > MAX_JOINTS:
            raise FrameError(f"{self.mode.name} with {rows} rows of {n} joints")
        return _FIXED.pack(self.mode, n, self.answers) + self.joints.astype("<f4").tobytes()

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload[: _FIXED.size], _FIXED.size)
        number, n, answers = _FIXED.unpack_from(payload)
        mode = Mode(number)
        if mode not in COMMANDED_MODES or n > MAX_JOINTS:
            raise FrameError(f"command: {mode.name} for {n} joints")
        rows = ROWS[mode]
        check_size(payload, _FIXED.size + 4 * rows * n)
        return cls(mode, answers, np.frombuffer(payload, "<f4", rows * n, _FIXED.size).reshape(rows, n).astype(float))


@dataclass(frozen=True, slots=True)
class WireReset:
    """Host to board: leave STOPPED for OFF, if the cause is gone."""

    TYPE: ClassVar[int] = 0x04

    def pack(self) -> bytes:
        return b""

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, 0)
        return cls()


@dataclass(frozen=True, slots=True)
class EmergencyStop:
    """Host to board: brake, then switch off, latched. Obeyed in every mode and from every protocol version."""

    TYPE: ClassVar[int] = 0x05

    def pack(self) -> bytes:
        return b""

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, 0)
        return cls()
