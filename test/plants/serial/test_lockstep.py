"""The whole stack over bytes, step for step with a virtual board."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import stack

from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.errors import InputError
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.serial.health import SILENCE
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.types import SensorFrame, TorqueCommand

KE1 = PushProfile(300.0, 0.1, 0.0, 1.0), BalanceSettings("in-place", "dcm", 0.2)
KE6 = PushProfile(300.0, 0.4, 0.0, 1.0), BalanceSettings()


class OnTheBoardsClock:
    """A plant whose stamps are whole microseconds from the board's first on: rounded alike, no decision that waits for
    a number of ticks comes one later."""

    def __init__(self, plant: MujocoPlant, first: float) -> None:
        self.plant, self.first, self.dt = plant, round(1e6 * first), plant.dt

    def read(self) -> SensorFrame:
        frame = self.plant.read()
        return replace(frame, stamp=1e-6 * (self.first + round(1e6 * frame.stamp)))

    def write(self, command: TorqueCommand) -> None:
        self.plant.write(command)


def in_process(spec: str, push: PushProfile, settings: BalanceSettings, ticks: int, first: float) -> stack.Story:
    robot = registry.load(spec)
    plant = MujocoPlant(robot, PlantOptions(), [push])
    loop = stack.controller(robot, OnTheBoardsClock(plant, first), settings)
    loop.safety.activate(plant.read().torque)
    story = stack.Story()
    for _ in range(ticks):
        truth = plant.truth()
        story.see(loop.tick(), truth.com, truth.com_velocity)
    return story


def over_bytes(spec: str, push: PushProfile, settings: BalanceSettings, seconds: float, *options: str) -> stack.Story:
    robot = registry.load(spec)
    with stack.board("--robot", spec, *options) as board, SerialPlant(robot, board.ports, lockstep=True) as plant:
        return stack.run(robot, plant, push, settings, seconds)


def check_equal(spec: str, push: PushProfile, settings: BalanceSettings, seconds: float, *options: str) -> None:
    """Sensors and torques travel in single precision, 6e-8 of their size; a push magnifies that, not beyond reason.

    Steps do so more: a foot that lands a millisecond earlier or later moves everything behind it.
    """
    within = 1e-4 if settings.strategy == "in-place" else 5e-3
    bytes_run = over_bytes(spec, push, settings, seconds, "--sensor-noise", "0", *options)
    plain = in_process(spec, push, settings, len(bytes_run.stamps), bytes_run.stamps[0])
    apart = np.abs(np.array(bytes_run.positions) - np.array(plain.positions)).max(axis=1)
    before = round(push.start / 0.001)
    assert apart[:before].max() < 2e-7
    assert apart.max() < within
    assert np.abs(np.array(bytes_run.com) - np.array(plain.com)).max() < within
    assert np.abs(np.array(bytes_run.torques) - np.array(plain.torques))[:before].max() < 1e-3
    assert bytes_run.modes == plain.modes
    np.testing.assert_allclose(np.diff(bytes_run.stamps), 0.001, atol=1e-9)


def test_lockstep_over_a_pseudo_terminal_equals_the_run_in_one_process() -> None:
    check_equal("human", replace(KE1[0], start=0.2), KE1[1], 0.7)


def test_lockstep_over_tcp_with_three_boards_equals_the_run_in_one_process() -> None:
    check_equal("g1", PushProfile(80.0, 0.1, 90.0, 0.1), BalanceSettings(), 0.4, "--boards", "3", "--tcp", "0")


def test_lockstep_survives_a_line_that_loses_frames() -> None:
    robot = registry.load("g1")
    push, settings = PushProfile(0.0, 0.1, 0.0, 0.1), BalanceSettings()
    bad = ("--frame-loss", "0.01", "--bit-errors", "1e-5", "--sensor-noise", "0", "--seed", "3")
    with stack.board("--robot", "g1", *bad) as board, SerialPlant(robot, board.ports, lockstep=True) as plant:
        story = stack.run(robot, plant, push, settings, 0.3)
        counts = plant.buses[0].decoder.counts
    assert not story.fell
    assert counts.lost + counts.bad_crc + counts.bad_framing > 0
    np.testing.assert_allclose(np.diff(story.stamps), 0.001, atol=1e-9)


def test_a_robot_that_is_not_the_boards_is_refused_by_name() -> None:
    with (
        stack.board("--robot", "g1") as board,
        pytest.raises(InputError, match=r"board 'board_0': joint '.*' is not one of robot 'human'"),
    ):
        SerialPlant(registry.load("human"), board.ports)


def test_a_robot_with_weaker_drives_than_the_model_is_refused() -> None:
    robot = registry.load("g1")
    robot.torque_limit = robot.torque_limit.copy()
    robot.torque_limit[3] *= 2.0
    with (
        stack.board("--robot", "g1") as board,
        pytest.raises(InputError, match=f"joint '{robot.joint_names[3]}' is limited to .* N m; allowed: at least"),
    ):
        SerialPlant(robot, board.ports)


def test_missing_boards_are_told() -> None:
    robot = registry.load("g1")
    with (
        stack.board("--robot", "g1", "--boards", "2") as board,
        pytest.raises(InputError, match=f"no board has the joints .*{robot.joint_names[-1]}"),
    ):
        SerialPlant(robot, board.ports[:1])


def test_a_port_that_does_not_exist_is_told() -> None:
    with pytest.raises(InputError, match="port /dev/nothing_here"):
        SerialPlant(registry.load("g1"), ["/dev/nothing_here"])


def test_in_lockstep_a_slow_host_does_not_miss_its_boards() -> None:
    """They wait for it; on a busy machine a watchdog on the wall's clock would find them silent."""
    with stack.board("--robot", "g1") as board, SerialPlant(registry.load("g1"), board.ports, lockstep=True) as plant:
        plant.arm()
        time.sleep(3 * SILENCE)
        assert plant.trouble(armed=True) is None


def test_torque_needs_arming_and_a_stop_needs_reset_disarm_and_arm() -> None:
    robot = registry.load("g1")
    zero = np.zeros(robot.n)
    off, brake = TorqueCommand.damp(0.0, zero), TorqueCommand.damp(0.0, robot.brake)
    torque = TorqueCommand(0.0, 0.01 * robot.torque_limit, zero, zero, zero, zero)

    def ask(plant: SerialPlant, command: TorqueCommand, ticks: int = 3) -> Mode:
        for _ in range(ticks):
            plant.read()
            plant.write(command)
        (mode,) = plant.read_modes()
        plant.unread()
        return mode

    with stack.board("--robot", "g1") as board, SerialPlant(robot, board.ports, lockstep=True) as plant:
        assert ask(plant, torque) is Mode.DISARMED
        assert ask(plant, off) is Mode.DISARMED
        assert ask(plant, torque) is Mode.DISARMED
        assert ask(plant, brake) is Mode.DAMPING
        assert ask(plant, torque) is Mode.TORQUE
        plant.stop("test")
        assert ask(plant, torque) is Mode.STOPPING
        assert plant.reset() == "board 'board_0' is still stopping"
        assert ask(plant, torque, 510) is Mode.STOPPED
        assert plant.reset() is None
        assert ask(plant, torque) in (Mode.OFF, Mode.DISARMED)
        assert ask(plant, brake) is Mode.DISARMED  # not disarmed by the host yet
        assert ask(plant, off) is Mode.DISARMED
        assert ask(plant, torque) is Mode.DISARMED
        assert ask(plant, brake) is Mode.DAMPING
        assert ask(plant, torque) is Mode.TORQUE


@pytest.mark.slow
@pytest.mark.parametrize("case", [KE1, KE6], ids=["KE1", "KE6"])
def test_pushes_are_recovered_over_bytes(case: tuple[PushProfile, BalanceSettings]) -> None:
    story = over_bytes("human", *case, 10.0)
    assert story.recovered()


@pytest.mark.slow
@pytest.mark.parametrize("case", [KE1, KE6], ids=["KE1", "KE6"])
def test_pushes_over_bytes_equal_those_in_one_process(case: tuple[PushProfile, BalanceSettings]) -> None:
    push, settings = case
    if settings.strategy == "auto":  # straight from behind both legs are equally good, and rounding would choose
        push = replace(push, direction=10.0)
    check_equal("human", push, settings, 2.0)
