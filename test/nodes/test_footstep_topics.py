"""Footstep plans as messages, and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path

from humanoid_balance.experiments.footstep_plan import foothold
from humanoid_balance.loop import heeded
from humanoid_balance.nodes import footstep_topics
from humanoid_balance.recording import wanted
from humanoid_balance.types import LEFT, RIGHT, Command


def step(foot: str, x: float, y: float, yaw: float = 0.0) -> PoseStamped:
    pose = PoseStamped()
    pose.header.frame_id = foot
    pose.pose.position.x, pose.pose.position.y = x, y
    pose.pose.orientation.z, pose.pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return pose


def test_each_pose_names_its_foot() -> None:
    message = Path(poses=[step("l_sole", 0.2, 0.1, 0.5), step("r_sole", 0.4, -0.1)])
    message.header.frame_id, message.header.stamp.sec = "odom", 7
    (left, right), why = wanted.footsteps(message)
    assert not why and (left.contact, right.contact) == ("l_sole", "r_sole") and left.stamp == 7.0
    np.testing.assert_allclose(left.rotation, foothold(LEFT, 0.2, 0.1, 0.5).rotation, atol=1e-12)
    np.testing.assert_allclose(right.position, [0.4, -0.1, 0.0])


def test_a_plan_in_another_frame_is_refused() -> None:
    message = Path(poses=[step("l_sole", 0.2, 0.1)])
    message.header.frame_id = "map"
    plan, why = wanted.footsteps(message)
    assert plan == () and "'map'" in why and "odom" in why


def test_numbers_that_are_none_do_not_pass_the_loop() -> None:
    for bad in (step("l_sole", math.nan, 0.1), step("l_sole", 0.2, 0.1)):
        bad.pose.orientation.w = 0.0 if bad.pose.position.x == 0.2 else 1.0
        plan, _ = wanted.footsteps(Path(poses=[bad]))
        heard, why = heeded(Command(0.0, footsteps=plan), 0.0)
        assert heard.footsteps == () and "l_sole" in why


def test_planned_footsteps_are_poses_in_odom() -> None:
    message = footstep_topics.planned((foothold(RIGHT, 1.0, -0.1, 0.4), foothold(LEFT, 1.2, 0.1, 0.0)), 3.5)
    assert message.header.frame_id == "odom" and message.header.stamp.sec == 3
    first, second = message.poses
    assert (first.position.x, second.position.x) == (1.0, 1.2)
    assert 2 * math.atan2(first.orientation.z, first.orientation.w) == pytest.approx(0.4)
