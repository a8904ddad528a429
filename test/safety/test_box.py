"""The safety box: what passes, what is made smaller, what trips it, and what clears it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from box_faults import STAMP, active, faulty, is_braking, too_fast, torques, with_joint
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bounds import TorqueBounds
from humanoid_balance.safety.box import COMMAND_AGE, Arming, SafetyBox, Trip
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand

# ---- arming ----


def test_disarmed_box_gives_no_torque_at_all(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    sent = SafetyBox(robot).update(*standing, torques(robot, 10.0))
    assert not sent.torque.any() and not sent.damping.any() and not sent.stiffness.any()
    assert sent.damped


def test_armed_box_brakes(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    box = SafetyBox(robot)
    box.arm()
    assert is_braking(robot, box.update(*standing, torques(robot, 10.0)))
    assert (robot.brake > 0.0).all()


def test_active_box_lets_a_small_torque_through(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    wanted = torques(robot, 0.1 * robot.torque_limit)
    sent = active(robot).update(*standing, wanted)
    np.testing.assert_array_equal(sent.torque, wanted.torque)
    assert not sent.damped and sent.stamp == wanted.stamp


def test_a_disarmed_box_cannot_be_activated(robot: Robot) -> None:
    box = SafetyBox(robot)
    box.activate(np.zeros(robot.n))
    assert box.arming is Arming.DISARMED


def test_disarming_takes_the_torque_away(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    box = active(robot)
    box.disarm()
    sent = box.update(*standing, torques(robot, 1.0))
    assert not sent.torque.any() and not sent.damping.any()


# ---- bounds ----


def test_torque_continues_from_what_the_motors_give(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    present = 0.7 * robot.torque_limit
    box = SafetyBox(robot)
    box.arm()
    box.activate(present)
    sent = box.update(*standing, torques(robot, 0.0))
    np.testing.assert_allclose(sent.torque, present - 0.2 * robot.torque_limit)


def test_torque_never_exceeds_the_limit(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    box = active(robot)
    for _ in range(10):
        sent = box.update(*standing, torques(robot, 50.0 * robot.torque_limit))
    np.testing.assert_allclose(sent.torque, robot.torque_limit)


@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_is_asked_both_bounds_hold(robot: Robot, standing: tuple[SensorFrame, RobotState], seed: int) -> None:
    random = np.random.default_rng(seed)
    box, before = active(robot), np.zeros(robot.n)
    for _ in range(20):
        wanted = torques(robot, 3.0 * robot.torque_limit * random.uniform(-1, 1, robot.n))
        sent = box.update(*standing, wanted).torque
        assert (np.abs(sent) <= robot.torque_limit + 1e-9).all()
        assert (np.abs(sent - before) <= box.limits.rate * robot.torque_limit + 1e-9).all()
        bounded = np.clip(wanted.torque, -robot.torque_limit, robot.torque_limit)
        between = (np.minimum(before, bounded) - 1e-9 <= sent) & (sent <= np.maximum(before, bounded) + 1e-9)
        assert between.all()  # on the way to the wish, never past it
        before = sent


@given(seed=st.integers(0, 2**32 - 1))
def test_bounds_are_exact_to_the_last_bit(robot: Robot, seed: int) -> None:
    """Limit first, then rate, also near both and while the limit shrinks below the present torque."""
    random = np.random.default_rng(seed)
    limit, still = robot.torque_limit, np.zeros(robot.n)
    bounds, before = TorqueBounds(limit, 0.2), np.zeros(robot.n)
    bounds.start(before)
    for _ in range(20):
        bounds.share = share = random.choice([1.0, 0.5, 0.0], robot.n)
        wanted = random.choice([before, limit, 0.2 * limit, before + 0.2 * limit, 3.0 * limit]) * random.choice([1, -1])
        exact = np.clip(np.clip(wanted, -limit * share, limit * share), before - 0.2 * limit, before + 0.2 * limit)
        sent = bounds.apply(torques(robot, wanted), still, still).torque
        np.testing.assert_array_equal(sent, exact)
        before = sent


# ---- trips ----


FAULTS = ("not a number", "infinite", "invalid state", "old command", "fast", "above", "below")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_trips_at_once_and_is_named(kind: str, robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    state, command, what, where = faulty(kind, robot, *standing)
    box = active(robot)
    sent = box.update(standing[0], state, command)
    assert is_braking(robot, sent)
    assert box.arming is Arming.TRIPPED and box.trip is not None
    assert box.trip.what.startswith(what) and box.trip.where == where
    assert where in str(box.trip) and "limit" in str(box.trip)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_trip_is_latched_until_reset(kind: str, robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    frame, good_state = standing
    state, command, _, _ = faulty(kind, robot, frame, good_state)
    box = active(robot)
    box.update(frame, state, command)
    first, good = box.trip, torques(robot, 1.0)
    for attempt in (box.arm, box.disarm, lambda: box.activate(np.zeros(robot.n))):
        attempt()
        assert is_braking(robot, box.update(frame, good_state, good))
    assert box.trip is first
    box.reset()
    assert box.arming is Arming.DISARMED and box.trip is None
    box.arm()
    box.activate(np.zeros(robot.n))
    assert box.update(frame, good_state, good).torque.any()


def test_the_first_reason_is_kept(robot: Robot) -> None:
    box = active(robot)
    box.stop(Trip("emergency stop", "operator", 1.0, 0.0))
    box.stop(Trip("old command", "controller", 0.5, 0.02))
    assert box.trip is not None and box.trip.what == "emergency stop"


def test_what_is_still_normal_does_not_trip(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    frame, state = standing
    q, v = state.q.copy(), state.v.copy()
    q[7:] = robot.upper + 0.1
    v[6:] = 1.4 * robot.velocity_limit
    box = active(robot)
    box.update(frame, replace(state, q=q, v=v), torques(robot, 0.0, frame.stamp - 0.9 * COMMAND_AGE))
    assert box.arming is Arming.ACTIVE


def test_faults_do_not_trip_a_box_that_is_not_active(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    state, command, _, _ = faulty("not a number", robot, *standing)
    box = SafetyBox(robot)
    box.arm()
    sent = box.update(standing[0], state, command)
    assert box.arming is Arming.ARMED and np.isfinite(sent.torque).all()


# ---- joints that do not behave ----


def follow(
    robot: Robot, standing: tuple[SensorFrame, RobotState], speeds: Array, torque: float, joint: int = 4
) -> SafetyBox:
    """A joint with these speeds [rad/s], a millisecond apart, while its motor gives ``torque``, as it was asked to."""
    box, asked = SafetyBox(robot), np.zeros(robot.n)
    asked[joint] = torque
    box.arm()
    box.activate(asked)
    for k, speed in enumerate(speeds):
        frame, state = with_joint(standing, STAMP + 0.001 * k, joint, float(speed), torque)
        box.update(frame, state, torques(robot, asked, frame.stamp))
    return box


def test_a_joint_that_gets_faster_against_its_torque_trips(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    speeds = np.linspace(0.1, 1.2, 120) * robot.velocity_limit[4]
    box = follow(robot, standing, speeds, -0.5 * robot.torque_limit[4])
    assert box.trip is not None and box.trip.what.startswith("joint moves against its torque")
    assert box.trip.where == robot.joint_names[4]


@pytest.mark.parametrize("case", ["with its torque", "little torque", "slowed down", "a short bump"])
def test_a_joint_that_is_pushed_or_driven_does_not_trip(
    case: str, robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    limit, top = robot.torque_limit[4], robot.velocity_limit[4]
    rising = np.linspace(0.1, 1.2, 120) * top
    speeds, torque = {
        "with its torque": (rising, 0.5 * limit),
        "little torque": (rising, -0.2 * limit),
        "slowed down": (rising[::-1], -0.5 * limit),
        "a short bump": (np.concatenate([rising[::3], np.zeros(20)]), -0.5 * limit),
    }[case]
    assert follow(robot, standing, speeds, torque).arming is Arming.ACTIVE


def test_a_joint_thrown_for_a_few_milliseconds_does_not_trip(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    """A landing throws an ankle; so do the next ones, a step later."""
    thrown, calm = np.full(6, -1.9 * too_fast(robot)), np.zeros(300)
    speeds = np.concatenate([thrown, calm] * 5)
    assert follow(robot, standing, speeds, 0.0).arming is Arming.ACTIVE


@pytest.mark.parametrize("period", [0.001, 0.002, 0.005])
def test_a_joint_that_stays_too_fast_trips_after_10_ms(
    period: float, robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    box = active(robot)
    for k in range(40):
        speed = 0.0 if k == 0 else 1.01 * too_fast(robot)
        frame, state = with_joint(standing, STAMP + period * k, 4, speed, 0.0)
        sent = box.update(frame, state, torques(robot, 0.0, frame.stamp))
        if box.trip is not None:
            break
    assert k * period == pytest.approx(0.010) and is_braking(robot, sent)
    assert box.trip is not None and box.trip.what.startswith("joint too fast")
    assert box.trip.where == robot.joint_names[4] and box.trip.limit == pytest.approx(too_fast(robot))


def test_a_joint_that_shakes_trips_although_it_is_slow_in_between(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    speeds = 1.5 * too_fast(robot) * np.sin(2 * np.pi * 50.0 * np.arange(100) / 1000.0)
    box = follow(robot, standing, speeds, 0.0)
    assert box.trip is not None and box.trip.what.startswith("joint too fast")


def test_excursions_are_forgotten_when_the_robot_is_activated_again(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    thrown = np.full(9, 1.5 * too_fast(robot))
    box = follow(robot, standing, np.concatenate([[0.0], thrown]), 0.0)
    box.disarm()
    box.arm()
    box.activate(np.zeros(robot.n))
    for k, speed in enumerate(thrown):
        frame, state = with_joint(standing, STAMP + 0.1 + 0.001 * k, 4, float(speed), 0.0)
        box.update(frame, state, torques(robot, 0.0, frame.stamp))
    assert box.arming is Arming.ACTIVE


def test_a_joint_that_stops_answering_trips_after_20_ms(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    box, (frame, state) = active(robot), standing
    silent = frame.position.copy()
    silent[7] = np.nan
    box.update(frame, state, torques(robot, 0.0))
    for k in range(1, 40):
        stamp = STAMP + 0.001 * k
        box.update(
            replace(frame, stamp=stamp, position=silent), replace(state, stamp=stamp), torques(robot, 0.0, stamp)
        )
        if box.trip is not None:
            break
    assert k in (20, 21) and box.trip is not None  # 20 ms, to rounding
    assert box.trip.what.startswith("joint does not answer") and box.trip.where == robot.joint_names[7]


def test_feedback_in_the_drives_is_bounded_too(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    frame, state = standing
    box, one = active(robot), np.ones(robot.n)
    before = np.zeros(robot.n)
    for _ in range(10):
        wanted = TorqueCommand(STAMP, 0 * one, state.q[7:] + 1.0, 0 * one, 50.0 * robot.torque_limit, one)
        sent = box.update(frame, state, wanted)
        made = sent.torque + sent.stiffness * (sent.position - state.q[7:]) + sent.damping * (0.0 - state.v[6:])
        assert (np.abs(made - before) <= 0.2 * robot.torque_limit * (1 + 1e-9)).all()
        before = made
    np.testing.assert_allclose(before, robot.torque_limit)


def test_a_joint_that_may_use_less_gets_less(robot: Robot, standing: tuple[SensorFrame, RobotState]) -> None:
    box = active(robot)
    box.bounds.share = np.full(robot.n, 0.3)
    for _ in range(10):
        sent = box.update(*standing, torques(robot, robot.torque_limit))
    np.testing.assert_allclose(sent.torque, 0.3 * robot.torque_limit)
