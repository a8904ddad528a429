"""From frames to a byte stream and back, over a line that loses, invents and repeats bytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from humanoid_balance.plants.protocol.cobs import CobsError
from humanoid_balance.plants.protocol.command import EmergencyStop, WireCommand, WireReset
from humanoid_balance.plants.protocol.fault import Fault
from humanoid_balance.plants.protocol.handshake import Configure, Identify, Identity, Joint
from humanoid_balance.plants.protocol.packet import MAX_STUFFED, CrcError, WireFrame, unwrap, wrap
from humanoid_balance.plants.protocol.sensors import FootWrench, Imu
from humanoid_balance.plants.protocol.simulation import WirePush, WireTruth
from humanoid_balance.plants.protocol.state import State
from humanoid_balance.plants.protocol.vocabulary import VERSION

_HOST: tuple[type[WireFrame], ...] = (Identify, Configure, WireCommand, WireReset, EmergencyStop, WirePush)
_BOARD: tuple[type[WireFrame], ...] = (Identity, Joint, State, Imu, FootWrench, Fault, WireTruth)
FROM_HOST: Mapping[int, type[WireFrame]] = {frame.TYPE: frame for frame in _HOST}  # what a board listens to
FROM_BOARD: Mapping[int, type[WireFrame]] = {frame.TYPE: frame for frame in _BOARD}  # what a host listens to
FRAMES: Mapping[int, type[WireFrame]] = {**FROM_HOST, **FROM_BOARD}


def _unpack(kind: type[WireFrame] | None, payload: bytes) -> WireFrame | None:
    """The frame, or None for an unknown type or values that its type does not allow."""
    try:
        return None if kind is None else kind.unpack(payload)
    except (ValueError, struct.error):
        return None


class Packet(NamedTuple):
    """A frame that arrived whole."""

    frame: WireFrame
    sequence: int
    stamp: int  # sender's clock [µs]


@dataclass(slots=True)
class Counts:
    """What has come over the line since the decoder was made."""

    bytes: int = 0
    frames: int = 0  # delivered
    lost: int = 0  # frames missing in the sequence
    repeated: int = 0  # same sequence number as the frame before; not delivered
    restarts: int = 0  # sequence went backwards: the sender began anew
    bad_framing: int = 0  # stuffing wrong or frame too long
    bad_crc: int = 0
    bad_payload: int = 0  # whole, but of an unknown type or with values its type does not allow
    wrong_way: int = 0  # a frame of our own direction: an echo, or two hosts on one line
    wrong_version: int = 0


class Sender:
    """Numbers and wraps the frames of one direction of one line."""

    def __init__(self) -> None:
        self._sequence = 0

    def encode(self, frame: WireFrame, stamp: int) -> bytes:
        """Bytes for the wire; ``stamp`` is the sender's clock [µs]."""
        data = wrap(frame.TYPE, self._sequence, stamp, frame.pack())
        self._sequence = (self._sequence + 1) & 0xFFFF
        return data


class Decoder:
    """Finds the frames in a byte stream. Takes any bytes in pieces of any size, never raises, keeps a bounded rest."""

    def __init__(self, expected: Mapping[int, type[WireFrame]]) -> None:
        self.counts = Counts()
        self.other_version: int | None = None  # last foreign protocol version seen on the line
        self._expected = expected
        self._rest = b""  # of a frame that has not ended yet
        self._overlong = False  # the present frame is too long; skip to its end
        self._sequence: int | None = None

    def feed(self, data: bytes) -> list[Packet]:
        """All frames that end in ``data``, in order."""
        self.counts.bytes += len(data)
        first, *others = data.split(b"\0")
        packets: list[Packet] = []
        if others:
            self._take(self._rest + first, packets)
            for stuffed in others[:-1]:
                self._take(stuffed, packets)
            self._rest = others[-1]
        elif not self._overlong:
            self._rest += first
        if len(self._rest) > MAX_STUFFED:
            self._rest, self._overlong = b"", True
        return packets

    def restart(self) -> None:
        """Another sender is at the line: nothing of the last one's place in a frame or in the sequence counts."""
        self._rest, self._overlong, self._sequence = b"", False, None

    @property
    def pending(self) -> int:
        """Bytes kept of a frame that has not ended; never more than the longest frame."""
        return len(self._rest)

    def _take(self, stuffed: bytes, packets: list[Packet]) -> None:
        counts = self.counts
        if self._overlong:
            self._overlong = False
            counts.bad_framing += 1
            return
        if not stuffed:
            return  # zeros between frames are allowed
        if len(stuffed) > MAX_STUFFED:
            counts.bad_framing += 1
            return
        try:
            body = unwrap(stuffed)
        except CobsError:
            counts.bad_framing += 1
            return
        except CrcError:
            counts.bad_crc += 1
            return
        if body.version != VERSION and not (body.type == EmergencyStop.TYPE and body.type in self._expected):
            counts.wrong_version += 1
            self.other_version = body.version
            return
        kind = self._expected.get(body.type)
        if kind is None and body.type in FRAMES:
            counts.wrong_way += 1
        elif self._in_sequence(body.sequence):
            frame = _unpack(kind, body.payload)
            if frame is None:
                counts.bad_payload += 1
                return
            counts.frames += 1
            packets.append(Packet(frame, body.sequence, body.stamp))

    def _in_sequence(self, sequence: int) -> bool:
        """Keep the books; False for a repeated frame."""
        last, self._sequence = self._sequence, sequence
        if last is None:
            return True
        skipped = (sequence - last - 1) & 0xFFFF
        if skipped == 0xFFFF:
            self.counts.repeated += 1
            return False
        if skipped < 0x8000:
            self.counts.lost += skipped
        else:
            self.counts.restarts += 1
        return True
