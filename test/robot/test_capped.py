"""A robot with a share of its torque: what bounds and plans torques sees the same cap as the boards."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_balance.robot import registry
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import TorqueCommand


@pytest.mark.parametrize("name", ["g1", "talos", "human"])
def test_limits_and_actuation_are_cut_and_nothing_adds_up(name: str) -> None:
    robot = registry.load(name)
    capped = robot.capped(0.3)
    np.testing.assert_array_equal(capped.torque_limit, 0.3 * robot.torque_limit)
    np.testing.assert_array_equal(capped.capped(0.3).torque_limit, capped.torque_limit)
    np.testing.assert_array_equal(capped.brake, robot.brake)  # a damping, not a torque
    assert capped.capped(1.0) is robot and robot.capped(1.0) is robot
    for v in (np.zeros(robot.n), robot.velocity_limit, -robot.velocity_limit):
        low, high = capped.actuation.bounds(robot.posture, v)
        full_low, full_high = robot.actuation.bounds(robot.posture, v)
        np.testing.assert_array_equal(high, np.minimum(full_high, capped.torque_limit))
        np.testing.assert_array_equal(low, np.maximum(full_low, -capped.torque_limit))


def test_a_motor_is_cut_and_keeps_its_curve() -> None:
    robot = registry.load("g1:actuation=motor")
    capped = robot.capped(0.3)
    fast = robot.velocity_limit
    limit, (_, full) = capped.torque_limit, robot.actuation.bounds(robot.posture, fast)
    _, high = capped.actuation.bounds(robot.posture, fast)
    np.testing.assert_array_equal(high, np.minimum(full, limit))
    drive = capped.actuation.drive(1.0)
    got = drive.torque(2.0 * robot.torque_limit, robot.posture, np.zeros(robot.n), 0.001)
    assert (got <= limit).all() and got.any()


def test_the_safety_box_of_a_capped_robot_lets_no_more_through() -> None:
    capped = registry.load("g1").capped(0.3)
    assert (SafetyBox(capped).bounds.limit == capped.torque_limit).all()
    zero = np.zeros(capped.n)
    wanted = TorqueCommand(0.0, 10.0 * capped.torque_limit, zero, zero, zero, zero)
    bounds = SafetyBox(capped).bounds
    for _ in range(20):
        sent = bounds.apply(wanted, capped.posture, zero)
    assert (np.abs(sent.torque) <= capped.torque_limit).all()
