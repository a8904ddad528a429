"""The whole estimator on motions known by formula."""

from dataclasses import fields, replace

import numpy as np
import pinocchio as pin
import pytest
from estimation.motion import Motion, noisy

from humanoid_balance.estimation import Estimator
from humanoid_balance.geometry import margin
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, RobotState, SensorFrame

YAW = pin.SE3(pin.exp3(np.array([0.0, 0.0, 2.5])), np.array([1000.0, -500.0, 20.0]))
SLOPE = pin.SE3(pin.exp3(np.array([0.08, -0.1, 0.0])), np.zeros(3))


def run(robot: Robot, frames: list[SensorFrame]) -> list[RobotState]:
    estimator = Estimator(robot)
    return [estimator.update(frame) for frame in frames]


def seen_from_left_sole(motion: Motion, t: float) -> Array:
    """True CoM from the left sole, in world axes turned so that the base started with heading zero."""
    start = pin.Quaternion(motion.q(0.0)[3:7]).toRotationMatrix()
    turn = pin.utils.rotate("z", -np.arctan2(start[1, 0], start[0, 0]))
    return turn @ (motion.com(t) - (motion.place * motion.soles[0]).translation)


def assert_finite(state: RobotState) -> None:
    """All numbers, but for what does not exist in flight or before the first push."""
    for field in fields(state):
        value = getattr(state, field.name)
        if isinstance(value, np.ndarray) and field.name not in ("cop", "zmp", "zmp_model", "zmp_push", "fri"):
            assert np.isfinite(value).all(), field.name
    assert np.isfinite(state.omega) and np.isfinite(state.ground_height) and np.isfinite(state.push.force).all()


def test_the_first_frame_stands_at_the_origin_with_heading_zero(robot: Robot) -> None:
    motion = Motion(robot, place=YAW)
    state = run(robot, [motion.frame(0.0)])[0]
    centres = state.sole_position + np.einsum("sij,sj->si", state.sole_rotation, robot.soles.mean(axis=1))
    np.testing.assert_allclose(centres.mean(axis=0), 0.0, atol=1e-6)
    base = pin.Quaternion(state.q[3:7]).toRotationMatrix()
    assert np.arctan2(base[1, 0], base[0, 0]) == pytest.approx(0.0, abs=1e-6)
    assert state.contact.all() and state.valid and state.faults == ()
    assert state.com[2] == pytest.approx(robot.com_height, abs=1e-3)


@pytest.mark.parametrize("place", [pin.SE3.Identity(), YAW, SLOPE], ids=["origin", "far away", "slope"])
def test_with_perfect_sensors_the_state_is_the_truth(human: Robot, place: pin.SE3) -> None:
    motion = Motion(human, 1.5, place=place)
    states = run(human, motion.frames(0.6))
    for k in (100, 300, 599):
        t, state = 0.001 * k, states[k]
        np.testing.assert_allclose(state.com - state.sole_position[0], seen_from_left_sole(motion, t), atol=1e-3)
        speed = np.linalg.norm(motion.com_velocity(t))
        assert np.linalg.norm(state.com_velocity) == pytest.approx(speed, abs=3e-3)
        np.testing.assert_allclose(state.v[6:], motion.v(t)[6:], atol=1e-9)
        up, true_up = (pin.Quaternion(q[3:7]).toRotationMatrix()[2] for q in (state.q, motion.q(t)))
        np.testing.assert_allclose(up, true_up, atol=1e-3)


def test_noise_is_filtered_out_of_the_com_velocity_without_lag(human: Robot, swaying: list[SensorFrame]) -> None:
    rng = np.random.default_rng(0)
    bias = np.array([2e-3, -2e-3, 1e-3, 0.02, -0.02, 0.02])
    states = run(human, [noisy(f, rng, bias) for f in swaying])
    motion = Motion(human)
    errors = [states[k].com_velocity - motion.com_velocity(0.001 * k) for k in range(200, 1000, 20)]
    assert np.sqrt(np.mean(np.square(errors)) * 3) < 0.01
    places = [
        states[k].com - states[k].sole_position[0] - seen_from_left_sole(motion, 0.001 * k)
        for k in range(200, 1000, 20)
    ]
    assert np.sqrt(np.mean(np.square(places)) * 3) < 0.003


def test_com_acceleration_and_momentum_rate_agree_with_finite_differences(
    human: Robot, swaying: list[SensorFrame]
) -> None:
    states = run(human, swaying)
    motion, k, h = Motion(human), 700, 1e-3
    numeric = (motion.com_velocity(0.7 + h) - motion.com_velocity(0.7 - h)) / (2 * h)
    np.testing.assert_allclose(states[k].com_acceleration, numeric, atol=0.02)
    rate = (states[k + 5].angular_momentum - states[k - 5].angular_momentum) / 0.01
    np.testing.assert_allclose(states[k].angular_momentum_rate, rate, atol=0.5)


def test_zmp_of_soles_and_model_agree_and_the_dcm_is_ahead_of_the_com(human: Robot, swaying: list[SensorFrame]) -> None:
    for state in run(human, swaying)[100::100]:
        np.testing.assert_allclose(state.zmp_model, state.zmp, atol=5e-3)
        np.testing.assert_allclose(state.fri, state.zmp, atol=5e-3)
        assert state.omega == pytest.approx(np.sqrt(GRAVITY / (state.com[2] - state.ground_height)))
        np.testing.assert_allclose(state.dcm, state.com + state.com_velocity / state.omega)
        assert margin(state.support, state.zmp) > 0.01


def test_the_support_polygon_is_the_hull_of_the_soles(human: Robot) -> None:
    state = run(human, [Motion(human, place=SLOPE).frame(0.0)])[0]
    corners = np.einsum("sij,skj->ski", state.sole_rotation, human.soles) + state.sole_position[:, None]
    for corner in corners.reshape(-1, 3):
        assert margin(state.support, corner) > -1e-9
    angle = np.degrees(np.arccos(state.ground_normal[2]))
    assert angle == pytest.approx(np.degrees(np.arccos(SLOPE.rotation[2, 2])), abs=0.1)


def test_a_push_moves_the_model_zmp_but_not_the_one_that_knows_the_push(human: Robot) -> None:
    force = 100.0
    motion = Motion(human, 0.0, push=lambda t: np.array([force if t > 0.15 else 0.0, 0.0, 0.0]))
    state = run(human, motion.frames(0.4))[-1]
    # The body stands still against the push: the model without it sees the ZMP under the CoM.
    assert state.push.active and state.push.force[0] == pytest.approx(force, rel=0.05)
    assert np.linalg.norm((state.zmp_push - state.zmp)[:2]) < 0.015
    torso = pin.framesForwardKinematics(human.model, human.data, motion.q(0.3)) or human.data.oMf[human.torso_frame]
    off = force * torso.translation[2] / human.weight
    assert (state.zmp - state.zmp_model)[0] == pytest.approx(off, rel=0.1)
    assert state.push.height == pytest.approx(torso.translation[2], abs=0.05)


def test_a_lifted_foot_leaves_the_support(human: Robot) -> None:
    motion = Motion(human, 0.5, lift=lambda t: 0.0 if t < 0.3 else 0.05 * (1 - np.cos(20 * (t - 0.3))))
    states = run(human, motion.frames(0.45))
    assert states[290].contact.tolist() == [True, True]
    change = next(k for k, s in enumerate(states) if not s.contact[1])
    assert 300 <= change <= 305
    assert all(s.contact.tolist() == [True, False] for s in states[change:])
    assert np.isnan(states[-1].cop[1]).all() and np.isfinite(states[-1].cop[0]).all()
    assert len(states[-1].support) == 4 and states[-1].contact_probability[1] < 0.05
    np.testing.assert_allclose(states[-1].sole_position[1, 2], motion.lift(0.449), atol=2e-3)
    error = states[-1].com - states[-1].sole_position[0] - seen_from_left_sole(motion, 0.449)
    assert np.linalg.norm(error) < 2e-3


def test_states_are_not_overwritten_by_later_ticks(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator = Estimator(human)
    first = estimator.update(swaying[0])
    kept = {f.name: np.copy(getattr(first, f.name)) for f in fields(first) if f.name != "push"}
    for frame in swaying[1:50]:
        estimator.update(frame)
    for name, value in kept.items():
        np.testing.assert_array_equal(getattr(first, name), value)


def test_it_is_deterministic_and_reset_forgets(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator = Estimator(human)
    once = [estimator.update(f) for f in swaying[:100]][-1]
    estimator.reset()
    again = [estimator.update(f) for f in swaying[:100]][-1]
    np.testing.assert_array_equal(once.q, again.q)
    np.testing.assert_array_equal(once.com_velocity, again.com_velocity)


def spoil(frame: SensorFrame, field: str) -> SensorFrame:
    return replace(frame, **{field: np.full_like(getattr(frame, field), np.nan)})


@pytest.mark.parametrize("field", ["position", "velocity", "torque", "gyro", "acceleration", "wrench"])
def test_ten_milliseconds_without_a_sensor_are_bridged(human: Robot, swaying: list[SensorFrame], field: str) -> None:
    estimator, clean = Estimator(human), run(human, swaying[:600])
    for k, frame in enumerate(swaying[:600]):
        missing = 500 <= k < 510
        state = estimator.update(spoil(frame, field) if missing else frame)
        assert_finite(state)
        assert state.valid and bool(state.faults) == missing
    np.testing.assert_allclose(state.com, clean[-1].com, atol=2e-3)
    np.testing.assert_allclose(state.com_velocity, clean[-1].com_velocity, atol=5e-3)


@pytest.mark.parametrize("field", ["position", "gyro", "acceleration", "wrench"])
def test_a_longer_outage_is_invalid_and_recovers(human: Robot, swaying: list[SensorFrame], field: str) -> None:
    estimator = Estimator(human)
    valid = []
    for k, frame in enumerate(swaying):
        state = estimator.update(spoil(frame, field) if 400 <= k < 480 else frame)
        assert_finite(state)
        valid.append(state.valid)
    assert all(valid[:420]) and not any(valid[421:480]) and all(valid[480:])
    assert state.faults == ()
    motion = Motion(human)
    np.testing.assert_allclose(state.com - state.sole_position[0], seen_from_left_sole(motion, 0.999), atol=5e-3)
    np.testing.assert_allclose(state.com_velocity, motion.com_velocity(0.999), atol=0.02)


def test_odd_stamps_are_named_and_harmless(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator = Estimator(human)
    for frame in swaying[:500]:
        state = estimator.update(frame)
    same = estimator.update(swaying[499])
    assert same.faults == ("stamp: repeated",) and same.valid
    np.testing.assert_array_equal(same.com, state.com)
    assert estimator.update(swaying[300]).faults == ("stamp: runs backward",)
    late = estimator.update(swaying[520])
    assert late.faults == ("stamp: late by 0.020 s",) and late.valid
    for frame in swaying[521:700]:
        state = estimator.update(frame)
    assert state.faults == () and state.valid
    np.testing.assert_allclose(state.com_velocity, Motion(human).com_velocity(0.699), atol=0.01)


def test_a_gap_of_half_a_second_is_resumed_where_the_robot_stands(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator = Estimator(human)
    for frame in swaying[:300]:
        before = estimator.update(frame)
    states = [estimator.update(frame) for frame in swaying[800:]]
    assert not states[0].valid and "gap" in states[0].faults[0] and states[-1].valid
    np.testing.assert_allclose(states[0].sole_position[:, :2], before.sole_position[:, :2], atol=0.01)
    error = states[-1].com - states[-1].sole_position[0] - seen_from_left_sole(Motion(human), 0.999)
    assert np.linalg.norm(error) < 0.02


def test_a_wrong_velocity_does_not_lock_out_soles_that_stand(human: Robot) -> None:
    """Seen with a velocity that is off, both soles slip, for ever; then it is the velocity that is doubted."""
    motion, rng = Motion(human), np.random.default_rng(3)
    estimator, frames = Estimator(human), [noisy(frame, rng) for frame in motion.frames(1.5)]
    for frame in frames[:500]:
        estimator.update(frame)
    base = estimator._base
    base.velocity = [base.velocity[0] - 0.12, base.velocity[1] + 0.06, base.velocity[2]]
    base.correct()  # nothing has been collected of it
    states = [estimator.update(frame) for frame in frames[500:]]
    assert (states[20].contact_probability == 0.5).all(), "both should seem to slip"
    errors = [float(np.linalg.norm(s.com_velocity - motion.com_velocity(s.stamp))) for s in states]
    assert errors[20] > 0.08
    assert max(errors[400:]) < 0.02
    assert (states[-1].contact_probability == 1.0).all()


def test_it_waits_for_the_first_complete_frame(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator = Estimator(human)
    first = estimator.update(spoil(swaying[0], "gyro"))
    assert not first.valid and first.faults
    assert_finite(first)
    assert not estimator.update(replace(swaying[1], stamp=np.nan)).valid
    assert estimator.update(swaying[2]).valid


def test_a_first_sample_that_says_upside_down_is_still_a_rotation(human: Robot, swaying: list[SensorFrame]) -> None:
    first = replace(swaying[0], acceleration=np.array([1.6e-5, 2e-7, -9.81]), wrench=np.zeros((2, 6)))
    state = run(human, [first])[0]
    assert np.linalg.norm(state.q[3:7]) == pytest.approx(1.0, abs=1e-12)
