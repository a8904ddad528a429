"""A sole on its front edge: the edge stands, the heel goes up as it is told, the ground pushes through the edge."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from wholebody.harness import reference_at, state_of

from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.types import HeelReference
from humanoid_balance.wholebody import contact, rolling
from humanoid_balance.wholebody.controller import WholeBody

UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("angle", [-0.2, 0.0, 0.5])
def test_the_rise_is_the_pitch_against_the_ground(angle: float) -> None:
    turned = pin.utils.rotate("z", 0.7) @ pin.utils.rotate("y", angle)
    assert rolling.rise(turned, UP) == pytest.approx(angle)
    slope = pin.exp3(np.array([0.1, -0.2, 0.0]))
    assert rolling.rise(slope @ turned, slope @ UP) == pytest.approx(angle)


def test_the_edge_of_a_turning_sole_does_not_accelerate() -> None:
    spin, toe = np.array([0.3, 2.0, -0.4]), 0.13
    edge = np.array([toe, 0.0, 0.0])
    velocity = np.concatenate([-np.cross(spin, edge), spin])  # the edge stands
    wanted = HeelReference(0.4, 1.5, 7.0)
    rest = rolling.rest(velocity, 0.3, 0.0, toe, wanted, 20.0)
    turn = rest[3:]
    np.testing.assert_allclose(rest[:3] + np.cross(turn, edge) + np.cross(spin, np.cross(spin, edge)), 0.0, atol=1e-12)
    assert turn[1] > 7.0  # the heel is too low


def test_the_ground_pushes_through_the_edge() -> None:
    robot = registry.load("human")
    sole = robot.contacts[0]
    cone = contact.wrench_cone(rolling.edge_corners(sole.corners), sole.friction)[:-1]
    toe, floor = rolling.front_edge(sole.corners), float(sole.corners[0, 2])
    for x, inside in ((toe, True), (toe - 0.02, False), (0.0, False)):
        force = np.array([0.0, 0.0, 100.0])
        wrench = np.concatenate([force, np.cross([x, 0.0, floor], force)])
        assert bool((cone @ wrench <= 1e-9).all()) == inside


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_a_standing_robot_lifts_one_heel_and_stays_where_it_is(name: str) -> None:
    """20 degrees, with some load on the edge; ground truth for a state."""
    robot = registry.load(name)
    plant, wholebody = MujocoPlant(robot, PlantOptions()), WholeBody(robot)
    first = state_of(plant)
    edge = rolling.front_edge(robot.soles[0])
    place = first.sole_position[0] + edge * first.sole_rotation[0][:, 0]
    com = robot.com_nominal.copy()
    left, right = first.sole_position[:, :2]
    com[:2] = right + 0.25 * (left - right) + (0.8 * edge, 0.0)
    most, angle = math.radians(20.0), 0.0
    for k in range(1200):
        plant.read()
        state = state_of(plant)
        share = min(max((k - 700) / 400, 0.0), 1.0)
        angle = most * share * share * (3 - 2 * share)
        rate = most * 6 * share * (1 - share) / 0.4
        heel = HeelReference(angle, rate, 0.0) if share > 0.0 else None
        wanted = robot.com_nominal + min(k / 700, 1.0) * (com - robot.com_nominal)
        reference = reference_at(robot, state, com=wanted, heels=(heel, None))
        plant.write(wholebody.update(state, reference))
        assert not plant.fell()
    end = state_of(plant)
    assert math.degrees(rolling.rise(end.sole_rotation[0], UP)) == pytest.approx(20.0, abs=1.5)
    assert np.linalg.norm(end.sole_position[0] + edge * end.sole_rotation[0][:, 0] - place) < 0.005
    assert abs(rolling.rise(end.sole_rotation[1], UP)) < math.radians(1.0)
