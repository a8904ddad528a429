"""How far a heel comes up, and when."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.heel import LENGTH, Heel
from humanoid_balance.balance.legs import Legs
from humanoid_balance.balance.situation import Situation, look
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

TICK = 0.001


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def ahead_of_its_foot(robot: Robot, stride: float) -> Situation:
    """The nominal stance with the body moved forward over its feet, which stay: only the poses count here."""
    state = state_at(robot, robot.q_nominal, np.zeros(robot.n + 6))
    state.sole_position[:, 0] -= stride
    return look(robot, state, Trunk(robot), np.array([0.0, 0.0, 1.0]))


def test_a_raised_heel_brings_the_ankle_within_the_length_of_the_leg(robot: Robot) -> None:
    legs = Legs.of(robot)
    far = 1.15 * math.sqrt(legs.longest**2 - legs.standing**2) + 0.05
    for aside in (0.0, 0.1):
        angle = legs.rise(far, aside, legs.standing, LENGTH)
        assert 0.0 < angle < 1.2
        cos, sin = math.cos(angle), math.sin(angle)
        x = legs.toe - legs.toe * cos + legs.ankle * sin  # of the ankle, turned about the front edge
        z = legs.ankle * cos + legs.toe * sin - legs.ankle
        leg = math.sqrt((far - x) ** 2 + aside**2 + (legs.standing - z) ** 2)
        assert leg == pytest.approx(LENGTH * legs.longest)


def test_a_leg_that_is_long_enough_keeps_its_sole_flat(robot: Robot) -> None:
    legs = Legs.of(robot)
    assert legs.rise(0.0, 0.0, 0.95 * legs.standing) == 0.0
    heel = Heel(robot, legs)
    assert all(heel.update(ahead_of_its_foot(robot, 0.0), side, TICK) is None for side in range(2))


def test_the_heel_goes_up_smoothly_within_what_the_ankle_allows_and_comes_down_again(robot: Robot) -> None:
    heel = Heel(robot, Legs.of(robot))
    far, near = ahead_of_its_foot(robot, 0.6 * robot.com_height), ahead_of_its_foot(robot, 0.0)
    angles = [0.0]
    for _ in range(300):
        wanted = heel.update(far, 0, TICK)
        assert wanted is not None
        angles.append(wanted.angle)
    assert angles[-1] == pytest.approx(heel.most, rel=0.02)
    assert max(b - a for a, b in pairwise(angles)) < 20.0 * TICK
    for _ in range(300):
        wanted = heel.update(near, 0, TICK)
    assert wanted is None and not heel.up


def test_a_robot_whose_ankle_does_not_stretch_keeps_its_soles_flat() -> None:
    robot = registry.load("human")
    legs = Legs.of(robot)
    stiff = Legs(**{**vars(legs), "points": 0.0})
    heel = Heel(robot, stiff)
    assert heel.update(ahead_of_its_foot(robot, 0.6 * robot.com_height), 0, TICK) is None
