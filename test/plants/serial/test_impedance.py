"""Impedance commands: the drive closes the loop on its own fresh readings, however old the host's are."""

from __future__ import annotations

import numpy as np
import pytest
from bench import FRICTION, INERTIA, Bench, LooseJoints

from humanoid_balance.plants.board import Disturbance
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.robot import registry
from humanoid_balance.safety.box import SafetyLimits
from humanoid_balance.types import Array, TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
ONE = np.ones(ROBOT.n)
OFF, BRAKE = TorqueCommand.damp(0.0, ZERO), TorqueCommand.damp(0.0, ROBOT.brake)
RATE = SafetyLimits().rate * ROBOT.torque_limit
WEAKEST = float(ROBOT.torque_limit.min())
STIFF, DAMPED = 1000.0, 40.0  # [N m/rad], [N m s/rad]: 7 Hz, nearly critical for the bench's joints
DELAY = 0.006  # each way [s]: topics and a slow line


def spring(position: Array, torque: Array = ZERO, velocity: Array = ZERO) -> TorqueCommand:
    return TorqueCommand(0.0, torque, position, velocity, STIFF * ONE, DAMPED * ONE)


def torque(value: Array) -> TorqueCommand:
    return TorqueCommand(0.0, value, ZERO, ZERO, ZERO, ZERO)


def write(bench: Bench, command: TorqueCommand, ticks: int) -> None:
    for _ in range(ticks):
        bench.plant.read()
        bench.plant.write(command)


def armed(period: float = 0.002, delay: float = 0.0) -> tuple[Bench, LooseJoints]:
    bench = Bench(ROBOT, period=period, disturbance=Disturbance(delay=delay))
    write(bench, OFF, 20)
    write(bench, BRAKE, 20)
    assert all(board.mode is Mode.DAMPING for board in bench.boards)
    assert isinstance(bench.body, LooseJoints)
    return bench, bench.body


def test_the_law_runs_every_millisecond_on_what_the_joint_does_then() -> None:
    """At 500 Hz of commands, with a state that is 12 ms old in the host."""
    bench, body = armed(delay=DELAY)
    goal = ROBOT.posture + 0.005
    write(bench, spring(goal), 30)
    before: list[tuple[Array, Array]] = []
    worst: list[float] = []

    def look() -> None:
        if before:
            position, velocity = before[-1]
            expected = STIFF * (goal - position) - DAMPED * velocity
            worst.append(float(np.abs(body.torque - expected).max()))
        before.append((body.position.copy(), body.velocity.copy()))

    bench.after_step = look
    write(bench, spring(goal), 50)
    assert len(worst) >= 90
    assert max(worst) < 1e-3 * WEAKEST  # single precision of position times stiffness


def test_a_stiff_spring_is_quiet_in_the_drive_and_shakes_over_the_delay() -> None:
    """The reason why gains go to the drive: the same law closed in the host cannot hold a joint."""
    goal, stiff, damped = ROBOT.posture + 0.02, 4000.0, 90.0  # 14 Hz: 14 ms are 1.2 rad of it
    bench, body = armed(delay=DELAY)
    write(bench, TorqueCommand(0.0, ZERO, goal, ZERO, stiff * ONE, damped * ONE), 300)
    np.testing.assert_allclose(body.position, goal, atol=1e-4)
    assert all(board.mode is Mode.IMPEDANCE for board in bench.boards) and bench.plant.gate.reason == ""
    bench, body = armed(delay=DELAY)
    swing: list[float] = []
    for _ in range(300):
        frame = bench.plant.read()
        bench.plant.write(torque(stiff * (goal - frame.position) - damped * frame.velocity))
        swing.append(float(np.abs(body.velocity).max()))
    assert max(swing[-50:]) > 1.0 or not all(board.following for board in bench.boards)


def test_the_gate_leaves_feed_forward_alone_inside_the_limits() -> None:
    """A state that is a few ms old makes the gate misjudge the feedback; what is inside the limits must not change."""
    bench, _ = armed(delay=DELAY)
    feed = 0.2 * ROBOT.torque_limit * np.sign(np.sin(np.arange(ROBOT.n)))
    goal = ROBOT.posture - feed / STIFF  # so that it rests there
    for share in np.linspace(0.0, 1.0, 60):
        write(bench, spring(ROBOT.posture - share * feed / STIFF, share * feed), 1)
    write(bench, spring(goal, feed), 100)
    for board in bench.boards:
        np.testing.assert_allclose(board.machine._command.joints[0], feed[board.index], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("delay", [0.0, DELAY])
def test_changes_between_torque_and_impedance_are_smooth(delay: float) -> None:
    """A change of the law is no jump: at most the rate of a tick, and what the joint itself moved since the host's
    sample, through the stiffness."""
    bench, body = armed(delay=delay)
    write(bench, torque(ZERO), 20)
    steps: list[Array] = []
    speeds: list[Array] = []
    before = [body.torque.copy()]

    def look() -> None:
        steps.append(np.abs(body.torque - before[0]))
        speeds.append(np.abs(body.velocity))
        before[0] = body.torque.copy()

    bench.after_step = look
    goal = body.position + 0.3  # far away: the spring wants much more than the limit
    for k in range(8):
        write(bench, spring(goal) if k % 2 else torque(0.3 * ROBOT.torque_limit), 4)
    assert all(board.following for board in bench.boards)
    age = 2 * delay + 0.004  # of the sample that the host judged by, and the command's way back [s]
    fastest = np.max(speeds, axis=0)
    acceleration = (ROBOT.torque_limit + FRICTION * fastest) / INERTIA
    moved = STIFF * fastest * age + DAMPED * acceleration * age
    assert (np.max(steps, axis=0) <= RATE + np.minimum(moved, 2 * ROBOT.torque_limit) + 1e-3).all()
    if delay == 0.0:  # fresh samples: a tick's rate, and what one millisecond of motion adds
        still = STIFF * fastest * 0.002 + DAMPED * acceleration * 0.002
        assert (np.max(steps, axis=0) <= RATE + still).all()


def test_the_torque_stays_inside_the_cap_of_the_wiring_file() -> None:
    bench = Bench(ROBOT, torque=0.3)
    assert (bench.plant.robot.torque_limit == 0.3 * ROBOT.torque_limit).all()
    seen: list[Array] = []
    bench.after_step = lambda: seen.append(np.abs(bench.body.torque))  # type: ignore[union-attr]
    for command in (OFF, BRAKE, torque(ROBOT.torque_limit)):
        write(bench, command, 10)
    write(bench, spring(ROBOT.posture + 1.0), 10)
    cap = 0.3 * ROBOT.torque_limit * (1 + 1e-6)
    assert (np.max(seen, axis=0) <= cap).all() and (np.max(seen, axis=0) > 0.29 * ROBOT.torque_limit).all()
