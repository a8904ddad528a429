"""A ground of springs: how deep things sink, how it pushes and holds."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.mujoco import MujocoPlant, PlantOptions
from humanoid_balance.plants.simulator import open_simulator
from humanoid_balance.plants.springs import SLOW, STIFFNESS, Springs, rounded
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.types import GRAVITY

MASS = 10.0  # of a block [kg]
STEP = 0.00025  # [s]


def test_a_block_on_n_points_settles_at_its_weight_over_their_stiffness() -> None:
    points = np.array([[x, y, 0.0] for x in (-0.1, 0.0, 0.1) for y in (-0.05, 0.05)])
    ground, height, speed = Springs(1.0), 0.01, 0.0
    for _ in range(8000):
        velocity = np.tile([0.0, 0.0, speed], (len(points), 1))
        force = ground.forces(points + np.array([0.0, 0.0, height]), velocity)[:, 2].sum()
        speed += STEP * (force / MASS - GRAVITY)
        height += STEP * speed
    assert -height == pytest.approx(MASS * GRAVITY / (len(points) * STIFFNESS), rel=0.01)
    assert -height == pytest.approx(ground.sink(points, MASS * GRAVITY), rel=0.01)


@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_it_never_pulls_and_holds_within_the_friction_cone(slope: float) -> None:
    rng, friction = np.random.default_rng(1), 0.7
    ground = Springs(friction, slope=slope)
    force = ground.forces(0.05 * rng.normal(size=(500, 3)), rng.normal(size=(500, 3)))
    normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    press = force @ normal
    assert press.min() >= 0.0 and press.max() > 0.0
    assert (np.linalg.norm(force - press[:, None] * normal, axis=1) <= friction * press + 1e-9).all()


def test_friction_grows_with_the_slip_until_it_is_full() -> None:
    ground, below = Springs(0.8), np.array([[0.0, 0.0, -0.01]])
    press = STIFFNESS * 0.01
    for speed, share in ((0.2 * SLOW, 0.2), (SLOW, 1.0), (10 * SLOW, 1.0)):
        force = ground.forces(below, np.array([[speed, 0.0, 0.0]]))[0]
        assert force == pytest.approx([-0.8 * share * press, 0.0, press])


def test_a_sole_is_rounded_and_lowest_at_six_points() -> None:
    robot = registry.load("lee47")
    points = rounded(robot.soles[0])
    assert (points[:, 2] < 1e-9).sum() == 6 and points[:, 2].max() < 0.03
    assert (points[:, :2].max(axis=0) > robot.soles[0][:, :2].max(axis=0)).all()


def test_a_body_stands_at_rest_in_it_and_its_soles_feel_the_weight() -> None:
    robot = registry.load("lee47")
    plant = MujocoPlant(robot, PlantOptions(World(ground="springs", friction=1.0)))
    assert plant.substeps == 4
    assert plant.read().wrench[:, 2].sum() == pytest.approx(robot.weight, rel=0.01)


def test_gazebo_does_not_have_it() -> None:
    robot = registry.load("lee47")
    with pytest.raises(InputError, match="springs"):
        open_simulator("gazebo", robot, PlantOptions(World(ground="springs")), ())


def test_the_wrench_is_the_sum_of_forces_and_moments_of_the_points() -> None:
    rng, ground = np.random.default_rng(2), Springs(0.8, slope=0.05)
    local, turn = rng.normal(size=(30, 3)) * 0.05, np.linalg.qr(rng.normal(size=(3, 3)))[0]
    place, linear, angular = np.array([0.3, -0.2, 0.02]), rng.normal(size=3), rng.normal(size=3)
    arms = local @ turn.T
    force = ground.forces(place + arms, linear + np.cross(angular, arms))
    assert 0 < (force[:, 2] > 0.0).sum() < len(local)
    wrench = ground.wrench(local, place, turn, linear, angular)
    assert wrench == pytest.approx(np.concatenate([force.sum(axis=0), np.cross(arms, force).sum(axis=0)]))
