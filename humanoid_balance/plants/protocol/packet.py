"""The envelope around every frame: header, payload, CRC-32, stuffed, between two zero bytes."""

from __future__ import annotations

import struct
import zlib
from typing import ClassVar, NamedTuple, Protocol, Self

from humanoid_balance.plants.protocol import cobs
from humanoid_balance.plants.protocol.vocabulary import MAX_JOINTS, VERSION

HEADER = struct.Struct("<BBHQ")  # version, type, sequence, stamp [µs]
CRC = struct.Struct("<I")
MAX_PAYLOAD = 12 + 5 * 4 * MAX_JOINTS  # an impedance command for MAX_JOINTS
MAX_BODY = HEADER.size + MAX_PAYLOAD + CRC.size
MAX_STUFFED = cobs.encoded_size(MAX_BODY)


class FrameError(ValueError):
    """A payload that its frame type does not allow."""


class WireFrame(Protocol):
    """What the envelope knows of a frame: its type number and its payload."""

    TYPE: ClassVar[int]

    def pack(self) -> bytes:
        """The payload."""
        ...

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        """The frame in a payload; raises ValueError on what the type does not allow."""
        ...


class Opened(NamedTuple):
    """An opened envelope."""

    version: int
    type: int
    sequence: int  # 0..65535
    stamp: int  # sender's clock [µs]
    payload: bytes


class CrcError(ValueError):
    """The check sum does not fit, or the body is too short to have one."""


def wrap(kind: int, sequence: int, stamp: int, payload: bytes) -> bytes:
    """Bytes for the wire: a zero that ends whatever noise came before, the stuffed body, the closing zero."""
    if len(payload) > MAX_PAYLOAD:
        raise FrameError(f"payload of {len(payload)} bytes; allowed: up to {MAX_PAYLOAD}")
    body = HEADER.pack(VERSION, kind, sequence, stamp) + payload
    return b"\0" + cobs.encode(body + CRC.pack(zlib.crc32(body))) + b"\0"


def unwrap(stuffed: bytes) -> Opened:
    """Open what lay between two zero bytes; raises CobsError or CrcError."""
    body = cobs.decode(stuffed)
    end = len(body) - CRC.size
    if end < HEADER.size or CRC.unpack_from(body, end)[0] != zlib.crc32(body[:end]):
        raise CrcError("check sum")
    version, kind, sequence, stamp = HEADER.unpack_from(body)
    return Opened(version, kind, sequence, stamp, body[HEADER.size : end])


def wire_size(payload: int) -> int:
    """The most bytes on the wire for a payload of this many bytes, both zeros included."""
    return cobs.encoded_size(HEADER.size + payload + CRC.size) + 2


def pack_name(name: str, size: int) -> bytes:
    """A name as ASCII in ``size`` bytes, at least one zero behind it."""
    if not name.isascii() or not name.isprintable() or len(name) >= size:
        raise FrameError(f"name {name!r}; allowed: up to {size - 1} printable ASCII characters")
    return name.encode("ascii").ljust(size, b"\0")


def unpack_name(raw: bytes) -> str:
    """The name in front of the first zero."""
    name, zero, rest = raw.partition(b"\0")
    text = name.decode("ascii")
    if not zero or rest.strip(b"\0") or not text.isprintable():
        raise FrameError("name: printable ASCII, then zeros")
    return text


def check_size(payload: bytes, size: int) -> None:
    """A payload is exactly as long as its type and joint count say."""
    if len(payload) != size:
        raise FrameError(f"payload of {len(payload)} bytes; allowed: {size}")
