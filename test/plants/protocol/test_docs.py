"""docs/protocol.md says what the code does: every table, every example, the C code."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.plants.protocol import (
    BoardFault,
    EmergencyStop,
    FaultCode,
    Joint,
    JointFault,
    Mode,
    State,
    WireCommand,
    WireFrame,
    cobs,
    table_hash,
)
from humanoid_balance.plants.protocol import bandwidth as sums
from humanoid_balance.plants.protocol.board import TRANSITIONS
from humanoid_balance.plants.protocol.command import ROWS
from humanoid_balance.plants.protocol.packet import HEADER, MAX_BODY, MAX_STUFFED, wrap
from humanoid_balance.plants.protocol.stream import FRAMES, FROM_HOST
from humanoid_balance.plants.protocol.vocabulary import BRAKING_MODES, JOINT_WARNINGS, POWER_OFF, WATCHDOG

PAGE = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
SIZES = {"u8": 1, "u16": 2, "i16": 2, "u32": 4, "f32": 4, "u64": 8, "f64": 8, "char": 1}


def section(title: str) -> str:
    """Text below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def rows(text: str) -> list[list[str]]:
    """Cells of the first Markdown table in a text, without its head."""
    table = re.search(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert table
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table[0].splitlines()[2:]]


def evaluate(expression: str, n: int) -> int:
    """Offsets such as ``20 + 12 n``."""
    return sum(int(term.split()[0]) * (n if term.endswith("n") else 1) for term in expression.split("+"))


def field_size(kind: str, n: int) -> int:
    name, _, count = kind.partition("[")
    count = count.rstrip("]")
    return SIZES[name] * (1 if not count else n if count == "n" else int(count))


def example(name: str, part: str) -> bytes:
    found = re.search(rf"```hex {name} {part}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return bytes.fromhex(found[1])


def test_the_list_of_frames_is_complete_and_has_the_right_sizes(frames: tuple[WireFrame, ...]) -> None:
    listed = {
        int(kind, 16): (re.sub(r"\[(\w+)].*", r"\1", name), way, size)
        for kind, name, way, size in rows(section("Frames"))
    }
    assert {kind: name for kind, (name, _, _) in listed.items()} == {k: page_name(frame) for k, frame in FRAMES.items()}
    for frame in frames:
        _, way, size = listed[frame.TYPE]
        assert way.startswith("host →") == (frame.TYPE in FROM_HOST)
        assert len(frame.pack()) == evaluate(re.split(" or |, ", size)[-1], n=2)


def page_name(kind: type[WireFrame]) -> str:
    """The page has no other commands, so it needs no prefix."""
    return kind.__name__.removeprefix("Wire")


def test_the_fields_of_every_payload_add_up(frames: tuple[WireFrame, ...]) -> None:
    for frame in frames:
        text = section(f"0x{frame.TYPE:02x} {type(frame).__name__.removeprefix('Wire')}")
        if not frame.pack():
            assert "No payload" in text
            continue
        at = 0
        for offset, kind, _, _ in rows(text):
            assert evaluate(offset, n=2) == at, f"{type(frame).__name__.removeprefix('Wire')} {offset}"
            at += field_size(kind, n=2)
        assert at == len(frame.pack()), page_name(type(frame))


def test_the_fields_of_the_header_add_up() -> None:
    fields = rows(section("Header"))
    assert [int(offset) for offset, *_ in fields] == [0, 1, 2, 4]
    assert sum(field_size(kind, 0) for _, kind, _, _ in fields) == HEADER.size == 12
    assert f"{MAX_BODY} bytes of body, {MAX_STUFFED + 2} on the wire" in PAGE


def test_modes_and_transitions_are_those_of_the_code() -> None:
    text = section("Modes of a board")
    modes = rows(text)
    assert {name: int(number) for number, name, _, _ in modes} == {mode.name: mode.value for mode in Mode}
    assert {name for _, name, drives, _ in modes if drives == "brake"} == {mode.name for mode in BRAKING_MODES}
    table = rows(text[text.index("| present mode") :])
    wanted = list(ROWS)
    for name, *cells in table:
        given = {mode: Mode[cell] for mode, cell in zip(wanted, cells, strict=True) if cell != "–"}
        assert given == TRANSITIONS[Mode[name]], name
    assert len(table) == len(Mode)
    assert (WATCHDOG, POWER_OFF) == (20_000, 500_000)


def test_faults_are_those_of_the_code() -> None:
    table = rows(section("Faults"))
    assert {name: int(code) for code, name, _, _ in table} == {code.name: code.value for code in FaultCode}
    for code, name, owner, board in table:
        assert owner == ("joint" if int(code) < 16 else "board")
        if owner == "joint":
            assert (board == "warns") == (JointFault[name] in JOINT_WARNINGS)


def test_the_worked_examples_are_what_the_code_sends() -> None:
    state = State(
        Mode.TORQUE, BoardFault(0), 0x1234ABCD, 4_999_000, 350, np.array([0.25, -1.0]), np.array([0.0, 0.5]),
        np.array([12.5, -3.0]), np.array([36.5, 41.0]), np.array([47.85, 47.9]),
        np.array([0, JointFault.DERATED], np.uint16),
    )  # fmt: skip
    torque = WireCommand(Mode.TORQUE, 2_001_000, np.array([[12.5, -3.0]]))
    for frame, sequence, stamp in ((EmergencyStop(), 7, 10**6), (torque, 258, 5 * 10**6), (state, 513, 2_001_000)):
        wire = wrap(frame.TYPE, sequence, stamp, frame.pack())
        assert cobs.decode(wire[1:-1]) == example(page_name(type(frame)), "body")
        if not isinstance(frame, State):
            assert wire == example(page_name(type(frame)), "wire")


def test_the_bandwidth_table_is_the_one_the_code_prints() -> None:
    assert sums.table(sums.JOINTS, sums.RATE, sums.BUSES) in PAGE
    assert f"{sums.sensor_size()} bytes a period, {sums.load(sums.sensor_size(), sums.RATE):.2f} Mbit/s" in PAGE


def test_the_bandwidth_formula_covers_real_frames() -> None:
    zero = np.zeros(34)
    worst = np.full(34, 1.2345678)
    for value in (zero, worst):
        state = State(Mode.TORQUE, BoardFault(0), 0, 0, 0, value, value, value, value, value, zero.astype(np.uint16))
        assert len(wrap(state.TYPE, 0, 0, state.pack())) <= sums.state_size(34)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The C code of the page."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("c")
    source = re.search(r"```c\n(.*?)```", PAGE, re.DOTALL)
    assert source
    (folder / "framing.c").write_text(source[1])
    # Bsymbolic: other libraries of this process have a crc32 of their own.
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic"]
    subprocess.run([compiler, *flags, "-o", str(folder / "framing.so"), str(folder / "framing.c")], check=True)
    loaded = ctypes.CDLL(str(folder / "framing.so"))
    loaded.crc32.restype = ctypes.c_uint32
    loaded.cobs_encode.restype = ctypes.c_size_t
    loaded.cobs_decode.restype = ctypes.c_ssize_t
    for function in (loaded.cobs_encode, loaded.cobs_decode):
        function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    loaded.crc32.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    loaded.frame.restype = ctypes.c_size_t
    loaded.frame.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    return loaded


def test_the_c_code_of_the_page_speaks_the_same_bytes(library: ctypes.CDLL) -> None:
    assert library.crc32(b"123456789", 9) == 0xCBF43926
    random = np.random.default_rng(0)
    for size in [*range(20), 253, 254, 255, 256, 507, 508, 509, 762, 763, *random.integers(0, MAX_BODY, 300)]:
        dense = random.random() < 0.5
        data = bytes(random.integers(1 if dense else 0, 256 if dense else 3, int(size), dtype=np.uint8))
        out = ctypes.create_string_buffer(cobs.encoded_size(len(data)) + 8)
        assert library.crc32(data, len(data)) == zlib.crc32(data)
        stuffed = cobs.encode(data)
        written = library.cobs_encode(data, len(data), out)
        assert out.raw[:written] == stuffed
        written = library.cobs_decode(stuffed, len(stuffed), out)
        assert out.raw[:written] == data


def test_the_c_code_of_the_page_makes_whole_frames(library: ctypes.CDLL) -> None:
    torque = WireCommand(Mode.TORQUE, 2_001_000, np.array([[12.5, -3.0]]))
    for frame, sequence, stamp in ((EmergencyStop(), 7, 10**6), (torque, 258, 5 * 10**6)):
        body = HEADER.pack(1, frame.TYPE, sequence, stamp) + frame.pack()
        out = ctypes.create_string_buffer(MAX_STUFFED + 2)
        written = library.frame(ctypes.create_string_buffer(body, len(body) + 4), len(body), out)
        assert out.raw[:written] == wrap(frame.TYPE, sequence, stamp, frame.pack())


def test_the_c_code_refuses_what_the_decoder_refuses(library: ctypes.CDLL) -> None:
    random = np.random.default_rng(0)
    for _ in range(2000):
        data = bytes(random.integers(1, 12, int(random.integers(1, 30)), dtype=np.uint8))
        out = ctypes.create_string_buffer(64)
        size = library.cobs_decode(data, len(data), out)
        try:
            assert cobs.decode(data) == out.raw[:size]
        except cobs.CobsError:
            assert size == -1


def test_the_table_hash_of_the_page_is_a_crc_over_payloads() -> None:
    joints = [Joint(i, 2, "ab"[i], *[float(i)] * 9) for i in range(2)]
    assert table_hash(joints) == zlib.crc32(joints[0].pack() + joints[1].pack())
