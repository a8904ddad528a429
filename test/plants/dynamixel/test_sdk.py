"""The public dynamixel-sdk as the other side: it sends what we send, and understands what our servos answer.

Two flaws of its release 4.1.0 are stepped around: ``txPacket`` throws the stuffed packet away, so stuffing is compared
with ``addStuffing`` itself; ``removeStuffing`` overwrites what it still has to look at, so at most one pattern is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.plants.dynamixel import (
    BROADCAST,
    Instruction,
    ServoDecoder,
    ServoStatus,
    StatusError,
    fast_sync_read,
    ping,
    read,
    reboot,
    sync_read,
    sync_write,
    write,
)
from humanoid_balance.plants.dynamixel.crc import crc16
from humanoid_balance.plants.dynamixel.faults import ALERT
from humanoid_balance.plants.dynamixel.instructions import fast_status, parse_range, parse_sync_write, status

sdk = pytest.importorskip("dynamixel_sdk")

PATTERN = b"\xff\xff\xfd"
IDENTIFIER = st.integers(0, 252)
ADDRESS = st.integers(0, 0xFEFF)
PLAIN = st.binary(min_size=1, max_size=40).filter(lambda data: PATTERN not in data)
GROUP = st.lists(IDENTIFIER, min_size=1, max_size=30, unique=True).filter(lambda ids: PATTERN not in bytes(ids))


class Line:
    """A port in memory: keeps what was written, answers with what ``answer`` makes of it."""

    def __init__(self, answer: Callable[[bytes], bytes] = lambda _: b"") -> None:
        self.is_using = False
        self.written = b""
        self._answer, self._incoming = answer, b""

    def clearPort(self) -> None:
        self._incoming = b""

    def writePort(self, packet: list[int]) -> int:
        self.written = bytes(packet)
        self._incoming = self._answer(self.written)
        return len(packet)

    def readPort(self, length: int) -> bytes:
        data, self._incoming = self._incoming[:length], self._incoming[length:]
        return data

    def setPacketTimeout(self, _: int) -> None: ...

    def setPacketTimeoutMillis(self, _: float) -> None: ...

    def isPacketTimeout(self) -> bool:
        return not self._incoming

    def getBaudRate(self) -> int:
        return 4_000_000


@pytest.fixture(scope="module")
def handler() -> Any:
    return sdk.PacketHandler(2.0)


# ---- instructions: the same bytes ----


@given(identifier=IDENTIFIER)
def test_ping_and_reboot(handler: Any, identifier: int) -> None:
    line = Line()
    handler.ping(line, identifier)
    assert line.written == ping(identifier)
    handler.reboot(line, identifier)
    assert line.written == reboot(identifier)


def test_ping_of_everyone(handler: Any) -> None:
    line = Line()
    handler.broadcastPing(line)
    assert line.written == ping(BROADCAST)


@given(identifier=IDENTIFIER, address=ADDRESS, length=st.integers(0, 500))
def test_read(handler: Any, identifier: int, address: int, length: int) -> None:
    line = Line()
    handler.readTx(line, identifier, address, length)
    assert line.written == read(identifier, address, length)


@given(identifier=IDENTIFIER, address=ADDRESS, data=PLAIN)
def test_write(handler: Any, identifier: int, address: int, data: bytes) -> None:
    line = Line()
    handler.writeTxOnly(line, identifier, address, len(data), list(data))
    assert line.written == write(identifier, address, data)


@given(address=ADDRESS, length=st.integers(1, 200), identifiers=GROUP)
def test_sync_read_and_fast_sync_read(handler: Any, address: int, length: int, identifiers: list[int]) -> None:
    line = Line()
    group = sdk.GroupSyncRead(line, handler, address, length)
    for identifier in identifiers:
        assert group.addParam(identifier)
    group.txPacket()
    assert line.written == sync_read(address, length, identifiers)
    line.is_using = False
    group.fastSyncReadTxPacket()
    assert line.written == fast_sync_read(address, length, identifiers)


@given(address=ADDRESS, identifiers=GROUP, data=st.data())
def test_sync_write(handler: Any, address: int, identifiers: list[int], data: st.DataObject) -> None:
    values = {identifier: data.draw(st.binary(min_size=2, max_size=2)) for identifier in identifiers}
    packet = sync_write(address, 2, values)
    if PATTERN + b"\xfd" in packet:
        return  # the SDK would send it without stuffing
    line = Line()
    group = sdk.GroupSyncWrite(line, handler, address, 2)
    for identifier, value in values.items():
        assert group.addParam(identifier, list(value))
    group.txPacket()
    assert line.written == packet
    (received,) = ServoDecoder().feed(line.written)
    assert parse_sync_write(received.parameters) == (address, values)


@given(data=st.lists(st.sampled_from([PATTERN, b"\xff", b"\xfd", b"a"]), min_size=1, max_size=20).map(b"".join))
def test_stuffing_and_crc(handler: Any, data: bytes) -> None:
    ours = write(1, 0x20, data)
    plain = [0xFF, 0xFF, 0xFD, 0, 1, len(data) + 5, 0, Instruction.WRITE, 0x20, 0, *data, 0, 0]
    theirs = handler.addStuffing(plain)
    assert ours[:-2] == bytes(theirs[:-2])
    assert int.from_bytes(ours[-2:], "little") == handler.updateCRC(0, theirs, len(theirs) - 2) == crc16(ours[:-2])


# ---- answers: understood as they were meant ----


@given(identifier=IDENTIFIER, error=st.integers(0, 255), data=PLAIN)
def test_the_sdk_reads_our_status(handler: Any, identifier: int, error: int, data: bytes) -> None:
    asked: list[bytes] = []

    def servo(packet: bytes) -> bytes:
        (received,) = ServoDecoder().feed(packet)
        assert (received.identifier, received.instruction) == (identifier, Instruction.READ)
        asked.append(received.parameters)
        return status(identifier, error, data)

    answer = handler.readTxRx(Line(servo), identifier, 132, len(data))
    assert answer == (list(data), sdk.COMM_SUCCESS, error)
    assert parse_range(asked[0]) == (132, len(data), b"")


@given(before=PLAIN, after=PLAIN.filter(lambda data: b"\xff\xfd\xfd" not in data))
def test_the_sdk_takes_our_stuffing_away(handler: Any, before: bytes, after: bytes) -> None:
    data = before + PATTERN + after
    if data.count(PATTERN) > 1 or b"\xff\xfd\xfd" in data[len(before) + 3 :]:
        return
    assert handler.readTxRx(Line(lambda _: status(1, 0, data)), 1, 132, len(data))[0] == list(data)


def test_the_sdk_finds_our_servo_by_ping(handler: Any) -> None:
    line = Line(lambda _: status(7, 0, (1020).to_bytes(2, "little") + b"\x2d"))
    assert handler.ping(line, 7) == (1020, sdk.COMM_SUCCESS, 0)


@given(identifiers=GROUP, data=st.data())
def test_the_sdk_reads_our_sync_read(handler: Any, identifiers: list[int], data: st.DataObject) -> None:
    answers = [ServoStatus(i, 0, data.draw(PLAIN.filter(lambda raw: len(raw) >= 4)).ljust(4)[:4]) for i in identifiers]
    line = Line(lambda _: b"".join(status(*answer) for answer in answers))
    group = sdk.GroupSyncRead(line, handler, 132, 4)
    for identifier in identifiers:
        group.addParam(identifier)
    assert group.txRxPacket() == sdk.COMM_SUCCESS
    for answer in answers:
        assert group.getData(answer.identifier, 132, 4) == int.from_bytes(answer.data, "little")


@given(identifiers=GROUP, data=st.data())
def test_the_sdk_reads_our_fast_sync_read(handler: Any, identifiers: list[int], data: st.DataObject) -> None:
    answers = [ServoStatus(i, 0, data.draw(st.binary(min_size=10, max_size=10))) for i in identifiers]
    line = Line(lambda _: fast_status(answers))
    group = sdk.GroupSyncRead(line, handler, 126, 10)
    for identifier in identifiers:
        group.addParam(identifier)
    assert group.fastSyncRead() == sdk.COMM_SUCCESS
    for answer in answers:
        assert group.getData(answer.identifier, 132, 4) == int.from_bytes(answer.data[6:], "little")
        assert group.getData(answer.identifier, 126, 2) == int.from_bytes(answer.data[:2], "little")


@given(flip=st.integers(0, 8 * 8 - 1))
def test_the_sdk_refuses_our_status_when_it_is_disturbed(handler: Any, flip: int) -> None:
    packet = bytearray(status(1, 0, b"abcd"))
    packet[7 + flip // 8] ^= 1 << flip % 8
    assert handler.readTxRx(Line(lambda _: bytes(packet)), 1, 132, 4)[1] != sdk.COMM_SUCCESS


def test_error_numbers_are_those_of_the_sdk() -> None:
    from dynamixel_sdk import protocol2_packet_handler as theirs

    assert theirs.ERRBIT_ALERT == ALERT
    for name in ("RESULT_FAIL", "INSTRUCTION", "CRC", "DATA_RANGE", "DATA_LENGTH", "DATA_LIMIT", "ACCESS"):
        assert getattr(theirs, f"ERRNUM_{name}") == StatusError[name]
