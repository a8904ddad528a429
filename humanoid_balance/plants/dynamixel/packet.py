"""Packets of Dynamixel Protocol 2.0: header, identifier, length, instruction, parameters, CRC-16; byte stuffing.

    FF FF FD 00 | id | length, 2 bytes, low first | instruction | parameters | CRC-16, low first

The length counts from the instruction to the end. Where FF FF FD appears between instruction and CRC, another FD is
stuffed behind it; length and CRC are those of the stuffed packet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from humanoid_balance.plants.dynamixel.crc import crc16

HEADER = b"\xff\xff\xfd\x00"
BROADCAST = 0xFE
MAX_ID = 0xFC
MAX_LENGTH = 1024  # largest value of the length field that is believed
FRONT = len(HEADER) + 3  # bytes in front of the instruction

_PATTERN = b"\xff\xff\xfd"


class Instruction(IntEnum):
    """First byte after the length."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REBOOT = 0x08
    STATUS = 0x55
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83
    FAST_SYNC_READ = 0x8A


def stuff(body: bytes) -> bytes:
    """``body`` is instruction and parameters."""
    return body.replace(_PATTERN, _PATTERN + b"\xfd")


def unstuff(body: bytes) -> bytes:
    """Takes the stuffed bytes away again."""
    return body.replace(_PATTERN + b"\xfd", _PATTERN)


def build(identifier: int, instruction: int, parameters: bytes) -> bytes:
    """A whole packet."""
    body = stuff(bytes((instruction,)) + parameters)
    return seal(head(identifier, len(body) + 2) + body)


def head(identifier: int, length: int) -> bytes:
    """Everything in front of the instruction."""
    if not (0 <= identifier <= MAX_ID or identifier == BROADCAST):
        raise ValueError(f"identifier {identifier}; allowed: 0 to {MAX_ID}, or {BROADCAST} for all")
    if length > MAX_LENGTH:
        raise ValueError(f"packet length {length}; allowed: up to {MAX_LENGTH}")
    return HEADER + bytes((identifier,)) + length.to_bytes(2, "little")


def seal(packet: bytes) -> bytes:
    """Append the CRC of all that stands in front of it."""
    return packet + crc16(packet).to_bytes(2, "little")


class Received(NamedTuple):
    """A packet whose CRC fits."""

    identifier: int
    instruction: int
    parameters: bytes  # without stuffing; of a status packet the first is the error byte
    raw: bytes  # as it came, header to CRC; a fast sync read is cut from this, for it is not stuffed


@dataclass(slots=True)
class ServoCounts:
    """What has come over the line since the decoder was made."""

    bytes: int = 0
    packets: int = 0
    skipped: int = 0  # bytes that belonged to no packet
    bad_crc: int = 0


class ServoDecoder:
    """Finds packets in a byte stream. Takes any bytes in pieces of any size, never raises, keeps a bounded rest."""

    def __init__(self) -> None:
        self.counts = ServoCounts()
        self._rest = bytearray()

    @property
    def pending(self) -> bytes:
        """Bytes of a packet that is not complete; after a time-out a fast sync read can be salvaged from here."""
        return bytes(self._rest)

    def clear(self) -> None:
        """Forget what is pending, as before a new instruction."""
        self.counts.skipped += len(self._rest)
        self._rest.clear()

    def feed(self, data: bytes) -> list[Received]:
        """All packets that end in ``data``, in order."""
        self.counts.bytes += len(data)
        rest = self._rest
        rest += data
        packets: list[Received] = []
        at = 0
        while True:
            at = self._header(at)
            if len(rest) - at < FRONT:
                break
            end = at + FRONT + int.from_bytes(rest[at + 5 : at + FRONT], "little")
            plausible = rest[at + 4] <= MAX_ID or rest[at + 4] == BROADCAST
            if not plausible or not FRONT + 3 <= end - at <= FRONT + MAX_LENGTH:
                at = self._skip(at, 1)
                continue
            if end > len(rest):
                break
            raw = bytes(rest[at:end])
            if crc16(raw[:-2]).to_bytes(2, "little") != raw[-2:]:
                self.counts.bad_crc += 1
                at = self._skip(at, 1)
                continue
            packets.append(Received(raw[4], raw[FRONT], unstuff(raw[FRONT:-2])[1:], raw))
            self.counts.packets += 1
            at = end
        del rest[:at]
        return packets

    def _header(self, at: int) -> int:
        """Where the next header begins; without one, where it could begin in what is still to come."""
        rest = self._rest
        found = rest.find(HEADER, at)
        if found < 0:
            found = max(at, len(rest) - len(HEADER) + 1)
            while found < len(rest) and not HEADER.startswith(bytes(rest[found:])):
                found += 1
        return self._skip(at, found - at)

    def _skip(self, at: int, count: int) -> int:
        self.counts.skipped += count
        return at + count
