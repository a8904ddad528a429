"""The law: angles of the table are angles of the body, and the hips turn the trunk with internal torques alone."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.gaits import library
from humanoid_balance.gaits.limbs import JointedBody
from humanoid_balance.gaits.simbicon import Simbicon
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

ROBOTS = ("r2d", "human", "talos", "g1")


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def standing(robot: Robot, speed: float = 0.0) -> Any:
    """A state as far as the law looks at it, the body gliding forward [m/s]."""
    q, v = robot.q_nominal.copy(), np.zeros(robot.model.nv)
    base = pin.Quaternion(q[3:7]).toRotationMatrix()
    v[:3] = base.T @ [speed, 0.0, 0.0]
    wrench = np.zeros((2, 6))
    wrench[:, 2] = robot.weight / 2
    return SimpleNamespace(q=q, v=v, contact=np.array([True, True]), wrench=wrench)


def test_hip_knee_and_ankle_are_found_by_kinematics(robot: Robot) -> None:
    body = JointedBody(robot)
    for limb, letter in zip(body.limbs, "lr", strict=True):
        names = [robot.joint_names[i].lower() for i in (limb.hip[-1], limb.knee.index, limb.ankle.index)]
        if robot.name != "talos":  # it numbers its joints
            assert "hip" in names[0]
            assert "knee" in names[1]
            assert "ankle" in names[2]
        assert all(name.startswith(letter) or f"_{letter}" in name or "leg" in name for name in names)


def test_a_knee_angle_of_the_table_is_that_between_thigh_and_shank(robot: Robot) -> None:
    limb, model = JointedBody(robot).limbs[0], robot.model
    q = robot.q_nominal.copy()
    q[7 + limb.knee.index] = limb.knee.position(-0.8)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    chain = [
        j for j in range(2, model.njoints) if model.idx_vs[j] - 6 in (limb.hip[-1], limb.knee.index, limb.ankle.index)
    ]
    pitch = [limb.thigh, limb.shank, limb.ankle_joint]
    assert set(pitch[1:]) <= set(chain)
    a, b, c = (data.oMi[j].translation[[0, 2]] for j in (_hip_pitch(robot, limb), limb.shank, limb.ankle_joint))
    forward = [np.arctan2(way[0], -way[1]) for way in (b - a, c - b)]
    assert forward[1] - forward[0] == pytest.approx(-0.8, abs=0.03)  # axes are not exactly lateral on all


def _hip_pitch(robot: Robot, limb: Any) -> int:
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, robot.q_nominal)
    return next(j for j in limb.hip_joints if abs(data.J[4, robot.model.idx_vs[j]]) > 0.7)


def test_the_hips_give_the_trunk_the_virtual_torque_and_nothing_else() -> None:
    robot = registry.load("r2d")
    law, table = Simbicon(robot), library.find("bent")
    found = law.update(table, table.states[0], 0, standing(robot), 0.0)
    left, right = (limb.hip[0] for limb in law.body.limbs)
    assert found.trunk[1] > 50.0  # it should lean forward
    assert found.torque[left] + found.torque[right] == pytest.approx(-found.trunk[1], rel=1e-6)


@pytest.mark.parametrize(("name", "thrown"), [("bent", False), ("run", True)])
def test_in_flight_only_a_run_throws_the_stance_leg_with_what_the_swinging_leg_leaves_over(
    name: str, thrown: bool
) -> None:
    robot = registry.load("r2d")
    law, table, flying = Simbicon(robot), library.find(name), standing(robot)
    flying.wrench[:] = 0.0
    found = law.update(table, table.states[0], 0, flying, 0.0)
    stance, swing = (found.torque[limb.hip[0]] for limb in law.body.limbs)
    assert abs(swing) > 50.0
    assert stance == pytest.approx(-found.trunk[1] - (swing if thrown else 0.0), rel=1e-6)


def test_the_swing_thigh_is_sent_further_forward_the_faster_the_hips_go() -> None:
    robot = registry.load("r2d")
    law, table = Simbicon(robot), library.find("walk")
    swing = law.body.limbs[1].hip[0]
    slow, fast = (law.update(table, table.states[0], 0, standing(robot, v), 0.0) for v in (0.0, 1.0))
    assert fast.balance.v[0] == pytest.approx(1.0, abs=1e-9)
    # c_v 0.2 rad s/m x 1 m/s x 300 N m/rad, forward is a negative joint torque
    assert fast.torque[swing] - slow.torque[swing] == pytest.approx(-0.2 * 300.0, rel=1e-6)


@pytest.mark.parametrize(("speed", "angle"), [(-9.0, -0.4), (9.0, 1.6)])
def test_feedback_does_not_throw_the_thigh_beyond_its_range(speed: float, angle: float) -> None:
    robot = registry.load("r2d")
    law, table = Simbicon(robot), library.find("walk")
    swing = law.body.limbs[1].hip[0]
    state = table.states[0]
    found = law.update(table, state, 0, standing(robot, speed), 0.0)
    at_rest = law.update(table, replace(state, swing_hip=angle, c_v=0.0, c_d=0.0), 0, standing(robot, speed), 0.0)
    assert found.torque[swing] == pytest.approx(at_rest.torque[swing], rel=1e-9)


def test_a_late_foot_is_led_by_half_of_what_its_target_moves() -> None:
    robot = registry.load("r2d")
    law, table = Simbicon(robot), library.find("walk")
    swing = law.body.limbs[1].hip[0]
    state = replace(table.states[1], c_d=0.5, swing_hip=0.1)
    now = standing(robot, 1.0)
    usual, late = (law.update(table, state, 0, now, 0.0, late=late).torque[swing] for late in (False, True))
    # c_d 0.5 rad/m x 1 m/s / 2 x 30 N m s/rad, forward is a negative joint torque
    assert late - usual == pytest.approx(-0.5 * 0.5 * 30.0, rel=1e-6)


def test_balance_is_seen_along_the_heading() -> None:
    robot = registry.load("human")
    law, table = Simbicon(robot), library.find("walk-3d")
    found = law.update(table, table.states[0], 0, standing(robot, 1.0), np.pi / 2)
    assert found.balance.v == pytest.approx((0.0, -1.0), abs=1e-9)


def test_a_joint_that_the_robot_lacks_is_named() -> None:
    robot = registry.load("r2d")
    table = replace(library.find("walk"), posture={"*_antenna": 0.1})
    with pytest.raises(InputError, match=r"walk\.yaml.*posture\.\*_antenna.*r2d"):
        Simbicon(robot).check(table)


def test_a_planar_body_refuses_a_gait_in_space() -> None:
    with pytest.raises(InputError, match=r"walk-3d\.yaml.*space"):
        Simbicon(registry.load("r2d")).check(library.find("walk-3d"))
