"""A fault with its evidence, so that a person can be told which joint, which value, which limit."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Self

from humanoid_balance.plants.protocol.packet import check_size
from humanoid_balance.plants.protocol.vocabulary import FaultCode

BOARD = 255  # in the place of a joint's index: the board itself

_FAULT = struct.Struct("<HBxff")


@dataclass(frozen=True, slots=True)
class Fault:
    """Board to host: sent when a fault begins and ten times a second while it lasts."""

    TYPE: ClassVar[int] = 0x86

    code: int  # a FaultCode; kept as a number, so that a newer board's fault is not lost
    joint: int  # index, or BOARD
    value: float  # what was measured, in the unit of the limit
    limit: float  # what it should have kept

    def pack(self) -> bytes:
        return _FAULT.pack(self.code, self.joint, self.value, self.limit)

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        check_size(payload, _FAULT.size)
        return cls(*_FAULT.unpack(payload))

    @property
    def name(self) -> str:
        """Of the code, in lower case; a code that is not known keeps its number."""
        try:
            return FaultCode(self.code).name.lower()
        except ValueError:
            return f"fault_{self.code}"


def fault_names(bits: int, first: int) -> tuple[str, ...]:
    """Names of set fault bits; ``first`` is the code of bit 0: 0 for a joint, 16 for a board."""
    return tuple(Fault(first + bit, BOARD, 0.0, 0.0).name for bit in range(16) if bits >> bit & 1)
