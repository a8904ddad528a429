"""Placing the body by its IMU."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from estimation.motion import Motion
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.estimation.kinematics import BodyKinematics, quaternion
from humanoid_balance.robot.model import Robot

angle = st.floats(-3.1, 3.1)


@given(angle, angle, angle)
def test_quaternion_is_pinocchios(x: float, y: float, z: float) -> None:
    rotation = pin.exp3(np.array([x, y, z]))
    ours, theirs = np.array(quaternion(rotation.tolist())), pin.Quaternion(rotation).coeffs()
    np.testing.assert_allclose(ours * np.sign(ours @ theirs), theirs, atol=1e-7)


def with_imu(robot: Robot, link: str) -> Robot:
    return Robot(robot.name, robot.spec, replace(robot.config, imu=link), robot.urdf, robot.urdf_path)


def place_body(robot: Robot, motion: Motion, t: float) -> BodyKinematics:
    body = BodyKinematics(robot)
    rotation, position, speed, rate = motion.imu(t)
    body.update(motion.q(t)[7:], motion.v(t)[6:], rotation.tolist(), position.tolist(), speed.tolist(), rate.tolist())
    return body


@pytest.mark.parametrize("where", ["imu", "torso", "foot"])
def test_the_body_is_recovered_from_the_imu_wherever_it_sits(robot: Robot, where: str) -> None:
    link = {"imu": robot.config.imu, "torso": robot.config.torso, "foot": robot.config.feet[0].frame}[where]
    robot = with_imu(robot, link)
    place = pin.SE3(pin.exp3(np.array([0.1, 0.2, 2.0])), np.array([5.0, -3.0, 1.0]))
    motion, t = Motion(robot, place=place), 0.4
    q, v = motion.q(t), motion.v(t)
    body = place_body(robot, motion, t)
    np.testing.assert_allclose(body.q[:3], q[:3], atol=1e-9)
    np.testing.assert_allclose(pin.log3(body.rotation.T @ pin.Quaternion(q[3:7]).toRotationMatrix()), 0, atol=1e-7)
    np.testing.assert_allclose(body.v, v, atol=1e-7)
    np.testing.assert_allclose(body.com, motion.com(t), atol=1e-9)


def test_com_velocity_agrees_with_finite_differences(human: Robot) -> None:
    motion, t, h = Motion(human), 0.3, 1e-4
    numeric = (motion.com(t + h) - motion.com(t - h)) / (2 * h)
    body = place_body(human, motion, t)
    np.testing.assert_allclose(body.com_velocity, numeric, atol=1e-6)


def test_soles_at_rest_have_no_velocity(human: Robot) -> None:
    body = place_body(human, Motion(human), 0.3)
    for side in (0, 1):
        np.testing.assert_allclose(body.sole_twist(side), 0.0, atol=1e-6)


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.3, -1.2, 0.7)])
def test_the_twist_of_a_sole_is_pinocchios_however_its_frame_is_turned(
    human: Robot, turn: tuple[float, float, float]
) -> None:
    robot = Robot(human.name, human.spec, human.config, human.urdf, human.urdf_path)
    for frame in robot.sole_frames:
        robot.model.frames[frame].placement.rotation = pin.exp3(np.array(turn))
    body = BodyKinematics(robot)
    rng = np.random.default_rng(2)
    q, v = pin.randomConfiguration(robot.model), rng.standard_normal(robot.model.nv)
    body.update(q[7:], v[6:], np.eye(3).tolist(), [1.0, 2.0, 3.0], [0.3, -0.2, 0.1], [1.0, -2.0, 0.5])
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, body.q, body.v)
    for side, frame in enumerate(robot.sole_frames):
        expected = pin.getFrameVelocity(robot.model, data, frame, pin.ReferenceFrame.LOCAL).vector
        np.testing.assert_allclose(body.sole_twist(side), expected, atol=1e-12)
