"""The decoder against lines that lose, invent and repeat bytes."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.plants.protocol import (
    FROM_BOARD,
    FROM_HOST,
    Decoder,
    EmergencyStop,
    Identify,
    Imu,
    Mode,
    Packet,
    Sender,
    WireCommand,
    WireFrame,
    WireReset,
)
from humanoid_balance.plants.protocol import cobs as stuffing
from humanoid_balance.plants.protocol.packet import CRC, HEADER, MAX_STUFFED, wrap
from humanoid_balance.plants.protocol.vocabulary import VERSION


def imu(value: float) -> Imu:
    return Imu(np.full(3, value), np.full(3, value))


def send(count: int, first: int = 0) -> list[bytes]:
    """Frames of which each carries its number."""
    sender = Sender()
    return [sender.encode(imu(first + i), 1000 * i) for i in range(count)]


def numbers(packets: Iterable[Packet]) -> list[float]:
    return [packet.frame.gyro[0] for packet in packets]  # type: ignore[attr-defined]


PIECES = st.lists(st.binary(max_size=60) | st.sampled_from([b"\0", *send(4)]), max_size=20)


def test_every_frame_passes_the_wire(frames: tuple[WireFrame, ...]) -> None:
    for expected in (FROM_HOST, FROM_BOARD):
        sender, decoder = Sender(), Decoder(expected)
        sent = [frame for frame in frames if frame.TYPE in expected]
        packets = decoder.feed(b"".join(sender.encode(frame, 7 * i) for i, frame in enumerate(sent)))
        assert [packet.frame.pack() for packet in packets] == [frame.pack() for frame in sent]
        assert [packet.sequence for packet in packets] == list(range(len(sent)))
        assert [packet.stamp for packet in packets] == [7 * i for i in range(len(sent))]
        assert decoder.counts.frames == len(sent)


@given(PIECES)
def test_any_bytes_in_any_pieces_never_raise_and_give_only_frames_that_were_sent(pieces: list[bytes]) -> None:
    decoder = Decoder(FROM_BOARD)
    for piece in pieces:
        for packet in decoder.feed(piece):
            assert packet.frame.gyro[0] in range(4)  # type: ignore[attr-defined]
        assert decoder.pending <= MAX_STUFFED


@given(PIECES, st.integers(1, 17))
def test_the_size_of_the_pieces_does_not_matter(pieces: list[bytes], size: int) -> None:
    stream = b"".join(pieces)
    whole, parts = Decoder(FROM_BOARD), Decoder(FROM_BOARD)
    at_once = whole.feed(stream)
    bit_by_bit = [packet for i in range(0, len(stream), size) for packet in parts.feed(stream[i : i + size])]
    assert numbers(at_once) == numbers(bit_by_bit)
    assert whole.counts == parts.counts


@given(st.binary(max_size=300))
def test_after_garbage_the_second_frame_is_read(garbage: bytes) -> None:
    decoder = Decoder(FROM_BOARD)
    decoder.feed(garbage)
    assert numbers(decoder.feed(b"".join(send(2, first=10))))[-1] == 11


@given(st.binary(max_size=3000))
def test_a_zero_in_front_saves_the_first_frame_too(garbage: bytes) -> None:
    decoder = Decoder(FROM_BOARD)
    decoder.feed(garbage)
    assert numbers(decoder.feed(b"\0" + b"".join(send(2, first=10)))) == [10, 11]


@given(st.data())
def test_a_disturbed_frame_is_dropped_and_its_neighbours_are_not(data: st.DataObject) -> None:
    before, hit, after = send(3)
    flips = data.draw(st.lists(st.integers(0, 8 * (len(hit) - 1) - 1), min_size=1, max_size=40, unique=True))
    disturbed = bytearray(hit)
    for flip in flips:
        disturbed[flip // 8] ^= 1 << flip % 8
    decoder = Decoder(FROM_BOARD)
    assert numbers(decoder.feed(before + bytes(disturbed) + after)) == [0, 2]
    assert decoder.counts.lost == 1
    assert decoder.counts.bad_crc + decoder.counts.bad_framing >= 1


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_lost_frames_are_counted(arrives: list[bool]) -> None:
    decoder = Decoder(FROM_BOARD)
    sent = send(len(arrives) + 2)
    kept = [0, *(i + 1 for i, good in enumerate(arrives) if good), len(sent) - 1]
    assert numbers(decoder.feed(b"".join(sent[i] for i in kept))) == kept
    assert decoder.counts.lost == arrives.count(False)


def test_the_sequence_wraps_around_without_a_loss() -> None:
    decoder = Decoder(FROM_HOST)
    for sequence in (65533, 65534, 65535, 0, 1):
        assert len(decoder.feed(wrap(WireReset.TYPE, sequence, 0, b""))) == 1
    assert decoder.counts.lost == decoder.counts.restarts == 0


def test_a_repeated_frame_is_delivered_once() -> None:
    decoder = Decoder(FROM_BOARD)
    first, second = send(2)
    assert numbers(decoder.feed(first + first + second + second)) == [0, 1]
    assert decoder.counts.repeated == 2


def test_a_restarted_sender_is_heard_at_once() -> None:
    decoder = Decoder(FROM_BOARD)
    assert len(decoder.feed(b"".join(send(50)))) == 50
    assert len(decoder.feed(b"".join(send(3)))) == 3
    assert (decoder.counts.restarts, decoder.counts.lost) == (1, 0)


def foreign(kind: int, payload: bytes) -> bytes:
    body = HEADER.pack(VERSION + 1, kind, 0, 0) + payload
    return stuffing.encode(body + CRC.pack(zlib.crc32(body))) + b"\0"


def test_of_a_foreign_version_only_the_emergency_stop_is_heard() -> None:
    decoder = Decoder(FROM_HOST)
    assert decoder.feed(foreign(Identify.TYPE, b"")) == []
    assert (decoder.counts.wrong_version, decoder.other_version) == (1, VERSION + 1)
    (packet,) = decoder.feed(foreign(EmergencyStop.TYPE, b""))
    assert isinstance(packet.frame, EmergencyStop)
    host = Decoder(FROM_BOARD)
    assert host.feed(foreign(EmergencyStop.TYPE, b"")) == []


def test_an_echo_of_our_own_frames_is_counted_and_not_delivered() -> None:
    decoder = Decoder(FROM_BOARD)
    echo = Sender().encode(WireCommand.idle(Mode.DISARMED, 0, 3), 0)
    assert decoder.feed(echo + send(1)[0])[0].frame.TYPE == Imu.TYPE
    assert (decoder.counts.wrong_way, decoder.counts.lost) == (1, 0)


def test_unknown_types_and_bad_payloads_are_counted() -> None:
    decoder = Decoder(FROM_HOST)
    assert decoder.feed(wrap(0x77, 0, 0, b"") + wrap(WireReset.TYPE, 1, 0, b"x")) == []
    assert decoder.counts.bad_payload == 2


def test_a_stream_without_an_end_takes_no_memory() -> None:
    decoder = Decoder(FROM_BOARD)
    piece = b"\x55" * 4096
    tracemalloc.start()
    for _ in range(500):
        decoder.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
    assert decoder.pending == 0
    assert numbers(decoder.feed(b"\0" + send(1)[0])) == [0]
    assert decoder.counts.bad_framing == 1


def noise(random: np.random.Generator, size: int) -> bytes:
    """Plain random bytes."""
    return random.bytes(size)


def well_formed_noise(random: np.random.Generator, size: int) -> bytes:
    """Right stuffing, version and type, the rest random: only payload sizes and the CRC stand against it."""
    kinds, out, total = [*FROM_BOARD], [], 0
    while total < size:
        body = bytearray(random.bytes(int(random.integers(16, 80))))
        body[0], body[1] = VERSION, kinds[body[1] % len(kinds)]
        out.append(stuffing.encode(bytes(body)) + b"\0")
        total += len(out[-1])
    return b"".join(out)


def false_frames(make: Any, size: int) -> int:
    decoder, random = Decoder(FROM_BOARD), np.random.default_rng(1)
    found = 0
    while decoder.counts.bytes < size:
        found += len(decoder.feed(make(random, min(1 << 20, size))))
    assert decoder.counts.frames == found
    return found


@pytest.mark.parametrize("make", [noise, well_formed_noise])
def test_a_million_random_bytes_hold_no_frame(make: Any) -> None:
    assert false_frames(make, 10**6) == 0


@pytest.mark.slow  # python -m pytest test/plants/protocol/test_stream.py -m slow
@pytest.mark.parametrize("make", [noise, well_formed_noise])
def test_a_hundred_million_random_bytes_hold_no_frame(make: Any) -> None:
    assert false_frames(make, 10**8) == 0
