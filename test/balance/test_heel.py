"""How far a heel comes up, and when."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.heel import LENGTH, Heel, Toes
from humanoid_balance.balance.legs import SUPPLE, Legs
from humanoid_balance.balance.situation import Situation, look
from humanoid_balance.balance.swing import Swing
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

TICK = 0.001
ANKLES = "l_ankle_pitch", "leg_left_5_joint", "left_ankle_pitch_joint"


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


def test_the_shank_leans_as_far_as_the_model_says(robot: Robot) -> None:
    """The nominal stance: flat soles, so the ankle is bent by as much as the shank leans."""
    legs, state = Legs.of(robot), state_at(robot, robot.q_nominal, np.zeros(robot.n + 6))
    x, _, z = (np.array(legs.hip_of(robot.q_nominal, 0)) - state.sole_position[0]).tolist()
    back = float(robot.soles[0][:, 0].max()) - legs.toe  # of the ankle behind the sole's origin
    ankle = next(i for i, name in enumerate(robot.joint_names) if name in ANKLES)
    room = robot.posture[ankle] - robot.lower[ankle]  # bending is negative on all three
    # The axes of g1's leg do not lie in one plane.
    assert legs.lean(x - back, 0.0, z - legs.ankle) == pytest.approx(legs.bends - room, abs=0.04)


@pytest.mark.parametrize("low", [0.75, 0.85])
def test_a_heel_that_came_up_leaves_the_ankle_within_its_range(robot: Robot, low: float) -> None:
    """The hip low and ahead of the foot: flat, the ankle of most robots would have to bend too far."""
    legs = Legs.of(robot)
    x, z = 0.35 * legs.longest, low * legs.standing
    angle = legs.tiptoe(x, 0.0, z)
    cos, sin = math.cos(angle), math.sin(angle)
    ankle = legs.toe * (1.0 - cos) + legs.ankle * sin, legs.toe * sin - legs.ankle * (1.0 - cos)
    bent = legs.lean(x - ankle[0], 0.0, z - ankle[1]) - angle
    flat = legs.lean(x, 0.0, z)
    assert bent <= SUPPLE * legs.bends + 0.02
    assert (angle > 0.0) == (flat > SUPPLE * legs.bends)


def test_toes_point_down_while_a_foot_is_far_behind_its_knee_and_level_before_it_lands() -> None:
    robot = registry.load("human")
    legs = Legs.of(robot)
    toes, angles = Toes(robot, legs), []
    standing = ahead_of_its_foot(robot, 0.15)
    start = standing.state.sole_position[0].copy()
    swing = Swing(0.0, 0.5, start, np.eye(3), 0.05)
    for k in range(500):
        now = replace(standing, state=replace(standing.state, stamp=k * TICK))
        swing.retarget(start + np.array([0.45, 0.0, 0.3]), np.eye(3), 0.5)
        toes.point(now, 0, swing, TICK)
        assert swing.pitch is not None
        reference = swing.sample(now.state.stamp)
        front = reference.position + swing.front * reference.rotation[:, 0]
        assert front[2] >= start[2] - 1e-3  # toes that point down do not dip into the ground
        angles.append(swing.pitch.angle)
    assert max(angles) > 0.1
    assert abs(angles[-1]) < 0.05
