"""``humanoid-balance board`` and ``check`` as a user meets them, with faults that are planned on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "serial"))
import stack

from humanoid_balance.balance.supervisor import BalanceSettings
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.serial import SerialPlant
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
        wiring = tmp_path / "wiring.yaml"
        buses = ", ".join(f"{{port: '{port}', half_duplex: {str(half_duplex).lower()}}}" for port in board.ports)
        wiring.write_text(f"robot: g1\nbuses: [{buses}]\n")
        done = cli("check", "--config", str(wiring), "--time", "0.5", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [joint["name"] for joint in told["joints"]] == list(ROBOT.joint_names)
    assert all(joint["temperature"] == 35.0 and not joint["faults"] for joint in told["joints"])
    np.testing.assert_allclose([joint["position"] for joint in told["joints"]], ROBOT.posture, atol=1e-3)
    assert all(bus["mode"] == "DISARMED" and bus["connected"] for bus in told["buses"])
    late = any("does not answer" in complaint for complaint in told["complaints"])  # a busy machine
    assert told["ready"] or late, told["complaints"]


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
