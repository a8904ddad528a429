"""The state in the words of the pendulum, and the polygon of the standing feet."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.situation import LIGHT, LONG, MOVED, SHORT, Situation, Stance, look
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, MIN_LOAD, STILL, Command, RobotState

LEVEL = np.array([0.0, 0.0, 1.0])
MARGIN = 0.005


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def standing(robot: Robot, **changes: object) -> RobotState:
    return replace(state_at(robot, robot.q_nominal, np.zeros(robot.model.nv)), **changes)  # type: ignore[arg-type]


def seen(robot: Robot, state: RobotState, command: Command = STILL) -> Situation:
    return look(robot, state, Trunk(robot), LEVEL, command)


def test_the_dcm_is_the_com_ahead_by_its_velocity(robot: Robot) -> None:
    now = seen(robot, standing(robot, com_velocity=np.array([0.3, -0.1, 0.0])))
    assert now.omega == pytest.approx(math.sqrt(GRAVITY / now.height))
    expected = now.com[0] + 0.3 / now.omega, now.com[1] - 0.1 / now.omega
    assert now.dcm == pytest.approx(expected) and now.caught == pytest.approx(expected)


def test_a_body_that_turns_forward_has_its_caught_dcm_ahead(robot: Robot) -> None:
    """Turning forward is a positive momentum about y; stopping it throws the DCM forward."""
    momentum = np.array([0.0, 2.0, 0.0])
    now = seen(robot, standing(robot, angular_momentum=momentum))
    assert now.spin == pytest.approx((now.omega * 2.0 / robot.weight, 0.0))
    assert now.caught[0] > now.dcm[0]
    sideways = seen(robot, standing(robot, angular_momentum=np.array([-2.0, 0.0, 0.0])))  # to the left
    assert sideways.caught[1] > sideways.dcm[1]


def test_heading_and_middle_follow_the_feet(robot: Robot) -> None:
    state = standing(robot)
    turn = pin.rpy.rpyToMatrix(0.0, 0.0, 0.7)
    turned = replace(state, sole_position=state.sole_position @ turn.T, sole_rotation=turn @ state.sole_rotation)
    plain, now = seen(robot, state), seen(robot, turned)
    assert now.yaw == pytest.approx(plain.yaw + 0.7)
    assert now.middle == pytest.approx(turn[:2, :2] @ plain.middle, abs=1e-9)


def test_a_nominal_robot_does_not_lean(robot: Robot) -> None:
    assert seen(robot, standing(robot)).lean == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_push_is_an_acceleration_that_lasts_longer_where_it_has_lifted_a_foot(robot: Robot) -> None:
    state = standing(robot)
    push = replace(state.push, active=True, force=np.array([30.0, 0.0, 0.0]))
    wrench = np.zeros((2, 6))
    wrench[:, 2] = 0.5 * robot.weight
    both = seen(robot, replace(state, push=push, wrench=wrench))
    assert both.pushed == pytest.approx((30.0 / robot.mass, 0.0)) and both.lasting == SHORT
    wrench[1, 2] = 0.5 * LIGHT * robot.weight
    assert seen(robot, replace(state, push=push, wrench=wrench)).lasting == LONG
    over = seen(robot, replace(state, push=replace(push, active=False)))
    assert over.pushed == (0.0, 0.0) and over.lasting == 0.0


def test_the_command_is_part_of_the_situation(robot: Robot) -> None:
    command = Command(0.0, np.array([0.3, 0.0, 0.0]))
    assert seen(robot, standing(robot), command).command is command
    assert seen(robot, standing(robot)).command is STILL


def test_one_foot_holds_its_own_sole_less_the_margin(robot: Robot) -> None:
    state = standing(robot)
    polygon = Stance(robot, MARGIN).update(state, (True, False))
    corners = robot.soles[0] @ state.sole_rotation[0].T + state.sole_position[0]
    for x, y, _ in corners.tolist():
        assert polygon.margin(x, y) == pytest.approx(-MARGIN, abs=1e-6)


def test_each_of_two_feet_keeps_its_smallest_load(robot: Robot) -> None:
    """The centre of pressure cannot get to the outer edge of one sole while the other keeps some of the weight."""
    state = standing(robot)
    polygon = Stance(robot, 0.0).update(state, (True, True))
    outer = max(y for _, y in polygon.vertices)
    corners = robot.soles[0] @ state.sole_rotation[0].T + state.sole_position[0]
    apart = state.sole_position[0, 1] - state.sole_position[1, 1]
    assert outer == pytest.approx(corners[:, 1].max() - MIN_LOAD * apart, abs=1e-6)


def test_the_polygon_is_kept_until_a_sole_moves(robot: Robot) -> None:
    state, stance = standing(robot), Stance(robot, MARGIN)
    first = stance.update(state, (True, True))
    nearly = state.sole_position + np.array([0.9 * MOVED, 0.0, 0.0])
    assert stance.update(replace(state, sole_position=nearly), (True, True)) is first
    moved = state.sole_position + np.array([2 * MOVED, 0.0, 0.0])
    second = stance.update(replace(state, sole_position=moved), (True, True))
    assert second.centre[0] == pytest.approx(first.centre[0] + 2 * MOVED)
    assert stance.update(replace(state, sole_position=moved), (True, False)) is not second
