"""Instruction packets that the host sends, and the status packets that servos answer with.

The servo's side (``parse_*`` of instructions, ``status``, ``fast_status``) is what a simulated servo needs; both sides
are tested against the public ``dynamixel-sdk``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from humanoid_balance.plants.dynamixel.crc import crc16
from humanoid_balance.plants.dynamixel.packet import BROADCAST, FRONT, HEADER, Instruction, Received, build, head

_RANGE = struct.Struct("<HH")  # address, length


class ServoStatus(NamedTuple):
    """Answer of one servo."""

    identifier: int
    error: int  # see faults.status_fault
    data: bytes


# ---- host ----


def ping(identifier: int) -> bytes:
    """Answered with model number (2 bytes) and firmware version (1 byte); BROADCAST: by everyone in turn."""
    return build(identifier, Instruction.PING, b"")


def reboot(identifier: int) -> bytes:
    """Restart a servo: the only way out of a hardware error."""
    return build(identifier, Instruction.REBOOT, b"")


def read(identifier: int, address: int, length: int) -> bytes:
    """Answered with ``length`` bytes of the control table."""
    return build(identifier, Instruction.READ, _RANGE.pack(address, length))


def write(identifier: int, address: int, data: bytes) -> bytes:
    """Answered with an empty status."""
    return build(identifier, Instruction.WRITE, address.to_bytes(2, "little") + data)


def sync_read(address: int, length: int, identifiers: Sequence[int]) -> bytes:
    """Answered with one status of each servo in this order."""
    return build(BROADCAST, Instruction.SYNC_READ, _RANGE.pack(address, length) + bytes(identifiers))


def fast_sync_read(address: int, length: int, identifiers: Sequence[int]) -> bytes:
    """Answered with a single status to which each servo adds its part; see ``fast_blocks``."""
    return build(BROADCAST, Instruction.FAST_SYNC_READ, _RANGE.pack(address, length) + bytes(identifiers))


def sync_write(address: int, length: int, data: Mapping[int, bytes]) -> bytes:
    """``length`` bytes for each identifier; not answered."""
    for identifier, value in data.items():
        if len(value) != length:
            raise ValueError(f"servo {identifier}: {len(value)} bytes; allowed: {length}")
    parts = b"".join(bytes((identifier,)) + value for identifier, value in data.items())
    return build(BROADCAST, Instruction.SYNC_WRITE, _RANGE.pack(address, length) + parts)


def parse_status(packet: Received) -> ServoStatus | None:
    """The status in a packet; None if it is something else, such as the echo of an instruction."""
    if packet.instruction != Instruction.STATUS or not packet.parameters:
        return None
    return ServoStatus(packet.identifier, packet.parameters[0], packet.parameters[1:])


def fast_blocks(raw: bytes, length: int) -> list[ServoStatus]:
    """Parts of a fast sync read, each of ``length`` bytes of data.

    Behind the header every servo adds error, identifier, data and the CRC of everything so far, nothing stuffed. What
    came before a servo that kept silent, or before a disturbance, is still good: parts are returned up to there.
    """
    blocks: list[ServoStatus] = []
    if raw[:5] != HEADER + bytes((BROADCAST,)) or raw[FRONT : FRONT + 1] != bytes((Instruction.STATUS,)):
        return blocks
    at, crc = FRONT + 1, crc16(raw[: FRONT + 1])
    while at + length + 4 <= len(raw):
        end = at + 2 + length
        crc = crc16(raw[at:end], crc)
        if raw[end : end + 2] != crc.to_bytes(2, "little"):
            break
        blocks.append(ServoStatus(raw[at + 1], raw[at], raw[at + 2 : end]))
        crc = crc16(raw[end : end + 2], crc)
        at = end + 2
    return blocks


# ---- servo ----


def status(identifier: int, error: int, data: bytes) -> bytes:
    """Status packet of one servo."""
    return build(identifier, Instruction.STATUS, bytes((error,)) + data)


def fast_status(answers: Sequence[ServoStatus]) -> bytes:
    """The single status packet that the servos of a fast sync read write together."""
    length = 1 + sum(len(answer.data) + 4 for answer in answers)
    packet = head(BROADCAST, length) + bytes((Instruction.STATUS,))
    for answer in answers:
        packet += bytes((answer.error, answer.identifier)) + answer.data
        packet += crc16(packet).to_bytes(2, "little")
    return packet


def parse_range(parameters: bytes) -> tuple[int, int, bytes]:
    """Address, length and the rest: parameters of read, sync read, fast sync read and sync write."""
    address, length = _RANGE.unpack_from(parameters)
    return address, length, parameters[_RANGE.size :]


def parse_sync_write(parameters: bytes) -> tuple[int, dict[int, bytes]]:
    """Address, and the data for each identifier."""
    address, length, rest = parse_range(parameters)
    parts = [rest[i : i + 1 + length] for i in range(0, len(rest), 1 + length)]
    return address, {part[0]: part[1:] for part in parts}
