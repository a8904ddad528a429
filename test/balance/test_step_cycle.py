"""One step of one foot, phase by phase, from states made by hand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.situation import LIGHT, Situation, look
from humanoid_balance.balance.step_cycle import (
    EARLY,
    LATE,
    LOAD,
    LOAD_TIME,
    SWING,
    UNLOAD,
    StepCycle,
    ground_rotation,
)  # fmt: skip
from humanoid_balance.balance.swing import LANDING_SPEED
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SOLES, Array

LEVEL = np.array([0.0, 0.0, 1.0])
DT, RELIEF, FLIGHT = 0.001, 0.02, 0.3  # [s]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("human")


@pytest.fixture(scope="module")
def trunk(robot: Robot) -> Trunk:
    return Trunk(robot)


def at(
    robot: Robot, trunk: Trunk, stamp: float, contact: tuple[bool, bool] = (True, True), share: float = 0.5,
    ground: Array = LEVEL,
) -> Situation:  # fmt: skip
    """Standing in the nominal stance; each foot measures a share of the weight."""
    state = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv), stamp, contact)
    wrench = np.zeros((2, 6))
    wrench[:, 2] = share * robot.weight
    return look(robot, replace(state, wrench=wrench), trunk, ground)


def swinging(robot: Robot, trunk: Trunk, side: int = 0) -> StepCycle:
    cycle = StepCycle(robot)
    cycle.begin(at(robot, trunk, 0.0), side, RELIEF)
    cycle.lift(at(robot, trunk, 0.0), FLIGHT)
    cycle.update(at(robot, trunk, 0.0, (side == 1, side == 0)))
    return cycle


@pytest.mark.parametrize("side", [0, 1])
def test_a_foot_is_relieved_before_it_leaves(robot: Robot, trunk: Trunk, side: int) -> None:
    cycle = StepCycle(robot)
    cycle.begin(at(robot, trunk, 0.0), side, RELIEF)
    loads = []
    for k in range(21):
        contact, load, feet = cycle.update(at(robot, trunk, k * DT))
        assert contact.all() and feet == (None, None) and cycle.phase == UNLOAD
        assert load[1 - side] >= 1.0  # the other one may carry everything
        loads.append(float(load[side]))
    assert all(a >= b for a, b in itertools.pairwise(loads))
    assert loads[0] > 0.5 and loads[-1] < LIGHT


def test_it_lifts_when_the_time_is_over_or_when_it_carries_nothing_anyway(robot: Robot, trunk: Trunk) -> None:
    cycle = StepCycle(robot)
    assert not cycle.unloaded(at(robot, trunk, 0.0))  # no step has begun
    cycle.begin(at(robot, trunk, 0.0), 0, RELIEF)
    assert not cycle.unloaded(at(robot, trunk, 0.5 * RELIEF))
    assert cycle.unloaded(at(robot, trunk, 0.5 * RELIEF, share=0.5 * LIGHT))
    assert cycle.unloaded(at(robot, trunk, RELIEF + DT))


def test_a_swinging_foot_has_no_contact_but_a_path_and_a_foothold(robot: Robot, trunk: Trunk) -> None:
    cycle = swinging(robot, trunk)
    now = at(robot, trunk, 0.1, (False, True))
    place = now.centre[0][0] + 0.2, now.centre[0][1]
    cycle.retarget(now, place, 0.1, FLIGHT - 0.1)
    contact, _, feet = cycle.update(now)
    assert contact.tolist() == [False, True] and feet[0] is not None and feet[1] is None
    assert cycle.under_way == pytest.approx((0.1, FLIGHT - 0.1))
    (foothold,) = cycle.footholds
    assert foothold.contact == SOLES[0] and foothold.stamp == pytest.approx(FLIGHT)
    centre = foothold.position + foothold.rotation @ robot.sole_centres[0]
    assert centre[:2] == pytest.approx(place)
    assert math.atan2(foothold.rotation[1, 0], foothold.rotation[0, 0]) == pytest.approx(0.1)


def test_a_foot_that_stands_has_no_foothold(robot: Robot, trunk: Trunk) -> None:
    cycle = StepCycle(robot)
    assert cycle.footholds == ()
    cycle.begin(at(robot, trunk, 0.0), 0, RELIEF)
    assert cycle.footholds == ()


def test_a_contact_early_in_the_swing_is_the_lift_off(robot: Robot, trunk: Trunk) -> None:
    cycle = swinging(robot, trunk)
    cycle.update(at(robot, trunk, 0.9 * EARLY * FLIGHT))
    assert cycle.phase == SWING
    cycle.update(at(robot, trunk, 1.1 * EARLY * FLIGHT))
    assert cycle.phase == LOAD


def test_a_foot_that_misses_the_ground_seeks_it_and_then_counts_as_down(robot: Robot, trunk: Trunk) -> None:
    cycle = swinging(robot, trunk)
    air = (False, True)
    _, _, feet = cycle.update(at(robot, trunk, FLIGHT + 0.5 * LATE, air))
    assert cycle.phase == SWING and feet[0] is not None
    assert feet[0].velocity[2] == pytest.approx(-LANDING_SPEED)
    cycle.update(at(robot, trunk, FLIGHT + LATE + DT, air))
    assert cycle.phase == LOAD


def test_a_landed_foot_takes_its_load_over_some_time(robot: Robot, trunk: Trunk) -> None:
    cycle = swinging(robot, trunk)
    loads = []
    for k in range(60):
        contact, load, feet = cycle.update(at(robot, trunk, FLIGHT + k * DT))
        assert contact.all() and feet == (None, None)
        loads.append(float(load[0]))
    assert loads[0] < 0.2 and all(a <= b + 1e-12 for a, b in itertools.pairwise(loads))
    assert loads[round(LOAD_TIME / DT) + 1] >= 1.0


def test_on_a_slope_the_foothold_lies_in_the_plane_of_the_ground(robot: Robot, trunk: Trunk) -> None:
    slope = np.array([-math.sin(0.2), 0.0, math.cos(0.2)])  # rises forward
    cycle = swinging(robot, trunk)
    now = at(robot, trunk, 0.1, (False, True), ground=slope)
    cycle.retarget(now, (now.centre[1][0] + 0.3, now.centre[0][1]), 0.0, 0.2)
    (foothold,) = cycle.footholds
    assert foothold.rotation[:, 2] == pytest.approx(slope)
    stance = now.state.sole_position[1]
    centre = foothold.position + foothold.rotation @ robot.sole_centres[0]
    assert 0.0 < -(centre - stance) @ slope < 0.01 * now.height  # a little below it, so that the foot is not late


@pytest.mark.parametrize("yaw", [-2.0, 0.0, 0.7])
def test_a_sole_on_the_ground_is_a_rotation_with_its_toes_ahead(yaw: float) -> None:
    normal = np.array([0.1, -0.2, 0.9])
    rotation = ground_rotation(normal, yaw)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_allclose(rotation[:, 2], normal / np.linalg.norm(normal))
    ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    assert rotation[:, 1] @ ahead == pytest.approx(0.0, abs=1e-12) and rotation[:, 0] @ ahead > 0.9
