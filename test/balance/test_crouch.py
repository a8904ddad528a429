"""A walking body goes as low as its strides need, not at once, and comes up again."""

from __future__ import annotations

from itertools import pairwise

import pytest

from humanoid_balance.balance.crouch import Crouch
from humanoid_balance.balance.footsteps import Adapted, Pendulum
from humanoid_balance.balance.gait import Gait, Velocity
from humanoid_balance.balance.legs import LOWEST
from humanoid_balance.balance.reach import Reach
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

SLOWLY: Velocity = (0.2, 0.0, 0.0)
TICK = 0.001


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def course(robot: Robot, length: float, ticks: int) -> list[float]:
    """Heights asked for while a step of a length is planned, the body between the feet."""
    gait = Gait(robot, Reach.of(robot))
    crouch = Crouch(robot, gait)
    crouch.reset(0.0, robot.com_height)
    hips = length / 2 - gait.legs.hip[0], gait.legs.hip[1]
    body = Pendulum(robot.omega, hips, hips, robot.com_height)
    plan = Adapted(0.0, (length, gait.width), (length, gait.width), hips, (0.0, 0.0), 0.0, 0.0)
    return [crouch.update(TICK * (k + 1), SLOWLY, body, plan, 0.0) for k in range(ticks)]


def test_a_step_as_usual_leaves_the_body_as_high_as_it_stands(robot: Robot) -> None:
    assert course(robot, 0.1 * robot.com_height, 100)[-1] == pytest.approx(robot.com_height)


def test_a_long_step_takes_the_body_down_until_both_legs_reach_the_ground(robot: Robot) -> None:
    length = 0.7 * robot.com_height
    heights = course(robot, length, 1000)
    legs = Gait(robot, Reach.of(robot)).legs
    assert LOWEST * robot.com_height <= heights[-1] < 0.99 * robot.com_height
    assert legs.farthest(heights[-1]) > 0.95 * length / 2


def test_the_height_does_not_jump(robot: Robot) -> None:
    heights = [robot.com_height, *course(robot, 0.7 * robot.com_height, 300)]
    falls = [above - below for above, below in pairwise(heights)]
    assert max(falls) < 0.4 * TICK  # a jump would take the load off the stance foot: 0.3 m/s is a body's of 0.9 m
