"""What a walk learns of the ground, and the way of the CoM over it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.ground import QUICK, SETTLED, SURE, Ground
from humanoid_balance.balance.situation import Situation, look
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

DT = 0.001


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


@pytest.fixture(scope="module")
def trunk(robot: Robot) -> Trunk:
    return Trunk(robot)


def at(
    robot: Robot, trunk: Trunk, stamp: float, left_up: float = 0.0, speed: float = 0.0, tilt: float = 0.0
) -> Situation:
    """Standing on the right foot; the left one stands ``left_up`` higher [m], soles show a ``tilt`` forward [rad]."""
    state = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv), stamp, (False, True))
    position = state.sole_position.copy()
    position[0, 2] += left_up
    normal = np.array([-math.sin(tilt), 0.0, math.cos(tilt)])
    velocity = np.array([speed, 0.0, 0.0])
    state = replace(state, sole_position=position, com_velocity=velocity, ground_normal=normal)
    return look(robot, state, trunk, np.array([0.0, 0.0, 1.0]))


def begun(robot: Robot, trunk: Trunk) -> Ground:
    ground = Ground(robot, np.array([0.0, 0.0, 1.0]))
    now = at(robot, trunk, 0.0)
    ground.begin(now)
    ground.lifted(now, 0)
    return ground


def test_on_level_ground_the_situation_is_as_it_was(robot: Robot, trunk: Trunk) -> None:
    ground = begun(robot, trunk)
    now = at(robot, trunk, DT)
    seen = ground.seen(now, 1, True, None)
    assert seen.height == pytest.approx(now.height, abs=1e-6) and seen.dcm == pytest.approx(now.dcm, abs=1e-6)
    assert seen.grade == pytest.approx((0.0, 0.0)) and seen.climb == pytest.approx(0.0, abs=1e-6)


def test_the_way_to_a_stair_rises_with_it(robot: Robot, trunk: Trunk) -> None:
    """The CoM is over the stance foot or before it: the slope is that of the line to the next foothold."""
    ground = begun(robot, trunk)
    x, y = at(robot, trunk, 0.0).centre[1]
    for k in range(1, 400):
        now = at(robot, trunk, k * DT, speed=0.5)
        now = replace(now, com=(x + 0.1, now.com[1]))
        seen = ground.seen(now, 1, True, (x + 0.3, y + 0.2, ground.spot(now, 1)[2] + 0.15))
    assert seen.grade[0] == pytest.approx(0.5)
    assert ground.height == pytest.approx(ground.spot(now, 1)[2] + 0.05, abs=0.03)
    assert seen.omega == pytest.approx(math.sqrt(GRAVITY / seen.height))


def test_a_foot_that_finds_other_ground_does_not_make_the_way_jump(robot: Robot, trunk: Trunk) -> None:
    ground = begun(robot, trunk)
    before = ground.seen(at(robot, trunk, DT), 1, True, None).height
    now = replace(at(robot, trunk, 2 * DT), centre=((0.3, 0.1), (0.0, -0.1)), com=(0.2, 0.0))
    after = ground.seen(now, 1, True, (0.3, 0.1, -0.05)).height
    assert abs(after - before) < 0.5 * DT


def test_a_slope_is_learnt_within_two_steps_and_a_soft_rim_teaches_nothing(robot: Robot, trunk: Trunk) -> None:
    slope = math.radians(8.0)
    for tilt, learnt in ((slope, slope), (0.9 * SURE, 0.0)):
        ground = begun(robot, trunk)
        ground._shown[0] = at(robot, trunk, 0.0, tilt=tilt).state.ground_normal  # the step before
        for k in range(round((SETTLED + 6 * QUICK) / DT)):
            ground.learn(at(robot, trunk, k * DT, tilt=tilt), 1, DT)
        assert math.acos(min(1.0, ground.normal[2])) == pytest.approx(learnt, abs=SURE + 1e-6)
    assert ground.normal.tolist() == [0.0, 0.0, 1.0]


def test_feet_that_land_elsewhere_than_expected_fly_higher_for_a_while(robot: Robot, trunk: Trunk) -> None:
    ground = begun(robot, trunk)
    now = at(robot, trunk, DT)
    height = ground.spot(now, 1)[2]
    ground.landed(height + 0.03)
    ground.lifted(now, 0)
    assert ground.between(now, 0, 0.3, 0.1, 0.0) == pytest.approx(0.03)
    for _ in range(8):
        ground.landed(height + 0.001)
        ground.lifted(now, 0)
    assert ground.rough < 0.003
