"""Packets without the SDK: published examples, stuffing, and a decoder for bad lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.plants.dynamixel import (
    BROADCAST,
    ServoDecoder,
    ServoStatus,
    fast_blocks,
    fast_sync_read,
    parse_status,
    ping,
    read,
    reboot,
    sync_read,
    sync_write,
    write,
)
from humanoid_balance.plants.dynamixel.crc import crc16
from humanoid_balance.plants.dynamixel.instructions import fast_status, parse_range, parse_sync_write, status
from humanoid_balance.plants.dynamixel.packet import FRONT, MAX_LENGTH, build, stuff, unstuff

IDENTIFIER = st.integers(0, 252)
NASTY = st.lists(st.sampled_from([b"\xff", b"\xff\xff\xfd", b"\xfd", b"\0", b"a"]), max_size=30).map(b"".join)
DATA = st.binary(max_size=40) | NASTY
FAST = [ServoStatus(3, 0, b"\xa6\0\0\0"), ServoStatus(7, 0, b"\x1f\x08\0\0"), ServoStatus(4, 0, b"\xff\x03\0\0")]


@pytest.mark.parametrize(
    ("packet", "published"),
    [
        (ping(1), "ff ff fd 00 01 03 00 01 19 4e"),
        (ping(BROADCAST), "ff ff fd 00 fe 03 00 01 31 42"),
        (reboot(1), "ff ff fd 00 01 03 00 08 2f 4e"),
        (read(1, 132, 4), "ff ff fd 00 01 07 00 02 84 00 04 00 1d 15"),
        (write(1, 116, b"\0\2\0\0"), "ff ff fd 00 01 09 00 03 74 00 00 02 00 00 ca 89"),
        (sync_read(132, 4, [1, 2]), "ff ff fd 00 fe 09 00 82 84 00 04 00 01 02 ce fa"),
        (
            sync_write(116, 4, {1: b"\x96\0\0\0", 2: b"\xaa\0\0\0"}),
            "ff ff fd 00 fe 11 00 83 74 00 04 00 01 96 00 00 00 02 aa 00 00 00 82 87",
        ),
        (fast_sync_read(132, 4, [3, 7, 4]), "ff ff fd 00 fe 0a 00 8a 84 00 04 00 03 07 04 20 f2"),
        (status(1, 0, b"\x06\x04\x26"), "ff ff fd 00 01 07 00 55 00 06 04 26 65 5d"),
        (status(1, 0, b"\xa6\0\0\0"), "ff ff fd 00 01 08 00 55 00 a6 00 00 00 8c c0"),
        (
            fast_status(FAST),
            "ff ff fd 00 fe 19 00 55 00 03 a6 00 00 00 84 08 00 07 1f 08 00 00 16 ca 00 04 ff 03 00 00 d1 9e",
        ),
    ],
)
def test_the_examples_that_the_maker_publishes(packet: bytes, published: str) -> None:
    assert packet.hex(" ") == published


@given(DATA)
def test_stuffed_bytes_hold_no_header_and_come_back(data: bytes) -> None:
    assert b"\xff\xff\xfd\x00" not in stuff(data)
    assert unstuff(stuff(data)) == data


@given(IDENTIFIER, st.integers(0, 255), DATA)
def test_a_status_passes_the_line(identifier: int, error: int, data: bytes) -> None:
    (packet,) = ServoDecoder().feed(status(identifier, error, data))
    assert parse_status(packet) == ServoStatus(identifier, error, data)


@given(st.dictionaries(IDENTIFIER, st.binary(min_size=3, max_size=3), max_size=30))
def test_the_servo_side_reads_a_sync_write(data: dict[int, bytes]) -> None:
    (packet,) = ServoDecoder().feed(sync_write(102, 3, data))
    assert parse_sync_write(packet.parameters) == (102, data)
    assert parse_status(packet) is None


def test_the_servo_side_reads_a_fast_sync_read() -> None:
    (packet,) = ServoDecoder().feed(fast_sync_read(126, 10, [5, 6]))
    assert parse_range(packet.parameters) == (126, 10, b"\5\6")


@given(
    st.lists(st.tuples(IDENTIFIER, st.integers(0, 255), st.binary(min_size=10, max_size=10)), min_size=1, max_size=20)
)
def test_a_fast_sync_read_passes_the_line(answers: list[tuple[int, int, bytes]]) -> None:
    expected = [ServoStatus(*answer) for answer in answers]
    (packet,) = ServoDecoder().feed(fast_status(expected))
    assert packet.identifier == BROADCAST
    assert fast_blocks(packet.raw, 10) == expected


def test_what_came_before_a_silent_servo_is_salvaged() -> None:
    whole = fast_status(FAST)
    decoder = ServoDecoder()
    assert decoder.feed(whole[:-6]) == []
    assert fast_blocks(decoder.pending, 4) == FAST[:2]
    disturbed = bytearray(whole)
    disturbed[18] ^= 1
    assert fast_blocks(bytes(disturbed), 4) == FAST[:1]
    assert fast_blocks(b"", 4) == []
    assert fast_blocks(status(1, 0, b"abcd"), 4) == []


PIECES = st.lists(DATA | st.sampled_from([ping(1), status(2, 0, b"\xff\xff\xfd"), b"\xff\xff\xfd\x00\x01\xff\xff"]))


@given(PIECES, st.integers(1, 9))
def test_any_bytes_in_any_pieces_never_raise_and_are_all_accounted_for(pieces: list[bytes], size: int) -> None:
    stream = b"".join(pieces)
    whole, parts = ServoDecoder(), ServoDecoder()
    packets = whole.feed(stream)
    assert packets == [packet for i in range(0, len(stream), size) for packet in parts.feed(stream[i : i + size])]
    assert whole.counts == parts.counts
    counts = whole.counts
    assert counts.bytes == len(stream)
    assert counts.skipped + sum(len(packet.raw) for packet in packets) + len(whole.pending) == len(stream)
    assert len(whole.pending) < FRONT + MAX_LENGTH


@given(st.data())
def test_a_disturbed_packet_is_dropped_and_the_next_is_read(data: st.DataObject) -> None:
    good = status(1, 0, b"abcdefgh")
    bit = data.draw(st.integers(8 * FRONT, 8 * len(good) - 1))
    bad = bytearray(good)
    bad[bit // 8] ^= 1 << bit % 8
    decoder = ServoDecoder()
    packets = decoder.feed(bytes(bad) + good)
    assert [packet.raw for packet in packets] == [good]


def test_noise_fills_no_memory() -> None:
    decoder, random = ServoDecoder(), np.random.default_rng(0)
    for _ in range(100):
        decoder.feed(random.integers(0xFC, 0x100, 5000, dtype=np.uint8).tobytes())
        assert len(decoder.pending) < FRONT + MAX_LENGTH
    decoder.clear()
    assert decoder.pending == b""
    assert len(decoder.feed(ping(1))) == 1


def test_the_crc_can_be_continued() -> None:
    assert crc16(b"abcdef") == crc16(b"def", crc16(b"abc"))


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="identifier 253"):
        ping(253)
    with pytest.raises(ValueError, match="length 1040"):
        build(1, 3, bytes(1037))
    with pytest.raises(ValueError, match="servo 4: 1 bytes; allowed: 2"):
        sync_write(102, 2, {3: b"ab", 4: b"a"})
