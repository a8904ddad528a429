"""``humanoid-balance board`` and ``check`` as a user meets them, with faults that are planned on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "serial"))
import stack

from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.serial import config as wiring
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
OFF, BRAKE = TorqueCommand.damp(0.0, ZERO), TorqueCommand.damp(0.0, ROBOT.brake)
KNEE = "left_knee_joint"


def cli(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*stack.CLI, *options], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("half_duplex", [False, True])
def test_check_shows_every_joint_and_finds_the_robot_ready(half_duplex: bool, tmp_path: Path) -> None:
    extra = ("--half-duplex",) if half_duplex else ("--tcp", "0")
    with stack.board("--robot", "g1", "--boards", "2", "--priority", "5", *extra) as board:
        file = tmp_path / "wiring.yaml"
        buses = ", ".join(f"{{port: '{port}', half_duplex: {str(half_duplex).lower()}}}" for port in board.ports)
        file.write_text(f"robot: g1\nbuses: [{buses}]\n")
        done = cli("check", "--config", str(file), "--time", "0.5", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [joint["name"] for joint in told["joints"]] == list(ROBOT.joint_names)
    assert all(joint["temperature"] == 35.0 and not joint["faults"] for joint in told["joints"])
    np.testing.assert_allclose([joint["position"] for joint in told["joints"]], ROBOT.posture, atol=1e-3)
    assert all(bus["mode"] == "DISARMED" and bus["connected"] for bus in told["buses"])
    late = any("does not answer" in complaint for complaint in told["complaints"])  # a busy machine
    assert told["ready"] or late, told["complaints"]


def test_check_leaves_the_boards_as_it_found_them() -> None:
    with stack.board("--robot", "g1", "--boards", "2", "--priority", "5", "--tcp", "0") as board:
        ports = [option for port in board.ports for option in ("--port", port)]

        def check() -> dict[str, Any]:
            told: dict[str, Any] = json.loads(cli("check", "--robot", "g1", *ports, "--time", "0.3", "--json").stdout)
            return told

        for _ in range(3):
            told = check()
            assert all(bus["mode"] == "DISARMED" for bus in told["buses"])
            assert {fault for bus in told["buses"] for fault in bus["faults"]} <= {"stale_command"}  # a busy machine
            assert not any("STOPPED" in complaint for complaint in told["complaints"])
        with SerialPlant(ROBOT, board.ports) as plant:
            plant.stop("test")  # a robot that was stopped stays so, however often one looks
            plant.read()
            plant.write(OFF)
        for _ in range(2):
            told = check()
            assert [bus["mode"] for bus in told["buses"]] == ["STOPPED", "STOPPED"] and not told["ready"]
        stack.reset(ROBOT, board.ports)
        assert all(bus["mode"] == "DISARMED" for bus in check()["buses"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_board_that_is_ended_leaves_no_link_behind(number: signal.Signals, tmp_path: Path) -> None:
    link = tmp_path / "g1"
    with stack.board("--robot", "g1", "--link", str(link)) as board:
        assert link.is_symlink()
        board.process.send_signal(number)
        _, told = board.process.communicate(timeout=20)
        assert board.process.returncode == 0 and "Traceback" not in told
        assert not link.is_symlink()


WIRED = """
robot: g1
period: 0.002
torque: 0.3
buses:
  - {{port: {folder}/left}}
  - {{port: {folder}/right, half_duplex: true}}
  - port: {folder}/arm
    kind: dynamixel
    servos:
      left_elbow_joint: {{identifier: 7, torque_constant: 60.0, current_limit: 2.0}}
calibration:
  left_knee_joint: {{offset: 0.3, sign: -1, ratio: 2.0}}
  left_elbow_joint: {{offset: -0.1, sign: -1}}
"""


def test_a_robot_wired_by_a_file_is_driven_through_its_calibration(tmp_path: Path) -> None:
    """Boards, one of them half duplex, and a servo, in a process of their own, from the file that the host uses."""
    file = tmp_path / "wiring.yaml"
    file.write_text(WIRED.format(folder=tmp_path))
    config = wiring.load(file)
    with stack.board("--wiring", str(file), "--priority", "10") as board:
        assert board.ports == [bus.port for bus in config.buses]
        done = cli("check", "--wiring", str(file), "--time", "0.5", "--json")
        assert done.returncode == 0, done.stderr
        position = {joint["name"]: joint["position"] for joint in json.loads(done.stdout)["joints"]}
        np.testing.assert_allclose([position[name] for name in ROBOT.joint_names], ROBOT.posture, atol=2e-3)
        with stack.punctual(), SerialPlant(ROBOT, config, 0.005) as plant:
            assert (plant.robot.torque_limit == 0.3 * ROBOT.torque_limit).all()
            until = time.monotonic() + 30.0
            while set(plant.modes) != {Mode.IMPEDANCE}:
                assert time.monotonic() < until, (plant.modes, plant.gate.reason, plant.trouble(armed=True))
                frame = plant.read()
                calm = set(plant.modes) <= {Mode.DISARMED, Mode.DAMPING, Mode.IMPEDANCE} and not plant.gate.latched
                hold = TorqueCommand(frame.stamp, ZERO, ROBOT.posture, ZERO, 50.0 + ZERO, 1.0 + ZERO)
                armed = calm and Mode.DISARMED not in plant.modes
                plant.write(hold if armed else BRAKE if calm else OFF)
            frame = plant.read()
            assert np.nanmax(np.abs(frame.position - ROBOT.posture)) < 0.2  # it holds, nothing runs the wrong way


def test_check_tells_what_is_wrong() -> None:
    with stack.board("--robot", "g1", "--hoist", "0.2", "--fault", f"over-temperature:{KNEE}") as board:
        done = cli("check", "--robot", "g1", "--port", board.ports[0], "--time", "0.3")
    assert done.returncode == 0, done.stderr
    assert "over_temperature" in done.stdout and "the soles carry" in done.stdout and "not ready" in done.stdout


@pytest.mark.parametrize(
    "options, culprit",
    [
        (("check",), "--port"),
        (("check", "--port", "/dev/not_there"), "/dev/not_there"),
        (("check", "--config", "not_there.yaml"), "not_there.yaml: no such file"),
        (("check", "--port", "a", "--config", "b"), "either"),
        (("board", "--robot", "g1", "--boards", "99"), "boards is 99"),
        (("board", "--robot", "g1", "--fault", "flood@1"), "flood"),
        (("board", "--robot", "g1", "--frame-loss", "2"), "frame-loss is 2"),
        (("board", "--robot", "g1", "--tcp", "70000"), "tcp is 70000"),
        (("board", "--robot", "nobody"), "nobody"),
        (("board", "--robot", "g1", "--push", "100:0.1"), "push '100:0.1'; allowed: FORCE:DURATION:DIRECTION:START"),
        (("board", "--robot", "g1", "--wiring", "not_there.yaml"), "not_there.yaml: no such file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(options: tuple[str, ...], culprit: str) -> None:
    done = cli(*options)
    assert done.returncode == 2 and done.stdout == ""
    assert culprit in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_a_planned_fault_stops_the_board_at_its_time() -> None:
    with (
        stack.board("--robot", "g1", "--fault", f"over-temperature:{KNEE}@0.05") as board,
        SerialPlant(ROBOT, board.ports, lockstep=True) as plant,
    ):
        plant.arm()
        modes = []
        for _ in range(80):
            frame = plant.read()
            modes.append(plant.modes[0])
            plant.write(TorqueCommand(frame.stamp, frame.torque, ZERO, ZERO, ZERO, ZERO))
        trouble = plant.trouble(armed=True)
    assert modes.index(Mode.STOPPING) == pytest.approx(51, abs=2)
    assert trouble is not None and (trouble.what, trouble.where) == ("over_temperature", KNEE)
    assert trouble.value > trouble.limit == 90.0


def test_a_stuck_encoder_is_noticed_by_the_controller() -> None:
    with (
        stack.board("--robot", "g1", "--fault", f"stuck-encoder:{KNEE}@0.5") as board,
        SerialPlant(ROBOT, board.ports, lockstep=True) as plant,
    ):
        loop = stack.controller(ROBOT, plant, BalanceSettings())
        plant.arm()
        loop.safety.activate(plant.read().torque)
        plant.unread()
        ticks = 0
        while loop.safety.trip is None and ticks < 700:
            tick = loop.tick()
            ticks += 1
    assert ticks > 490 and any(KNEE in fault for fault in tick.state.faults)
    assert loop.safety.trip is not None and tick.sent.damped


def test_a_port_that_is_pulled_comes_back_stopped_and_can_be_armed_again(tmp_path: Path) -> None:
    with (
        stack.board("--robot", "g1", "--link", str(tmp_path / "g1"), "--fault", "unplug@0.1+0.3") as board,
        stack.punctual(),
        SerialPlant(ROBOT, board.ports, 0.002) as plant,
    ):
        until = time.monotonic() + 20.0

        def write(command: TorqueCommand) -> None:
            assert time.monotonic() < until, (plant.modes, plant.bus_health())
            plant.read()
            plant.write(command)

        plant.arm()
        frame = plant.read()
        lost = False
        while not plant.bus_health()[0].reopened:
            write(TorqueCommand(frame.stamp, frame.torque, ZERO, ZERO, ZERO, ZERO))
            trouble = plant.trouble(armed=True)
            lost |= trouble is not None and "port lost" in trouble.what
        assert lost
        while plant.modes != (Mode.STOPPED,):
            write(OFF)
        write(BRAKE)
        assert plant.reset() is None
        while plant.modes != (Mode.DISARMED,):
            write(OFF)
        while plant.modes != (Mode.DAMPING,):
            write(BRAKE if not plant.gate.latched else OFF)
