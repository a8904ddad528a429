"""The robot in Gazebo: the body that Pinocchio knows, held without a jump, and sensors that mean what they should."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.plants.gazebo.plant import GazeboPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings, simulated
from humanoid_balance.types import GRAVITY, TorqueCommand


@pytest.fixture(params=["human", "talos", "g1"])
def plant(request: pytest.FixtureRequest) -> Iterator[GazeboPlant]:
    with closing(GazeboPlant(registry.load(request.param))) as plant:
        yield plant


def pinocchio_com(plant: GazeboPlant) -> np.ndarray:
    truth, robot = plant.truth(), plant.robot
    q = np.concatenate([truth.base_position, truth.base_quaternion, truth.joint_position])
    return pin.centerOfMass(robot.model, robot.model.createData(), q)


def test_held_then_let_go_without_a_jump_however_long_it_took(plant: GazeboPlant) -> None:
    robot, before = plant.robot, plant.truth()
    assert pinocchio_com(plant) == pytest.approx(before.com, abs=5e-4)
    frame = plant.read()
    assert np.linalg.norm(frame.acceleration) == pytest.approx(GRAVITY, rel=1e-4)
    assert frame.wrench[:, 2].sum() == pytest.approx(robot.weight, rel=1e-3)
    for _ in range(500):
        plant.hold()
    assert plant.truth().com == pytest.approx(before.com, abs=1e-12)
    loop = simulated(robot, plant)
    forces, moved = [], 0.0
    for _ in range(200):
        truth = plant.truth()
        forces.append(truth.sole_force[:, 2].sum())
        moved = max(moved, float(np.abs(truth.com - before.com).max()))
        loop.tick()
    assert moved < 2e-4
    assert np.abs(np.array(forces) / robot.weight - 1.0).max() < 0.05
    assert pinocchio_com(plant) == pytest.approx(plant.truth().com, abs=5e-4)


@pytest.mark.parametrize(
    ("force", "strategy", "share"),
    [(60.0, "auto", 2e-3), (150.0, "step", 1e-2)],  # landings in the second
    ids=["in place", "stepping"],
)
def test_soles_and_push_together_give_the_motion(g1: GazeboPlant, force: float, strategy: str, share: float) -> None:
    """m (a - g) = force of the ground on both soles + push, at every step; a foot in the air measures nothing."""
    robot = g1.robot
    g1.add_push(PushProfile(force, 0.1, direction=0.0 if strategy == "step" else 100.0, start=0.1))
    loop = simulated(robot, g1, RunSettings(strategy=strategy).balance)
    g1.reset()
    velocity, ground, push, height = [], [], [], []
    for _ in range(600):
        truth = g1.truth()
        velocity.append(truth.com_velocity)
        ground.append(truth.sole_force)
        push.append(truth.push)
        height.append(truth.sole_position[:, 2])
        loop.tick()
    acceleration = np.diff(velocity, axis=0) / g1.dt
    wanted = robot.mass * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    measured = np.array(ground).sum(axis=1) + np.array(push)
    assert measured[1:] == pytest.approx(wanted, abs=share * robot.weight)
    assert np.array(ground)[..., 2].min() >= 0.0
    assert (np.max(height) > 0.02) == (strategy == "step")


@pytest.mark.parametrize(
    "world",
    [World(slope=10.0), World(slope=-10.0), World(friction=0.4), World(ground="rough"), World(ground="cart")],
    ids=["up", "down", "slippery", "rough", "cart"],
)
def test_stands_in_every_world(world: World) -> None:
    robot = registry.load("g1")
    with closing(GazeboPlant(robot, PlantOptions(world, noise=1.0, seed=3))) as plant:
        loop = simulated(robot, plant)
        start = plant.truth()
        for _ in range(1000):
            loop.tick()
        end = plant.truth()
    assert not end.fell
    assert np.abs(end.sole_position - start.sole_position).max() < 2e-3
    assert np.abs(end.com - start.com).max() < 0.02


def test_weak_motors_are_weak() -> None:
    robot = registry.load("g1")
    with closing(GazeboPlant(robot, PlantOptions(torque_scale=0.01))) as plant:
        wanted = np.full(robot.n, 0.05) * robot.torque_limit
        zero = np.zeros(robot.n)
        for _ in range(30):
            plant.read()
            plant.write(TorqueCommand(0.0, wanted, zero, zero, zero, zero))
        assert plant.truth().torque == pytest.approx(0.01 * robot.torque_limit, rel=1e-5)
