"""Balance feedback (A4): golden values of the specification, and what each part does to the pose of a robot."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.errors import ConfigError
from humanoid_balance.motions.feedback import Errors, Modulation, stance_ankle, stance_hip, swing_hip
from humanoid_balance.motions.gain_table import GainTable, table
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

EXACT = 1e-12
NONE = Errors((1.0, 0.0), (0.0, 0.0), (0.0, 0.0), 0.0, 0.0)


@pytest.fixture(scope="module")
def body() -> Robot:
    return registry.load("lee47")


def turns(seed: int, count: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [np.array(pin.exp3(0.4 * rng.normal(size=3))) for _ in range(count)]


def ankle(robot: Robot, side: int, joints: Array, pelvis: Array) -> tuple[Array, Array]:
    """Place of an ankle from the pelvis, and orientation of the foot, in the world."""
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([np.zeros(3), pin.Quaternion(pelvis).coeffs(), joints])
    pin.forwardKinematics(model, data, q)
    leg = Modulation(robot).legs[side]
    return data.oMi[leg.ankle_joint].translation.copy(), data.oMi[leg.ankle_last].rotation.copy()


def modulated(robot: Robot, errors: Errors, s: float = 1.0, **more: Array) -> tuple[Array, Array]:
    """The target for a pose, and the pose; the stance thigh is where the pose has it unless given."""
    joints, pelvis = robot.posture.copy(), more.get("pelvis", np.eye(3))
    law = Modulation(robot)
    thigh = more.get("thigh", pelvis @ law.legs[0].hip.rotation(joints))
    gains = table().rows["walk forward normal"]
    return law.update(gains, joints, pelvis, 0, thigh, pelvis, errors, s, s, s), joints


def test_without_errors_the_target_is_the_reference(body: Robot) -> None:
    for s in (0.0, 0.3, 1.0):
        target, joints = modulated(body, NONE, s, pelvis=turns(0, 1)[0])
        np.testing.assert_allclose(target, joints, atol=EXACT)


def test_the_stance_hip_holds_the_pelvis_of_the_reference_on_the_thigh_as_it_is() -> None:
    hip, pelvis, thigh = turns(1, 3)
    np.testing.assert_array_equal(stance_hip(hip, pelvis, thigh, 1.0), pelvis.T @ thigh)
    np.testing.assert_allclose(stance_hip(hip, pelvis, thigh, 0.0), hip, atol=EXACT)
    half = stance_hip(hip, pelvis, thigh, 0.5)
    np.testing.assert_allclose(half @ hip.T @ half, pelvis.T @ thigh, atol=EXACT)


def test_on_the_robot_the_stance_hip_is_q_d(body: Robot) -> None:
    pelvis = np.array(pin.exp3(np.array([0.05, -0.1, 0.1])))
    leg = Modulation(body).legs[0]
    thigh = np.array(pin.exp3(np.array([-0.1, 0.15, 0.05]))) @ leg.hip.rotation(body.posture)
    target, _ = modulated(body, NONE, pelvis=pelvis, thigh=thigh)
    np.testing.assert_allclose(leg.hip.rotation(target), pelvis.T @ thigh, atol=EXACT)


def test_golden_angles_of_a_normal_walk() -> None:
    gains = table().rows["walk forward normal"]
    assert swing_hip(gains, (0.1, 0.0), (0.02, 0.0))[0] == pytest.approx(0.009, abs=EXACT)
    assert stance_ankle(gains, (0.1, 0.0), (0.02, 0.0))[0] == pytest.approx(0.012, abs=EXACT)
    assert swing_hip(gains, (-0.1, 0.0), (-0.02, 0.0))[0] == pytest.approx(-0.006, abs=EXACT)
    assert swing_hip(gains, (0.0, 0.1), (0.0, 0.02))[1] == pytest.approx(0.024, abs=EXACT)


def test_too_fast_a_body_steps_farther_and_plantar_flexes(body: Robot) -> None:
    """v - v_d = 0.5 m/s in any direction of the motion: the swing ankle goes there, the stance toe goes down."""
    for heading in (0.0, 1.0, 2.5):
        pelvis = np.array(pin.exp3(np.array([0.0, 0.0, heading])))
        ahead = pelvis[:, 0]
        errors = Errors((float(ahead[0]), float(ahead[1])), (-0.5, 0.0), (0.0, 0.0), 0.0, 0.0)
        target, joints = modulated(body, errors, pelvis=pelvis)
        moved = ankle(body, 1, target, pelvis)[0] - ankle(body, 1, joints, pelvis)[0]
        assert moved @ ahead > 0.01 and abs(moved @ pelvis[:, 1]) < 1e-3
        tip = ankle(body, 0, target, pelvis)[1][:, 0] - ankle(body, 0, joints, pelvis)[1][:, 0]
        assert tip[2] < -0.03


def test_a_body_that_goes_left_too_fast_steps_to_the_left(body: Robot) -> None:
    errors = Errors((1.0, 0.0), (0.0, -0.3), (0.0, -0.05), 0.0, 0.0)
    target, joints = modulated(body, errors)
    moved = ankle(body, 1, target, np.eye(3))[0] - ankle(body, 1, joints, np.eye(3))[0]
    assert moved[1] > 0.03 and abs(moved[0]) < 0.01


@pytest.mark.parametrize(("height", "side"), [(0.04, 1), (-0.04, 0)])
def test_the_swing_foot_is_lifted_and_too_high_a_one_lowers_the_body(body: Robot, height: float, side: int) -> None:
    target, joints = modulated(body, Errors((1.0, 0.0), (0.0, 0.0), (0.0, 0.0), height, 0.0))
    (before, foot), (after, kept) = (ankle(body, side, j, np.eye(3)) for j in (joints, target))
    np.testing.assert_allclose(after - before, [0.0, 0.0, 0.5 * abs(height)], atol=1e-9)
    np.testing.assert_allclose(kept, foot, atol=1e-9)


@pytest.mark.parametrize("part", Modulation.PARTS)
def test_each_part_can_be_left_out(body: Robot, part: str) -> None:
    errors = Errors((1.0, 0.0), (0.2, 0.1), (0.05, 0.02), 0.03, 0.0)
    thigh = np.array(pin.exp3(np.array([0.1, 0.1, 0.0])))
    gains, joints = table().rows["push test"], body.posture.copy()
    all_of_it, less = (
        Modulation(body, without).update(gains, joints, np.eye(3), 0, thigh, np.eye(3), errors, 1.0, 1.0, 1.0)
        for without in ((), (part,))
    )
    assert np.abs(all_of_it - less).max() > 1e-3


def test_a_bad_row_is_named(tmp_path) -> None:
    file = tmp_path / "feedback.yaml"
    good = (registry.config_folder() / "motions" / "feedback.yaml").read_text(encoding="utf-8")
    file.write_text(good.replace("[0, 0.3, 1.2, 0.05, 0.2, 0.1, 0.1]", "[0, 0.3]"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"rows\.forward gentle.*7 numbers: c1 sag"):
        GainTable(file)
    file.write_text(good.replace("other: walk forward normal", "other: hop"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"'other' is 'hop'; allowed: one of the rows: walk forward normal"):
        GainTable(file)


@pytest.mark.parametrize("name", ["lee47", "g1"])  # hinges at right angles, and not
def test_a_ball_joint_has_the_angles_of_its_rotation(name: str) -> None:
    robot, rng = registry.load(name), np.random.default_rng(3)
    for leg in Modulation(robot).legs:
        for _ in range(20):
            joints = robot.posture + 0.3 * rng.normal(size=robot.n)
            start = joints + 0.2 * rng.normal(size=robot.n)
            found = leg.hip.angles(leg.hip.rotation(joints), start)
            assert found == pytest.approx(joints[leg.hip.index], abs=1e-7)


def test_a_hinge_that_has_turned_round_stays_there() -> None:
    robot = registry.load("lee47")
    leg, joints = Modulation(robot).legs[0], robot.posture.copy()
    joints[leg.hip.index[0]] = 3.5
    assert leg.hip.angles(leg.hip.rotation(joints), joints) == pytest.approx(joints[leg.hip.index], abs=1e-9)
