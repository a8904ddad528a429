"""The other end of a wiring file: a host with the same file sees the joints of the model."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.plants.board import Body, PtyEndpoint, TcpEndpoint, VirtualBoard
from humanoid_balance.plants.board.faults import PlannedFault
from humanoid_balance.plants.board.servos import ServoChain
from humanoid_balance.plants.board.wiring import devices_of, endpoint_of
from humanoid_balance.plants.dynamixel import Servo
from humanoid_balance.plants.port import Port
from humanoid_balance.plants.protocol import Configure, JointFault, Mode, Packet, Sensors
from humanoid_balance.plants.serial import health, table
from humanoid_balance.plants.serial.calibration import JointCalibration
from humanoid_balance.plants.serial.config import BusConfig, HardwareConfig
from humanoid_balance.plants.serial.line import LineSettings
from humanoid_balance.plants.serial.servo_bus import WINDOW, DynamixelBus
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
TURNED, GEARED = ROBOT.joint_names[3], ROBOT.joint_names[9]
CALIBRATION = {
    TURNED: JointCalibration(offset=0.3, sign=-1, ratio=2.0),
    GEARED: JointCalibration(offset=-0.1, ratio=0.5),
}
SERVOS = {name: Servo(k, torque_constant=60.0, current_limit=5.0) for k, name in enumerate(ROBOT.joint_names[:12])}
MIXED = HardwareConfig((BusConfig("a"), BusConfig("b", "dynamixel", servos=SERVOS), BusConfig("c")), CALIBRATION)


def test_joints_and_sensors_are_shared_out() -> None:
    first, servos, last = devices_of(Body(ROBOT), MIXED)
    assert isinstance(first, VirtualBoard) and isinstance(servos, ServoChain) and isinstance(last, VirtualBoard)
    assert sorted([*first.index, *servos.index, *last.index]) == list(range(ROBOT.n))
    assert list(servos.index) == list(range(12))
    assert first.sensors == Sensors.IMU and last.sensors == Sensors.LEFT_FOOT | Sensors.RIGHT_FOOT


def test_half_duplex_and_all_joints_on_servos() -> None:
    every = {name: Servo(k, torque_constant=60.0, current_limit=5.0) for k, name in enumerate(ROBOT.joint_names)}
    config = HardwareConfig((BusConfig("a", half_duplex=True), BusConfig("b", "dynamixel", servos=every)))
    board, _ = devices_of(Body(ROBOT), config)
    assert board.half_duplex and board.index.size == 0


def test_servos_without_a_board_are_refused() -> None:
    every = {name: Servo(k, torque_constant=60.0, current_limit=5.0) for k, name in enumerate(ROBOT.joint_names)}
    with pytest.raises(ConfigError, match="neither IMU nor soles"):
        devices_of(Body(ROBOT), HardwareConfig((BusConfig("b", "dynamixel", servos=every),)))


def test_a_calibrated_board_measures_and_drives_in_its_own_numbers() -> None:
    body = Body(ROBOT)
    (board,) = devices_of(body, HardwareConfig((BusConfig("a"),), CALIBRATION))
    assert isinstance(board, VirtualBoard)
    position, velocity = body.joints()[0], np.linspace(-1.0, 1.0, ROBOT.n)
    raw, speed = board._joints(position, velocity)
    k = ROBOT.joint_names.index(TURNED)
    assert raw[k] == pytest.approx(-2.0 * (position[k] - 0.3)) and speed[k] == pytest.approx(-2.0 * velocity[k])
    row = board.table[k]
    assert row.lower == pytest.approx(-2.0 * (ROBOT.upper[k] - 0.3), abs=1e-5)
    assert row.torque_limit == pytest.approx(ROBOT.torque_limit[k] / 2.0, rel=1e-6)
    known = table.calibration(ROBOT.joint_names, CALIBRATION)
    np.testing.assert_allclose(known.position(raw), position, atol=1e-12)
    table.check_limits(ROBOT, "board", board.table, board.index, known, ROBOT.torque_limit)
    # braking with the host's damping is the same at the joint, whatever is between
    limit = np.minimum(known.limit(ROBOT.torque_limit), [joint.torque_limit for joint in board.table])
    configure = Configure(board.machine.table, 1000, False, limit, known.brake(ROBOT.brake))
    board.machine.receive(Packet(configure, 0, 0), 0)
    board.machine.mode = Mode.DAMPING
    np.testing.assert_allclose(board.torque(position, velocity), -ROBOT.brake * velocity, rtol=1e-5)


class Wire(Port):
    """The host's end of a servo chain, in memory; ``now`` is the servos' clock [µs]."""

    def __init__(self, chain: ServoChain) -> None:
        super().__init__("memory", 4_000_000)
        self.chain, self.now = chain, 0

    def receive(self, timeout: float) -> bytes:
        data = b"".join(self.chain.out)
        self.chain.out.clear()
        return data

    def send(self, data: bytes, urgent: bool = False) -> bool:
        self.chain.receive(data, self.now)
        return True


class Workbench:
    """A chain of servos in MuJoCo, and the host's bus; one thread, virtual time."""

    def __init__(self) -> None:
        self.body = Body(ROBOT, hoist=0.3)
        self.chain = ServoChain("servos", self.body, SERVOS, table.calibration(list(SERVOS), CALIBRATION))
        self.wire = Wire(self.chain)
        wish = LineSettings(2000, False, ROBOT.torque_limit, ROBOT.brake)
        clock = lambda: self.wire.now  # noqa: E731
        self.bus = DynamixelBus(self.wire, ROBOT, wish, CALIBRATION, threading.Condition(), SERVOS, clock)
        self.bus.start()
        self.torque = np.zeros(ROBOT.n)

    def tick(self, mode: Mode, command: TorqueCommand) -> None:
        if self.bus.sample is not None:
            if mode in (Mode.TORQUE, Mode.IMPEDANCE):
                self.bus.command(mode, command)
            else:
                self.bus.idle(mode)
        self.bus.cycle()
        for _ in range(2):
            self.chain.tick(self.wire.now)
            self.body.held &= not self.chain.following
            self.body.step(self._law)
            self.wire.now += 1000

    def _law(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        self.torque[self.chain.index] = self.chain.torque(position, velocity)
        return self.torque

    def work(self, command: TorqueCommand, ticks: int, mode: Mode = Mode.TORQUE) -> None:
        for stage in (Mode.DISARMED, Mode.DAMPING):
            for _ in range(3):
                self.tick(stage, command)
        for _ in range(ticks):
            self.tick(mode, command)


def test_servos_of_a_wiring_file_turn_the_joints_of_the_model() -> None:
    bench = Workbench()
    bench.tick(Mode.DISARMED, TorqueCommand.damp(0.0, ZERO))
    sample = bench.bus.sample
    assert sample is not None
    np.testing.assert_allclose(sample.position, ROBOT.posture[:12], atol=2 * np.pi / 4096)
    wanted = np.zeros(ROBOT.n)
    wanted[[3, 9]] = 5.0, -5.0
    bench.work(TorqueCommand(0.0, wanted, ZERO, ZERO, ZERO, ZERO), 5)
    assert not bench.body.held
    np.testing.assert_allclose(bench.torque[:12], wanted[:12], atol=60.0 * 2.69e-3 * 2.0)
    assert bench.chain.mode is Mode.TORQUE


def test_servos_that_the_host_only_damps_do_not_let_the_body_go() -> None:
    bench = Workbench()
    for mode in (Mode.DISARMED, Mode.DAMPING):
        for _ in range(5):
            bench.tick(mode, TorqueCommand.damp(0.0, ROBOT.brake))
    assert bench.chain.mode is Mode.TORQUE and bench.body.held


def test_servos_hold_a_posture_by_impedance() -> None:
    """Computed in the host for servos, at the rate of their bus."""
    bench = Workbench()
    stiffness, damping = 40.0 * np.ones(ROBOT.n), 2.0 * np.ones(ROBOT.n)
    bench.work(TorqueCommand(0.0, ZERO, ROBOT.posture, ZERO, stiffness, damping), 250, Mode.IMPEDANCE)
    assert bench.bus.mode is Mode.IMPEDANCE
    position = bench.body.joints()[0][:12]
    assert np.abs(position - ROBOT.posture[:12]).max() < 0.5  # gravity against 40 N m/rad


def test_servos_stop_by_themselves_when_nobody_speaks() -> None:
    bench = Workbench()
    bench.work(TorqueCommand(0.0, 0.05 * ROBOT.torque_limit, ZERO, ZERO, ZERO, ZERO), 5)
    for _ in range(22):
        bench.wire.now += 1000
        bench.chain.tick(bench.wire.now)
    assert bench.chain.mode is Mode.LAPSED and not bench.chain.following and bench.chain.why == "watchdog"


def test_faults_of_servos_reach_the_host_with_the_joint() -> None:
    bench = Workbench()
    bench.work(TorqueCommand(0.0, 0.05 * ROBOT.torque_limit, ZERO, ZERO, ZERO, ZERO), 5)
    bench.chain.ail([PlannedFault("over-temperature", TURNED, 0.0, 1.0)])
    for _ in range(3):
        bench.tick(Mode.TORQUE, TorqueCommand(0.0, ZERO, ZERO, ZERO, ZERO, ZERO))
    assert bench.bus.mode is Mode.STOPPING and bench.bus.sample is not None
    assert bench.bus.sample.state.joint_faults[3] & JointFault.OVER_TEMPERATURE
    assert bench.bus.cause is not None and bench.bus.cause.joint == TURNED
    assert any(TURNED in event.what for event in bench.bus.log.fetch())


def test_ports_of_a_file_become_endpoints(tmp_path: Path) -> None:
    pty, tcp = endpoint_of(str(tmp_path / "leg")), endpoint_of("socket://127.0.0.1:0")
    assert isinstance(pty, PtyEndpoint) and isinstance(tcp, TcpEndpoint)
    assert (tmp_path / "leg").is_symlink()
    for end in (pty, tcp):
        end.close()
    for port, why in (("rfc2217://host:1", "cannot be simulated"), ("socket://host", "has no number")):
        with pytest.raises(InputError, match=why):
            endpoint_of(port)


def test_a_link_that_leads_to_a_real_port_is_left_alone(tmp_path: Path) -> None:
    link = tmp_path / "left_leg"
    link.symlink_to("/dev/null")
    with pytest.raises(InputError, match="exists and is no link to a pseudo-terminal"):
        endpoint_of(str(link))
    assert str(link.readlink()) == "/dev/null"


def test_servos_that_come_late_again_and_again_are_told_and_not_armed() -> None:
    bench = Workbench()
    bench.tick(Mode.DISARMED, TorqueCommand.damp(0.0, ZERO))
    assert health.trouble([bench.bus], armed=False) is None
    for k in range(WINDOW):
        bench.bus._watch_pace(k % 3 == 0)
    trouble = health.trouble([bench.bus], armed=False)
    assert trouble is not None and trouble.what.startswith("share of late cycles; next: "), trouble
    assert health.trouble([bench.bus], armed=True) is None, "one that is armed goes on as long as it can"
    assert "33% of the cycles took longer than their" in str(bench.bus.log.fetch()[-1])
