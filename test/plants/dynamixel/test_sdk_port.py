"""The public SDK drives our virtual servos through a real port, and finds nothing strange about them."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from servo_line import SERVOS

from humanoid_balance.plants.board.endpoint import PtyEndpoint
from humanoid_balance.plants.dynamixel import HardwareError, StatusError
from humanoid_balance.plants.dynamixel import servo as registers
from humanoid_balance.plants.dynamixel.virtual import VirtualServos

sdk = pytest.importorskip("dynamixel_sdk")

FIRST = next(iter(SERVOS.values()))


@pytest.fixture
def servos() -> VirtualServos:
    return VirtualServos(list(SERVOS.values()))


@pytest.fixture
def port(servos: VirtualServos) -> Iterator[Any]:
    end, done = PtyEndpoint(), threading.Event()

    def serve() -> None:
        while not done.is_set():
            files = end.files()
            if files and select.select(files, [], [], 0.02)[0]:
                end.write(servos.receive(end.read(), 0))
            elif not files:
                done.wait(0.005)

    thread = threading.Thread(target=serve)
    thread.start()
    handler = sdk.PortHandler(end.url)
    try:
        assert handler.openPort() and handler.setBaudRate(4_000_000)
        handler.setPacketTimeoutMillis = patient(handler)  # a busy machine answers late
        yield handler
    finally:
        handler.closePort()
        done.set()
        thread.join()
        end.close()


def patient(handler: Any) -> Any:
    def set_timeout(milliseconds: float) -> None:
        handler.packet_start_time = handler.getCurrentTime()
        handler.packet_timeout = milliseconds + 1000.0

    handler.setPacketTimeout = lambda length: set_timeout(length * 0.01)
    return set_timeout


@pytest.fixture
def handler() -> Any:
    return sdk.PacketHandler(2.0)


def test_ping_read_and_write(port: Any, handler: Any, servos: VirtualServos) -> None:
    identifier = FIRST.identifier
    assert handler.ping(port, identifier) == (1020, sdk.COMM_SUCCESS, 0)
    assert handler.write1ByteTxRx(port, identifier, registers.OPERATING_MODE.address, 0) == (sdk.COMM_SUCCESS, 0)
    assert handler.write1ByteTxRx(port, identifier, registers.TORQUE_ENABLE.address, 1) == (sdk.COMM_SUCCESS, 0)
    assert handler.write2ByteTxRx(port, identifier, registers.GOAL_CURRENT.address, 100) == (sdk.COMM_SUCCESS, 0)
    assert servos.servos[identifier].torque() == pytest.approx(100 * 2.69e-3 * 1.5)
    assert handler.read1ByteTxRx(port, identifier, registers.OPERATING_MODE.address) == (0, sdk.COMM_SUCCESS, 0)


def test_a_locked_register_and_a_hardware_error_are_told(port: Any, handler: Any, servos: VirtualServos) -> None:
    identifier = FIRST.identifier
    handler.write1ByteTxRx(port, identifier, registers.TORQUE_ENABLE.address, 1)
    result, error = handler.write1ByteTxRx(port, identifier, registers.OPERATING_MODE.address, 3)
    assert (result, error) == (sdk.COMM_SUCCESS, StatusError.ACCESS)
    servos.servos[identifier].fail(HardwareError.OVERHEATING)
    value, result, error = handler.read1ByteTxRx(port, identifier, registers.HARDWARE_ERROR.address)
    assert (value, result) == (HardwareError.OVERHEATING, sdk.COMM_SUCCESS) and error & 0x80
    assert handler.reboot(port, identifier) == (sdk.COMM_SUCCESS, 0)
    assert handler.read1ByteTxRx(port, identifier, registers.HARDWARE_ERROR.address) == (0, sdk.COMM_SUCCESS, 0)


@pytest.mark.parametrize("fast", [False, True])
def test_sync_write_and_sync_read(port: Any, handler: Any, servos: VirtualServos, fast: bool) -> None:
    write = sdk.GroupSyncWrite(port, handler, *registers.GOAL_CURRENT)
    read = sdk.GroupSyncRead(port, handler, *registers.PRESENT)
    for k, identifier in enumerate(servos.servos):
        assert write.addParam(identifier, list((10 * k).to_bytes(2, "little")))
        assert read.addParam(identifier)
        servos.servos[identifier].show(0.1 * k, 0.0, 0.0)
    assert write.txPacket() == sdk.COMM_SUCCESS
    assert (read.fastSyncRead() if fast else read.txRxPacket()) == sdk.COMM_SUCCESS
    for k, (identifier, virtual) in enumerate(servos.servos.items()):
        counts = read.getData(identifier, registers.PRESENT.address + 6, 4)
        assert counts == 2048 + round(0.1 * k * 4096 / 6.283185307)
        assert virtual.get(registers.GOAL_CURRENT) == 10 * k
