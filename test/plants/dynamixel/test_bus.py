"""A bus of virtual servos: torque as a board makes it, faults by name, and silence that stops everything."""

from __future__ import annotations

import numpy as np
import pytest
from servo_line import RANGES, SERVOS, ServoLine

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel import HardwareError
from humanoid_balance.plants.dynamixel import servo as registers
from humanoid_balance.plants.dynamixel.bus import ServoBus
from humanoid_balance.plants.dynamixel.virtual import TRIPPED, VirtualServos
from humanoid_balance.plants.protocol import (
    Configure,
    EmergencyStop,
    JointFault,
    Mode,
    Packet,
    WireCommand,
    WireReset,
    fault_names,
    table_hash,
)
from humanoid_balance.types import Array

MS = 1000
LIMIT, BRAKE = 2.5, 0.2
RESOLUTION = 1.5 * 2.69e-3  # of a torque [N m]


class Rig:
    """Host, line and servos in virtual time."""

    def __init__(self) -> None:
        self.servos = VirtualServos(list(SERVOS.values()))
        self.line = ServoLine(self.servos)
        self.bus = ServoBus(self.line, SERVOS, RANGES)
        self.now = 0

    def start(self) -> Rig:
        self.bus.find()
        n = len(SERVOS)
        configure = Configure(table_hash(self.bus.table), MS, False, np.full(n, LIMIT), np.full(n, BRAKE))
        self.bus.configure(configure, 0)
        return self

    def cycle(self, milliseconds: int = 1) -> None:
        for _ in range(milliseconds):
            self.now += MS
            self.line.now = self.now
            self.servos.tick(self.now)
            self.bus.cycle(self.now)

    def ask(self, mode: Mode, torque: Array | None = None, cycles: int = 2) -> None:
        rows = np.empty((0, len(SERVOS))) if torque is None else torque[None]
        for _ in range(cycles):
            frame = WireCommand(mode, self.now, rows)
            self.bus.machine.receive(Packet(frame, 0, self.now), self.now)
            self.cycle()

    def torques(self) -> Array:
        return np.array([servo.torque() for servo in self.servos.servos.values()])

    def working(self) -> Rig:
        self.start()
        self.cycle()
        self.ask(Mode.DAMPING)
        self.ask(Mode.TORQUE, np.array([1.0, -0.5, 2.0, 0.0]))
        return self


def servo(rig: Rig, row: int):  # type: ignore[no-untyped-def]
    return list(rig.servos.servos.values())[row]


def test_servos_are_found_and_set_to_current_control() -> None:
    rig = Rig().start()
    for virtual in rig.servos.servos.values():
        assert virtual.get(registers.OPERATING_MODE) == registers.CURRENT_CONTROL
        assert virtual.get(registers.CURRENT_LIMIT) == int(2.0 / 2.69e-3)
        assert virtual.get(registers.RETURN_DELAY) == 0, "500 µs for each answer, as it leaves the factory"
        assert virtual.get(registers.TORQUE_ENABLE) == 0


def test_a_missing_servo_is_named_with_its_joint() -> None:
    rig = Rig()
    servo(rig, 2).silent = True
    with pytest.raises(InputError, match="servo 12 of joint 'joint_2' at memory: does not answer"):
        rig.bus.find()


def test_torques_reach_the_shafts_and_readings_come_back() -> None:
    rig = Rig().working()
    np.testing.assert_allclose(rig.torques(), [1.0, -0.5, 2.0, 0.0], atol=RESOLUTION)
    servo(rig, 1).show(0.5, -1.0, 0.3)
    rig.ask(Mode.TORQUE, np.zeros(4))
    assert rig.bus.position[1] == pytest.approx(0.5, abs=1e-3)
    assert rig.bus.velocity[1] == pytest.approx(-1.0, abs=0.02)
    assert rig.bus.torque[1] == pytest.approx(0.3, abs=RESOLUTION)
    assert rig.bus.voltage[1] == pytest.approx(12.0) and rig.bus.temperature[1] == 30.0


def test_no_torque_without_arming_and_never_above_the_limit() -> None:
    rig = Rig().start()
    rig.cycle()
    rig.ask(Mode.TORQUE, np.full(4, 1.0))
    assert not rig.torques().any() and servo(rig, 0).get(registers.TORQUE_ENABLE) == 0
    rig.ask(Mode.DAMPING)
    rig.ask(Mode.TORQUE, np.full(4, 100.0))
    np.testing.assert_allclose(rig.torques(), LIMIT, atol=RESOLUTION)


def test_damping_brakes_moving_shafts() -> None:
    rig = Rig().working()
    servo(rig, 0).show(0.0, 2.0, 0.0)
    rig.ask(Mode.DAMPING)
    assert rig.torques()[0] == pytest.approx(-BRAKE * 2.0, abs=0.02)


def test_without_commands_it_brakes_after_20_ms_and_lets_go_after_500_ms() -> None:
    rig = Rig().working()
    rig.cycle(18)
    assert rig.bus.machine.mode is Mode.TORQUE
    rig.cycle(3)
    assert rig.bus.machine.mode is Mode.LAPSED
    rig.cycle(490)
    assert rig.bus.machine.mode is Mode.OFF and servo(rig, 0).get(registers.TORQUE_ENABLE) == 0


def test_when_the_host_dies_the_servos_stop_by_themselves_within_20_ms() -> None:
    rig = Rig().working()
    for later in range(MS, 22 * MS, MS):
        rig.servos.tick(rig.now + later)
    assert not rig.torques().any()
    assert all(virtual.get(registers.BUS_WATCHDOG) == TRIPPED for virtual in rig.servos.servos.values())


def test_after_a_stall_of_the_host_the_servos_have_to_be_armed_again() -> None:
    rig = Rig().working()
    rig.now += 40 * MS
    rig.servos.tick(rig.now)
    rig.ask(Mode.TORQUE, np.ones(4), 3)
    assert rig.bus.machine.mode is Mode.LAPSED and not rig.torques().any()
    rig.ask(Mode.DISARMED)
    rig.ask(Mode.DAMPING)
    rig.ask(Mode.TORQUE, np.ones(4))
    np.testing.assert_allclose(rig.torques(), 1.0, atol=RESOLUTION)


@pytest.mark.parametrize(
    "error, names",
    [
        (HardwareError.INPUT_VOLTAGE, ("under_voltage", "over_voltage")),
        (HardwareError.HALL_SENSOR, ("encoder",)),
        (HardwareError.OVERHEATING, ("over_temperature",)),
        (HardwareError.MOTOR_ENCODER, ("encoder",)),
        (HardwareError.ELECTRICAL_SHOCK, ("drive",)),
        (HardwareError.OVERLOAD, ("overload",)),
    ],
)
def test_a_hardware_error_stops_the_bus_by_name_until_the_servo_is_rebooted(
    error: HardwareError, names: tuple[str, ...]
) -> None:
    rig = Rig().working()
    servo(rig, 1).fail(error)
    rig.ask(Mode.TORQUE, np.ones(4))
    assert fault_names(int(rig.bus.joint_faults[1]), 0) == names
    assert rig.bus.machine.mode is Mode.STOPPING and "servo_alert of joint_1" in rig.bus.complaints
    rig.cycle(501)
    rig.bus.machine.receive(Packet(WireReset(), 0, rig.now), rig.now)
    assert rig.bus.machine.mode is Mode.STOPPED  # the cause is still there
    rig.bus.reboot(1)
    rig.cycle()
    rig.bus.machine.receive(Packet(WireReset(), 0, rig.now), rig.now)
    assert rig.bus.machine.mode is Mode.OFF


@pytest.mark.parametrize("row", [0, 2, 3])
def test_a_servo_that_stops_answering_is_found_and_the_others_are_still_read(row: int) -> None:
    rig = Rig().working()
    servo(rig, row).silent = True
    for k, virtual in enumerate(rig.servos.servos.values()):
        virtual.show(0.1 * k, 0.0, 0.0)
    rig.ask(Mode.TORQUE, np.ones(4), 8)
    assert np.flatnonzero(rig.bus.joint_faults & JointFault.SILENT).tolist() == [row]
    assert np.isnan(rig.bus.position[row]) and rig.bus.machine.mode is Mode.STOPPING
    others = np.delete(np.arange(4), row)
    np.testing.assert_allclose(rig.bus.position[others], 0.1 * others, atol=1e-3)


def test_an_emergency_stop_needs_reset_disarm_and_arm() -> None:
    rig = Rig().working()
    rig.bus.machine.receive(Packet(EmergencyStop(), 0, rig.now), rig.now)
    rig.ask(Mode.TORQUE, np.ones(4), 3)
    assert rig.bus.machine.mode is Mode.STOPPING and not rig.torques().any()
    rig.cycle(501)
    assert servo(rig, 0).get(registers.TORQUE_ENABLE) == 0
    rig.ask(Mode.DAMPING)
    assert rig.bus.machine.mode is Mode.STOPPED


def test_a_hot_servo_gets_less_torque() -> None:
    rig = Rig().working()
    servo(rig, 0).table[146] = 76  # °C, 4 K below the limit
    rig.ask(Mode.TORQUE, np.full(4, 100.0), 110)
    assert rig.torques()[0] == pytest.approx(0.4 * LIMIT, abs=RESOLUTION)
    assert rig.torques()[1] == pytest.approx(LIMIT, abs=RESOLUTION)


def test_noise_on_the_line_does_not_matter_for_long() -> None:
    rig = Rig().working()
    rig.line.inbox += b"\xff\xff\xfd\x00\x0a\xff"
    rig.ask(Mode.TORQUE, np.ones(4), 3)
    assert rig.bus.machine.mode is Mode.TORQUE
    np.testing.assert_allclose(rig.torques(), 1.0, atol=RESOLUTION)
