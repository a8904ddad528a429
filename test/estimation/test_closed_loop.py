"""Accuracy against ground truth in simulation, sensor noise of scale 1: the figures of the requirement."""

import math
import time
from contextlib import closing

import numpy as np
import pytest
from estimation.motion import noisy
from estimation.standing import com_error, estimate, rms, simulate, tilt_error, true_zmp

from humanoid_balance import stack
from humanoid_balance.estimation import Estimator
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import Truth
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import GRAVITY, RobotState, SensorFrame

Pairs = list[tuple[Truth, RobotState]]


def zmp_error(truth: Truth, state: RobotState) -> np.ndarray:
    """Relative to the soles, horizontal."""
    believed, true = state.zmp - state.sole_position.mean(axis=0), true_zmp(truth) - truth.sole_position.mean(axis=0)
    return (believed - true)[:2]


def assert_figures(pairs: Pairs, com: float, velocity: float, tilt: float, zmp: float) -> None:
    assert rms([com_error(t, s) for t, s in pairs]) < com
    assert rms([s.com_velocity - t.com_velocity for t, s in pairs]) < velocity
    assert rms([tilt_error(t, s) for t, s in pairs[::10]]) < tilt
    assert rms([zmp_error(t, s) for t, s in pairs]) < zmp


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_quiet_standing(robot: Robot, seed: int) -> None:
    pairs = estimate(robot, simulate(robot, 2.0, seed=seed))
    assert_figures(pairs, com=0.003, velocity=0.01, tilt=0.3, zmp=0.005)
    assert all(s.valid and s.faults == () and s.contact.all() for _, s in pairs)
    assert math.isnan(pairs[-1][1].push.onset)


@pytest.mark.parametrize("direction", [0.0, 90.0, 225.0])
def test_a_push_of_300_newton(robot: Robot, direction: float) -> None:
    force = 300.0 * robot.mass / 71.0
    pairs = estimate(robot, simulate(robot, 1.3, [PushProfile(force, 0.1, direction, 0.5)], seed=4))
    standing = [(t, s) for t, s in pairs if s.contact.any() and not t.fell and t.stamp < 1.0]
    assert_figures(standing, com=0.01, velocity=0.05, tilt=0.5, zmp=0.015)
    push = next(s.push for t, s in pairs if t.stamp > 0.8)
    turn = (math.degrees(push.direction) - direction + 180.0) % 360.0 - 180.0
    assert abs(turn) < 15.0 and push.impulse == pytest.approx(0.1 * force, rel=0.2)
    assert 0.5 <= push.onset <= 0.52


def reported(robot: Robot, seed: int) -> tuple[float, float]:
    """Error of direction [deg] and ratio of impulse for a random push; a second, false one spoils both."""
    rng = np.random.default_rng(seed)
    impulse, direction = rng.uniform(20, 60) * robot.mass / 71.0, rng.uniform(0, 360)
    estimator, onsets = Estimator(robot), set()
    for frame, _ in simulate(robot, 0.65, [PushProfile(impulse / 0.1, 0.1, direction, 0.3)], seed=seed):
        push = estimator.update(frame).push
        if not math.isnan(push.onset):
            onsets.add(push.onset)
    if len(onsets) != 1:
        return 180.0, 0.0
    return abs((math.degrees(push.direction) - direction + 180.0) % 360.0 - 180.0), push.impulse / impulse


def test_random_pushes_are_told_with_direction_and_impulse(robot: Robot) -> None:
    results = [reported(robot, seed) for seed in range(3)]
    assert all(turn < 15.0 and abs(ratio - 1.0) < 0.2 for turn, ratio in results)


@pytest.mark.slow
def test_at_least_90_of_100_random_pushes(robot: Robot) -> None:
    results = [reported(robot, seed) for seed in range(100)]
    assert sum(turn < 15.0 and abs(ratio - 1.0) < 0.2 for turn, ratio in results) >= 90


def test_on_a_slope(human: Robot) -> None:
    pairs = estimate(human, simulate(human, 1.5, world=World(slope=8.0), seed=5))
    assert_figures(pairs, com=0.003, velocity=0.01, tilt=0.3, zmp=0.01)
    normal = pairs[-1][1].ground_normal
    assert math.degrees(math.acos(normal[2])) == pytest.approx(8.0, abs=0.3)


def test_a_payload_on_the_back_is_not_a_push(human: Robot) -> None:
    pairs = estimate(human, simulate(human, 1.5, world=World(payload=5.0), seed=6))
    assert math.isnan(pairs[-1][1].push.onset)


def test_slippery_ground_is_noticed_and_does_not_move_the_robot_away(human: Robot) -> None:
    """Pushed hard on ice the feet slide; the velocity is still known."""
    pushes = [PushProfile(500.0, 0.1, 0.0, 0.3)]
    pairs = estimate(human, simulate(human, 0.7, pushes, world=World(friction=0.15), seed=7))
    moved = np.linalg.norm(pairs[-1][0].sole_position - pairs[0][0].sole_position, axis=1).max()
    assert moved > 0.02, "the scene is meant to make the feet slide"
    assert any((s.contact_probability[s.contact] == 0.5).any() for _, s in pairs)
    assert rms([s.com_velocity - t.com_velocity for t, s in pairs]) < 0.05
    assert np.linalg.norm(com_error(*pairs[-1])) < 0.01


def test_a_fall_of_two_tenths_of_a_second_is_integrated_from_the_imu(human: Robot) -> None:
    """The ground goes away: soles without load, nothing but the IMU."""
    estimator, rng = Estimator(human), np.random.default_rng(0)
    for last, _ in simulate(human, 0.5, seed=8):
        before = estimator.update(last)
    n, t = human.n, 0.2
    for k in range(1, round(1000 * t) + 1):
        flight = SensorFrame(
            last.stamp + 0.001 * k, last.position, np.zeros(n), last.torque, np.zeros(3), np.zeros(3), np.zeros((2, 6))
        )
        state = estimator.update(noisy(flight, rng))
        assert state.valid
    assert not state.contact.any() and len(state.support) == 0 and np.isnan(state.zmp).all()
    assert state.com[2] - before.com[2] == pytest.approx(-0.5 * GRAVITY * t * t, abs=0.01)
    assert state.com_velocity[2] == pytest.approx(-GRAVITY * t, abs=0.05)
    assert np.linalg.norm(state.com_velocity[:2]) < 0.05


@pytest.mark.slow
def test_a_tick_of_the_human_takes_at_most_60_microseconds(human: Robot) -> None:
    """Median of the best of ten blocks: other processes may disturb the rest."""
    frames = [frame for frame, _ in simulate(human, 3.0)]
    estimator, times = Estimator(human), []
    for frame in frames:
        start = time.perf_counter()
        estimator.update(frame)
        times.append(time.perf_counter() - start)
    assert np.median(np.reshape(times, (10, -1)), axis=1).min() < 60e-6


@pytest.mark.parametrize("direction", [0.0, 180.0])
def test_a_slow_joint_that_a_push_throws_is_believed(direction: float) -> None:
    """talos' head may turn with 1 rad/s; a push on the torso throws it with three times that, and nothing is broken."""
    settings = RunSettings("talos", period=0.002, sensor_latency=0.002, actuator_latency=0.002)
    robot = registry.load("talos")
    push = PushProfile(robot.mass * 0.3 / 0.1, 0.1, direction, start=0.3)
    robot, plant = stack.simulator(settings, (push,))
    with closing(plant):
        loop = stack.simulated(robot, plant, settings.balance)
        ticks = [loop.tick() for _ in range(300)]
    assert not [fault for tick in ticks for fault in tick.state.faults if fault.startswith("encoder")]
    speed = np.abs([tick.frame.velocity for tick in ticks]) / robot.velocity_limit
    assert speed.max() > 2.0, "it was thrown"
