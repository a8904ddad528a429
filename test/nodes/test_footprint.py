"""``odom`` -> ``base_footprint`` -> root link, as REP 105 and REP 120 ask."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from wholebody.harness import state_at

from humanoid_balance.nodes.state_topics import _odometry, transforms
from humanoid_balance.robot import registry
from humanoid_balance.types import RobotState


@pytest.fixture(scope="module")
def state() -> RobotState:
    """Somewhere, heading 2 rad, leaning, one foot lifted, on its way forward."""
    robot = registry.load("g1")
    q, v = robot.q_nominal.copy(), np.zeros(robot.model.nv)
    q[:2] = 3.0, -1.0
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.2, 2.0)).coeffs()
    forward = np.array([0.5 * math.cos(2.0), 0.5 * math.sin(2.0), 0.0])
    v[:3] = pin.rpy.rpyToMatrix(0.1, 0.2, 2.0).T @ forward
    v[3:6] = pin.rpy.rpyToMatrix(0.1, 0.2, 2.0).T @ [0.0, 0.0, 0.3]
    made = state_at(robot, q, v)
    lifted = made.sole_position.copy()
    lifted[0, 2] += 0.05
    return replace(made, sole_position=lifted, stamp=4.0)


def test_the_footprint_is_level_between_the_soles_with_the_heading_of_the_base(state: RobotState) -> None:
    pose, twist = _odometry(state).pose.pose, _odometry(state).twist.twist
    middle = state.sole_position.mean(axis=0)
    assert (pose.position.x, pose.position.y) == pytest.approx((middle[0], middle[1]))
    assert pose.position.z == pytest.approx(state.sole_position[:, 2].min())
    assert (pose.orientation.x, pose.orientation.y) == (0.0, 0.0)
    assert 2 * math.atan2(pose.orientation.z, pose.orientation.w) == pytest.approx(2.0)
    assert (twist.linear.x, twist.linear.y) == pytest.approx((0.5, 0.0), abs=1e-9)
    assert twist.angular.z == pytest.approx(0.3)
    assert _odometry(state).child_frame_id == "base_footprint"


def test_the_two_transforms_together_are_the_pose_of_the_root_link(state: RobotState) -> None:
    first, second = transforms(state, "pelvis")
    assert (first.header.frame_id, first.child_frame_id) == ("odom", "base_footprint")
    assert (second.header.frame_id, second.child_frame_id) == ("base_footprint", "pelvis")
    assert first.header.stamp.sec == second.header.stamp.sec == 4
    placed = []
    for message in (first, second):
        t, r = message.transform.translation, message.transform.rotation
        placed.append(pin.SE3(pin.Quaternion(r.w, r.x, r.y, r.z).matrix(), np.array([t.x, t.y, t.z])))
    whole = placed[0] * placed[1]
    np.testing.assert_allclose(whole.translation, state.q[:3], atol=1e-12)
    np.testing.assert_allclose(whole.rotation, pin.Quaternion(*state.q[[6, 3, 4, 5]]).matrix(), atol=1e-12)
