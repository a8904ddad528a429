"""Whatever the sensors say: no exception, no non-finite output.

The long run of the acceptance test, at least a million frames (about two minutes):
``HUMANOID_BALANCE_FUZZ_FRAMES=1000000 pytest test/estimation/test_fuzz.py``; 30 million are about an hour.
"""

import os
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from humanoid_balance.estimation import Estimator
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, RobotState, SensorFrame

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # numbers beyond 1e154
LONG = int(os.environ.get("HUMANOID_BALANCE_FUZZ_FRAMES", "10000"))
FIELDS = ("position", "velocity", "torque", "gyro", "acceleration", "wrench")
POISON = (np.nan, np.inf, -np.inf, 1e308, -1e300, 1e-310, 0.0, 1e6, -1e3, 50.0, 3.0)
IN_FLIGHT = ("cop", "zmp", "fri")  # a centre of pressure needs ground; NaN says so


def check(state: RobotState) -> None:
    for field in fields(state):
        value = getattr(state, field.name)
        if field.name in IN_FLIGHT:
            assert not np.isinf(value).any(), field.name
        elif isinstance(value, np.ndarray):
            assert np.isfinite(value).all(), (field.name, value)
    push = state.push
    assert np.isfinite([state.stamp, state.omega, state.ground_height, push.direction, push.impulse]).all()
    assert np.isfinite(push.force).all() and not np.isinf(push.height)
    norm = float(np.linalg.norm(state.q[3:7]))
    assert abs(norm - 1.0) < 1e-6
    assert np.abs(state.v[:6]).max() < 200.0  # what a robot can do, and a wild IMU pretend


def spoil(frame: SensorFrame, name: str, where: int, value: float) -> SensorFrame:
    array: Array = getattr(frame, name).copy()
    array.flat[where % array.size] = value
    return replace(frame, **{name: array})


poison = st.tuples(st.sampled_from(FIELDS), st.integers(0, 33), st.one_of(st.sampled_from(POISON), st.floats()))
tick = st.tuples(
    st.lists(poison, max_size=4),
    st.one_of(st.just(0.001), st.sampled_from([0.0, -0.5, 0.021, 0.3, np.nan, np.inf, 1e9]), st.floats(-1.0, 1.0)),
    st.integers(1, 12),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(tick, min_size=1, max_size=12))
def test_any_sequence_of_faults_is_survived(human: Robot, swaying: list[SensorFrame], ticks: list[Any]) -> None:
    estimator = Estimator(human)
    stamp, k = 0.0, 0
    for faults, dt, repeat in ticks:
        for _ in range(repeat):
            stamp = stamp + dt if np.isfinite(stamp + dt) and abs(stamp + dt) < 1e12 else stamp + 0.001
            frame = replace(swaying[k % len(swaying)], stamp=stamp if np.isfinite(dt) else dt)
            for name, where, value in faults:
                frame = spoil(frame, name, where, value)
            check(estimator.update(frame))
            k += 1
    stamp += 2.0
    for frame in swaying[:400]:  # and it comes back to life
        state = estimator.update(replace(frame, stamp=stamp + frame.stamp))
        check(state)
    assert state.valid and state.faults == ()


class Storm:
    """Good data with spells of every kind of trouble, for as long as one likes."""

    def __init__(self, frames: list[SensorFrame], seed: int) -> None:
        self.frames, self.rng = frames, np.random.default_rng(seed)
        self.k, self.stamp, self.left, self.kind = 0, 0.0, 0, "good"

    def next(self) -> SensorFrame:
        rng = self.rng
        if self.left == 0:
            self.left = int(rng.integers(1, 80))
            kinds = ("good", "good", "poison", "missing", "hiccup", "garbage", "frozen", "flight", "shake")
            self.kind = str(rng.choice(kinds))
            self.field, self.value = str(rng.choice(FIELDS)), float(rng.choice(POISON))
            self.where, self.held = int(rng.integers(0, 34)), self.frames[self.k]
        self.left -= 1
        self.k = (self.k + 1) % len(self.frames)
        self.stamp += 0.001
        frame = replace(self.frames[self.k], stamp=self.stamp)
        return getattr(self, self.kind)(frame)

    def good(self, frame: SensorFrame) -> SensorFrame:
        return frame

    def poison(self, frame: SensorFrame) -> SensorFrame:
        return spoil(frame, self.field, self.where, self.value)

    def missing(self, frame: SensorFrame) -> SensorFrame:
        return replace(frame, **{self.field: np.full_like(getattr(frame, self.field), np.nan)})

    def odd_stamp(self) -> float:
        return float(self.rng.choice([self.stamp, self.stamp - 0.001, self.stamp - 5.0, np.nan, -np.inf, 0.0]))

    def hiccup(self, frame: SensorFrame) -> SensorFrame:
        if self.rng.random() < 0.02:
            self.stamp += float(self.rng.choice([0.02, 0.3, 1e5, -3.0]))
        return replace(frame, stamp=self.odd_stamp())

    def garbage(self, frame: SensorFrame) -> SensorFrame:
        size = 10.0 ** self.rng.uniform(-6, 6)
        return replace(frame, **{f: size * self.rng.standard_normal(getattr(frame, f).shape) for f in FIELDS})

    def frozen(self, frame: SensorFrame) -> SensorFrame:
        return replace(self.held, stamp=frame.stamp)

    def flight(self, frame: SensorFrame) -> SensorFrame:
        return replace(frame, wrench=np.zeros((2, 6)), acceleration=frame.acceleration * 0.0)

    def shake(self, frame: SensorFrame) -> SensorFrame:
        noise = {f: getattr(frame, f) for f in FIELDS}
        noise["gyro"] = 30.0 * self.rng.standard_normal(3)
        noise["acceleration"] = 150.0 * self.rng.standard_normal(3)
        noise["wrench"] = 500.0 * self.rng.standard_normal((2, 6))
        return replace(frame, **noise)


def test_a_long_storm_is_survived(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator, storm = Estimator(human), Storm(swaying, 0)
    for _ in range(LONG):
        check(estimator.update(storm.next()))
