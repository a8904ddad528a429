"""Disturbed lines do what they are asked to, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board import Disturbance, Line

FRAME = b"abcdefgh\0"


@given(pieces=st.lists(st.binary(max_size=30), max_size=20))
def test_a_clean_line_delivers_everything_at_once(pieces: list[bytes]) -> None:
    line = Line(Disturbance())
    for piece in pieces:
        line.send(piece, 1.0)
    assert line.due(1.0) == b"".join(pieces)


def through(disturbance: Disturbance, count: int) -> list[bytes]:
    line = Line(disturbance, seed=1)
    out = b""
    for k in range(count):
        line.send(FRAME, 0.01 * k)
        out += line.due(0.01 * k)
    return (out + line.due(1e9)).split(b"\0")


def test_frames_are_lost_with_the_given_probability() -> None:
    left = through(Disturbance(frame_loss=0.1), 5000)[:-1]
    assert 4350 < len(left) < 4650 and set(left) == {FRAME[:-1]}


def test_bits_flip_with_the_given_probability() -> None:
    line = Line(Disturbance(bit_errors=0.01), seed=2)
    frame = b"\xaa" * 1000 + b"\0"
    flips = 0
    for k in range(50):
        line.send(frame, float(k))
        got = line.due(float(k))
        assert len(got) == len(frame)
        flips += sum((a ^ b).bit_count() for a, b in zip(got, frame, strict=True))
    assert flips == pytest.approx(50 * 8008 * 0.01, rel=0.1)


def test_bytes_are_lost_and_repeated() -> None:
    sent = 2000 * len(FRAME)
    lost = sum(map(len, through(Disturbance(lost_bytes=0.05), 2000))) + 2000
    assert lost < sent
    repeated = sum(map(len, through(Disturbance(repeated_bytes=0.05), 2000))) + 2000
    assert repeated > sent


def test_delay_and_jitter_keep_the_order() -> None:
    line = Line(Disturbance(delay=0.005, jitter=0.002), seed=3)
    for k in range(200):
        line.send(bytes((k + 1,)) + b"\0", 0.0001 * k)
    assert line.due(0.0049) == b""
    got = b""
    for k in range(400):
        got += line.due(0.0001 * k)
    assert [frame[0] for frame in got.split(b"\0")[:-1]] == list(range(1, 201))
    assert line.next_due() is None


def test_a_stall_keeps_bytes_and_silence_loses_them() -> None:
    line = Line(Disturbance())
    line.blocked_until = 1.0
    line.send(FRAME, 0.5)
    assert line.due(0.9) == b"" and line.due(1.0) == FRAME
    line.silent_until = 2.0
    line.send(FRAME, 1.5)
    assert line.due(3.0) == b""


@pytest.mark.parametrize("key, value", [("frame_loss", 1.5), ("bit_errors", -0.1), ("jitter", 11.0)])
def test_impossible_disturbances_are_refused(key: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{key.replace('_', '-')} is .*; allowed"):
        Disturbance(**{key: value})
