"""Sensor frames as they come."""

from dataclasses import replace

import numpy as np
import pytest
from estimation.motion import noisy

from humanoid_balance.errors import InputError
from humanoid_balance.estimation.input_guard import InputGuard
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, SensorFrame

NAN, INF = np.nan, np.inf


class Feed:
    """A guard that saw half a second of good noisy data; frames can be spoilt field by field."""

    def __init__(self, robot: Robot, frames: list[SensorFrame]) -> None:
        self.robot, self.guard = robot, InputGuard(robot, GuardSettings())
        rng = np.random.default_rng(0)
        self.frames = [noisy(f, rng) for f in frames]
        self.k = 0
        for _ in range(500):
            self.good()
        assert self.guard.faults == () and self.guard.valid

    def next(self) -> SensorFrame:
        self.k += 1
        return self.frames[self.k - 1]

    def good(self) -> None:
        assert self.guard.accept(self.next())

    def bad(self, field: str, index: int | tuple[int, ...] | slice, value: float) -> SensorFrame:
        frame = self.next()
        array: Array = getattr(frame, field).copy()
        array[index] = value
        assert self.guard.accept(replace(frame, **{field: array}))
        return frame


@pytest.fixture
def feed(human: Robot, swaying: list[SensorFrame]) -> Feed:
    return Feed(human, swaying)


CASES = [
    ("position", 3, NAN, "encoder {}: NaN"),
    ("position", 3, INF, "encoder {}: infinite"),
    ("position", 3, 50.0, "encoder {}: out of range (50)"),
    ("position", 3, 1.0, "encoder {}: jump"),
    ("velocity", 3, NAN, "encoder {}: velocity NaN"),
    ("velocity", 3, -1e6, "encoder {}: velocity out of range (-1e+06)"),
    ("torque", 3, INF, "torque {}: infinite"),
    ("gyro", 1, NAN, "imu: gyro NaN"),
    ("gyro", 1, 1e9, "imu: gyro out of range (1e+09)"),
    ("acceleration", 0, -INF, "imu: accelerometer infinite"),
    ("wrench", (0, 2), NAN, "left foot: NaN"),
    ("wrench", (1, 4), 1e12, "right foot: out of range (1e+12)"),
]


@pytest.mark.parametrize(("field", "index", "value", "fault"), CASES)
def test_a_bad_value_is_named_and_replaced_and_the_fault_clears(
    feed: Feed, field: str, index: int, value: float, fault: str
) -> None:
    true = feed.bad(field, index, value)
    assert feed.guard.faults == (fault.format(feed.robot.joint_names[3]),)
    assert feed.guard.valid and not feed.guard.complete
    used, should = getattr(feed.guard, field), getattr(true, field)
    assert np.isfinite(used).all()
    scale = {"position": 2e-3, "velocity": 1.0, "torque": 1.0, "gyro": 0.05, "acceleration": 0.5, "wrench": 10.0}
    np.testing.assert_allclose(used, should, atol=scale[field])
    feed.good()
    assert feed.guard.faults == () and feed.guard.complete


@pytest.mark.parametrize(("field", "index"), [("position", 3), ("gyro", 1), ("acceleration", 0), ("wrench", (0, 2))])
def test_after_twenty_milliseconds_without_it_the_state_is_invalid(feed: Feed, field: str, index: int) -> None:
    verdicts = []
    for _ in range(25):
        feed.bad(field, index, NAN)
        verdicts.append(feed.guard.valid)
    assert all(verdicts[:20]) and not any(verdicts[20:])
    feed.good()
    assert feed.guard.valid and feed.guard.faults == ()


def test_a_hand_without_encoder_is_a_fault_but_not_the_end(feed: Feed) -> None:
    hand = int(feed.robot.groups["hands"][0])
    for _ in range(50):
        feed.bad("position", hand, NAN)
    assert feed.guard.faults == (f"encoder {feed.robot.joint_names[hand]}: NaN",)
    assert feed.guard.valid


def test_a_lost_position_is_dead_reckoned_from_the_velocity(feed: Feed) -> None:
    knee = int(feed.robot.symmetry[1, 0])
    for _ in range(20):
        true = feed.bad("position", knee, NAN)
    assert feed.guard.position[knee] == pytest.approx(true.position[knee], abs=1e-3)


def test_a_frozen_encoder_is_named_and_clears(feed: Feed) -> None:
    value = feed.frames[feed.k].position[3]
    named = False
    for _ in range(60):
        feed.bad("position", 3, value)
        named = named or feed.guard.faults == (f"encoder {feed.robot.joint_names[3]}: frozen",)
    assert named and not feed.guard.valid
    for _ in range(10):
        feed.good()
    assert feed.guard.faults == () and feed.guard.valid


def test_a_joint_that_really_is_elsewhere_is_believed_after_a_while(feed: Feed) -> None:
    for _ in range(60):
        true = feed.bad("position", 30, float(feed.frames[feed.k].position[30]) + 0.5)
    assert feed.guard.position[30] == pytest.approx(true.position[30] + 0.5) and feed.guard.faults == ()


def test_everything_missing_at_once_is_survived(feed: Feed) -> None:
    nothing = SensorFrame(
        feed.next().stamp, np.full(34, NAN), np.full(34, NAN), np.full(34, NAN), np.full(3, NAN), np.full(3, NAN),
        np.full((2, 6), NAN),
    )  # fmt: skip
    assert feed.guard.accept(nothing)
    assert len(feed.guard.faults) == 3 * 34 + 2 + 2
    for field in ("position", "velocity", "torque", "gyro", "acceleration", "wrench"):
        assert np.isfinite(getattr(feed.guard, field)).all()


def test_a_wrong_shape_is_one_clear_error(feed: Feed) -> None:
    with pytest.raises(InputError, match=r"position has shape \(33,\), expected \(34,\)"):
        feed.guard.accept(replace(feed.next(), position=np.zeros(33)))
    with pytest.raises(InputError, match=r"wrench has shape \(12,\), expected \(2, 6\)"):
        feed.guard.accept(replace(feed.next(), wrench=np.zeros(12)))
