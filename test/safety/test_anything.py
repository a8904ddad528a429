"""Whatever goes into the safety box, what leaves is finite, within limit and rate; a bad tick leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bounds import TorqueBounds
from humanoid_balance.safety.box import Arming, SafetyBox
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand

pytestmark = pytest.mark.filterwarnings("error")  # an overflow is no way to find a fault

FIELDS = ("torque", "position", "velocity", "stiffness", "damping")
BAD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1.7e308, 1e154, -1e154, 1e20)
ODD = (*BAD, 5e-324, -5e-324, 0.0, -0.0, 1e-300, 1e4, -1e4)  # also what is small, or large but possible
STAMPS = (
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    -1e308,
    np.float64(1.7e308),
    -1.0,
    0.021,
    -0.011,
    1e9,
)  # too late or early [s]
ROUNDING = 1e-9  # share of the limit


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


@pytest.fixture(scope="module")
def standing(robot: Robot) -> tuple[SensorFrame, RobotState]:
    frame = MujocoPlant(robot).read()
    return frame, Estimator(robot).update(frame)


def good(robot: Robot, stamp: float, position: Array) -> TorqueCommand:
    zero = np.zeros(robot.n)
    return TorqueCommand(stamp, 0.05 * robot.torque_limit, position, zero, zero, zero)


def made(command: TorqueCommand, position: Array, velocity: Array) -> Array:
    """Torque of a drive in this state."""
    spring = command.stiffness * (command.position - position)
    return command.torque + spring + command.damping * (command.velocity - velocity)


class Storm:
    """A box under arbitrary commands, states, requests and memory faults; looks at everything that leaves it."""

    def __init__(self, robot: Robot, standing: tuple[SensorFrame, RobotState], seed: int) -> None:
        self.robot, (self.frame, self.state) = robot, standing
        self.random, self.seed = np.random.default_rng(seed), seed
        self.box, self.now = SafetyBox(robot), 1.0
        self.before = np.zeros(robot.n)  # torque of the last tick
        self.passed = self.tripped = 0
        self.recover()

    def recover(self) -> None:
        self.box.reset()
        self.box.arm()
        self.activate(0.9 * self.robot.torque_limit * self.random.uniform(-1, 1, self.robot.n))

    def activate(self, torque: Array) -> None:
        if self.box.arming is Arming.ARMED:
            self.before = np.clip(np.nan_to_num(torque), -self.robot.torque_limit, self.robot.torque_limit)
        self.box.activate(torque)

    def request(self) -> None:
        torque = self.spoiled(np.zeros(self.robot.n)) if self.chance(0.3) else np.zeros(self.robot.n)
        box = self.box
        requests: list[Callable[[], Any]] = [box.arm, box.disarm, box.reset, lambda: self.activate(torque)]
        requests[self.random.integers(len(requests))]()

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def spoiled(self, values: Array) -> Array:
        """One or many numbers replaced."""
        values = values.copy()
        count = 1 if self.chance(0.7) else values.size
        values[self.random.integers(0, values.size, count)] = self.random.choice(ODD, count)
        return values

    def misshapen(self, values: Array) -> Any:
        others = (
            values[:-1], np.append(values, 0.0), values[:, None], np.zeros(0), values[0], values.tolist(), None,
            values.astype(object), values.astype(complex), np.array(["a"] * values.size),
        )  # fmt: skip
        return others[self.random.integers(len(others))]

    def command(self, stamp: float) -> TorqueCommand:
        n, limit = self.robot.n, self.robot.torque_limit
        wanted = good(self.robot, stamp, self.frame.position)
        if self.chance(0.5):  # any that a controller may send
            uniform = self.random.uniform
            wanted = TorqueCommand(
                stamp, 3.0 * limit * uniform(-1, 1, n), self.frame.position + uniform(-1, 1, n), uniform(-9, 9, n),
                uniform(0, 20, n) * limit * self.chance(0.7), uniform(0, 0.3, n) * limit * self.chance(0.7),
            )  # fmt: skip
        wanted = replace(wanted, yielding=self.chance(0.3))
        spoil = self.random.random()
        if spoil < 0.25:
            names = self.random.choice(FIELDS, self.random.integers(1, 4))
            wanted = replace(wanted, **{name: self.spoiled(getattr(wanted, name)) for name in names})
        elif spoil < 0.32:
            names = self.random.choice(FIELDS, 2)
            wanted = replace(wanted, **{name: self.misshapen(getattr(wanted, name)) for name in names})
        elif spoil < 0.34:  # the lengths of two fields add up
            wanted = replace(wanted, torque=wanted.torque[:-1], damping=np.append(wanted.damping, 0.0))
        elif spoil < 0.40:
            wanted = replace(wanted, stamp=stamp - STAMPS[self.random.integers(len(STAMPS))])
        return wanted

    def tick(self) -> None:
        self.now += 0.001
        frame, state = replace(self.frame, stamp=self.now), replace(self.state, stamp=self.now)
        frame = replace(frame, torque=self.before.copy())
        if self.chance(0.05):
            field = ("position", "torque", "velocity")[self.random.integers(3)]
            frame = replace(frame, **{field: self.spoiled(getattr(frame, field))})
        if self.chance(0.05):
            field = ("q", "v")[self.random.integers(2)]
            state = replace(state, **{field: self.spoiled(getattr(state, field))})
        if self.chance(0.02):
            frame = replace(frame, stamp=self.now + STAMPS[self.random.integers(len(STAMPS))])
        if self.chance(0.01):
            self.damage()
        if self.chance(0.1):
            self.request()
        if self.box.arming is not Arming.ACTIVE and self.chance(0.5):
            self.recover()
        if self.chance(0.05):
            self.box.bounds.share = self.spoiled(np.ones(self.robot.n))
        self.look(self.box.update(frame, state, self.command(self.now)), state)

    def damage(self) -> None:
        """Of what the box remembers."""
        box, bad = self.box, self.random.choice(BAD)
        memories = (box.bounds.previous, box.speed._lasted, box.runaway._since, box.following._since, box._heard)
        k = self.random.integers(len(memories) + 1)
        if k == len(memories):
            box._stamp = float(bad)
        else:
            memories[k][self.random.integers(self.robot.n)] = bad

    def look(self, sent: TorqueCommand, state: RobotState) -> None:
        robot, told = self.robot, f"seed {self.seed}, {self.box.trip}"
        assert np.isfinite(sent.stamp), told
        for name in FIELDS:
            values = getattr(sent, name)
            assert values.shape == (robot.n,) and np.isfinite(values).all(), (name, told)
        if self.box.arming is Arming.ACTIVE:
            self.passed += 1
            torque = made(sent, state.q[7:], state.v[6:])
            assert (np.abs(torque) <= (1.0 + ROUNDING) * robot.torque_limit).all(), told
            rate = (self.box.limits.rate + ROUNDING) * robot.torque_limit
            assert (np.abs(torque - self.before) <= rate).all(), told
            self.before = torque
            return
        assert sent.damped and not sent.torque.any() and not sent.stiffness.any(), told
        expected = 0.0 if self.box.arming is Arming.DISARMED else robot.brake
        assert (sent.damping == expected).all(), told
        if self.box.arming is Arming.TRIPPED:
            self.tripped += 1
            assert self.box.trip is not None and self.box.trip.what and self.box.trip.where, told


def storm(robot: Robot, standing: tuple[SensorFrame, RobotState], seed: int, ticks: int) -> Storm:
    weather = Storm(robot, standing, seed)
    for _ in range(ticks):
        weather.tick()
    assert weather.passed > ticks // 10 and weather.tripped > ticks // 10  # both were really tried
    weather.recover()
    weather.box.bounds.share = np.ones(robot.n)
    frame, state = (replace(x, stamp=weather.now) for x in standing)
    sent = weather.box.update(frame, state, good(robot, weather.now, frame.position))
    assert not sent.damped and weather.box.trip is None  # all of it is forgotten
    return weather


@pytest.mark.parametrize("seed", range(4))
def test_what_leaves_the_box_is_finite_and_bounded_whatever_comes(
    robot: Robot, standing: tuple[SensorFrame, RobotState], seed: int
) -> None:
    storm(robot, standing, seed, 2500)


@pytest.mark.slow
@pytest.mark.guard
@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_a_hundred_thousand_arbitrary_commands_leave_finite_and_bounded(spec: str) -> None:
    robot = registry.load(spec)
    frame = MujocoPlant(robot).read()
    state = Estimator(robot).update(frame)
    for seed in range(10, 20):
        storm(robot, (frame, state), seed, 10_000)


def active(robot: Robot) -> SafetyBox:
    box = SafetyBox(robot)
    box.arm()
    box.activate(np.zeros(robot.n))
    return box


@settings(derandomize=True)
@given(field=st.sampled_from(FIELDS), joint=st.integers(0, 28), value=st.sampled_from(BAD))
def test_a_field_that_cannot_be_meant_is_named_braked_and_forgotten(
    robot: Robot, standing: tuple[SensorFrame, RobotState], field: str, joint: int, value: float
) -> None:
    frame, state = standing
    wanted = replace(good(robot, frame.stamp, frame.position), stiffness=np.full(robot.n, 50.0))
    values = getattr(wanted, field).copy()
    values[joint] = value
    box = active(robot)
    sent = box.update(frame, state, replace(wanted, **{field: values}))
    assert sent.damped and (sent.damping == robot.brake).all()
    assert box.trip is not None and box.trip.field == f"command.{field}" and box.trip.where == robot.joint_names[joint]
    assert field in str(box.trip) and robot.joint_names[joint] in str(box.trip)
    box.reset()
    box.arm()
    box.activate(np.zeros(robot.n))
    after = box.update(frame, state, wanted)
    assert not after.damped and np.isfinite(after.torque).all()


@pytest.mark.parametrize("field", ["stiffness", "damping"])
def test_a_negative_gain_trips(robot: Robot, standing: tuple[SensorFrame, RobotState], field: str) -> None:
    frame, state = standing
    gain = np.zeros(robot.n)
    gain[3] = -0.01 * robot.torque_limit[3]
    box = active(robot)
    box.update(frame, state, replace(good(robot, frame.stamp, frame.position), **{field: gain}))
    assert box.trip is not None and box.trip.field == f"command.{field}"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_another_length_is_named(robot: Robot, standing: tuple[SensorFrame, RobotState], field: str) -> None:
    frame, state = standing
    box, short = active(robot), np.zeros(robot.n - 1)
    sent = box.update(frame, state, replace(good(robot, frame.stamp, frame.position), **{field: short}))
    assert sent.damped and box.trip is not None and box.trip.field == f"command.{field}"
    assert (box.trip.value, box.trip.limit) == (robot.n - 1, robot.n)


@pytest.mark.parametrize(
    ("late", "what"),
    [(np.nan, "old command"), (0.021, "old command"), (-0.011, "command is ahead"), (-1e308, "command")],
)
def test_a_command_of_another_time_trips(
    robot: Robot, standing: tuple[SensorFrame, RobotState], late: float, what: str
) -> None:
    frame, state = standing
    box = active(robot)
    box.update(frame, state, good(robot, frame.stamp - late, frame.position))
    assert box.trip is not None and box.trip.what.startswith(what) and box.trip.field == "command.stamp"


@pytest.mark.parametrize("change", [-0.011, -1e308, np.nan, 0.6])
def test_sensors_whose_clock_goes_back_or_jumps_trip(
    robot: Robot, standing: tuple[SensorFrame, RobotState], change: float
) -> None:
    frame, state = standing
    box = active(robot)
    for stamp in (frame.stamp, frame.stamp + change):
        now, seen = replace(frame, stamp=stamp), replace(state, stamp=stamp)
        sent = box.update(now, seen, good(robot, stamp, frame.position))
    assert box.trip is not None and box.trip.field == "frame.stamp"
    assert sent.damped and np.isfinite(sent.stamp)


@pytest.mark.parametrize(("field", "first", "unit"), [("q", 7, "rad"), ("v", 6, "rad/s")])
def test_a_state_that_is_not_a_number_trips_at_its_joint(
    robot: Robot, standing: tuple[SensorFrame, RobotState], field: str, first: int, unit: str
) -> None:
    frame, state = standing
    values = getattr(state, field).copy()
    values[first + 2] = np.nan
    box = active(robot)
    sent = box.update(frame, replace(state, **{field: values}), good(robot, frame.stamp, frame.position))
    assert sent.damped and box.trip is not None and box.trip.where == robot.joint_names[2]
    assert box.trip.field == f"state.{field}" and box.trip.unit == unit


def test_a_memory_that_is_not_a_number_trips_and_is_forgotten(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    frame, state = standing
    box, wanted = active(robot), good(robot, frame.stamp, frame.position)
    box.bounds.previous[5] = np.nan
    sent = box.update(frame, state, wanted)
    assert sent.damped and box.trip is not None and box.trip.field == "box.bounds"
    box.reset()
    box.arm()
    box.activate(np.zeros(robot.n))
    assert not box.update(frame, state, wanted).damped


def test_an_infinite_memory_that_meets_an_infinite_reading_trips(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    frame, state = standing
    for measured in (0.0, np.inf):
        box, torque = active(robot), frame.torque.copy()
        box.bounds.previous[:2], torque[0], torque[1] = np.inf, measured, robot.torque_limit[1]
        sent = box.update(replace(frame, torque=torque), state, good(robot, frame.stamp, frame.position))
        assert sent.damped and (sent.damping == robot.brake).all() and box.trip is not None


@settings(derandomize=True)
@given(field=st.sampled_from(FIELDS), joint=st.integers(0, 28), value=st.sampled_from(BAD), state=st.sampled_from(BAD))
def test_bounds_alone_give_nothing_to_a_joint_they_cannot_compute(
    robot: Robot, field: str, joint: int, value: float, state: float
) -> None:
    """They are also the last gate before the boards, which has no box in front of it."""
    bounds, position = TorqueBounds(robot.torque_limit, 0.2), np.zeros(robot.n)
    bounds.start(0.5 * robot.torque_limit)
    wanted = replace(good(robot, 0.0, position), stiffness=np.full(robot.n, 50.0))
    values = getattr(wanted, field).copy()
    values[joint] = value
    measured = position.copy()
    measured[joint] = state
    for bad in (replace(wanted, **{field: values}), wanted):
        sent = bounds.apply(bad, measured, position)
        for name in FIELDS:
            assert np.isfinite(getattr(sent, name)).all()
        others = np.arange(robot.n) != joint
        torque = made(sent, np.where(others, measured, 0.0), position)
        assert (np.abs(torque) <= (1.0 + ROUNDING) * robot.torque_limit).all()
    assert np.isfinite(bounds.previous).all()
