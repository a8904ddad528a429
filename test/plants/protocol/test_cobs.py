"""Byte stuffing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.plants.protocol import cobs

LUMPY = st.lists(st.sampled_from([b"\0", b"\0" * 5, b"\x01", b"\xff" * 3, b"a" * 253, b"b" * 254, b"c" * 255])).map(
    b"".join
)


@given(st.binary(max_size=700) | LUMPY)
def test_what_is_stuffed_comes_back(data: bytes) -> None:
    stuffed = cobs.encode(data)
    assert cobs.decode(stuffed) == data
    assert 0 not in stuffed
    assert len(stuffed) <= cobs.encoded_size(len(data))


@pytest.mark.parametrize(
    ("plain", "stuffed"),
    [
        ("", "01"),
        ("00", "01 01"),
        ("00 00", "01 01 01"),
        ("11 22 00 33", "03 11 22 02 33"),
        ("11 00 00 00", "02 11 01 01 01"),
        ("11" * 254 + "00", "ff" + "11" * 254 + "01 01"),
        ("11" * 255, "ff" + "11" * 254 + "02 11"),
    ],
)
def test_examples_of_the_definition(plain: str, stuffed: str) -> None:
    assert cobs.encode(bytes.fromhex(plain)) == bytes.fromhex(stuffed)
    assert cobs.decode(bytes.fromhex(stuffed)) == bytes.fromhex(plain)


def test_a_full_last_block_needs_no_empty_one_behind_it() -> None:
    assert cobs.decode(b"\xff" + b"a" * 254) == b"a" * 254


@given(st.binary(max_size=700) | LUMPY)
def test_other_bytes_are_refused_or_decoded_but_nothing_else_happens(data: bytes) -> None:
    try:
        plain = cobs.decode(data)
    except cobs.CobsError:
        return
    assert len(plain) < len(data)
