"""A robot on a boom moves in its sagittal plane only; with r2d the rest of the stack does not notice the difference."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance import stack
from humanoid_balance.errors import InputError
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand

BOOM = World(planar=True)


def stand(name: str, seconds: float, *pushes: PushProfile) -> tuple[MujocoPlant, float, int]:
    """The whole loop with noise: plant, how far the base left its plane [m or rad], number of times a push was seen."""
    robot = registry.load(name)
    plant = MujocoPlant(robot, PlantOptions(BOOM, noise=1.0), pushes)
    loop = stack.simulated(robot, plant)
    start, out, onsets = plant.truth(), 0.0, set()
    level = pin.Quaternion(start.base_quaternion).toRotationMatrix()
    for _ in range(round(1000 * seconds)):
        tick = loop.tick()
        truth = plant.truth()
        turn = pin.log3(pin.Quaternion(truth.base_quaternion).toRotationMatrix() @ level.T)
        out = max(out, abs(truth.base_position[1] - start.base_position[1]), abs(turn[0]), abs(turn[2]))
        if tick.state.push.active:
            onsets.add(tick.state.push.onset)
        if plant.fell():
            break
    return plant, out, len(onsets)


@pytest.mark.parametrize("name", ["r2d", "human"])
def test_robots_stand_on_the_boom_for_ten_seconds(name: str) -> None:
    plant, out, pushes = stand(name, 10.0)
    robot, truth = plant.robot, plant.truth()
    assert plant.time == pytest.approx(10.0) and not truth.fell
    assert out < 1e-9 and pushes == 0
    assert np.linalg.norm(truth.com_velocity) < 0.01
    assert np.abs(truth.com - robot.com_nominal)[[0, 2]].max() < 0.01
    assert truth.sole_force[:, 2].sum() == pytest.approx(robot.weight, rel=0.02)


@pytest.mark.parametrize(("name", "direction"), [("r2d", 0), ("r2d", 180), ("human", 0), ("human", 180)])
def test_a_small_push_in_the_plane_is_held(name: str, direction: float) -> None:
    mass = registry.load(name).mass
    plant, out, pushes = stand(name, 4.0, PushProfile(0.2 * mass / 0.1, 0.1, direction))
    assert not plant.fell() and pushes == 1
    assert out < 1e-9
    assert np.linalg.norm(plant.truth().com_velocity) < 0.05


@pytest.mark.parametrize(("name", "force"), [("r2d", 500), ("human", 200)])
def test_a_push_from_the_side_is_the_boom_s(name: str, force: float) -> None:
    """The human, who knows of no boom, steps aside from 500 N as if it were free, and falls."""
    plant, out, _ = stand(name, 2.0, PushProfile(force, 0.1, 90))
    assert not plant.fell() and out < 1e-9


def test_r2d_is_the_body_of_the_specification() -> None:
    """Typed from the specification, not from the code."""
    robot = registry.load("r2d")
    assert robot.mass == pytest.approx(90.0)
    assert robot.joint_names == ("l_hip", "l_knee", "l_ankle", "r_hip", "r_knee", "r_ankle") and robot.planar
    masses = sorted(inertia.mass for inertia in robot.model.inertias if inertia.mass > 0)
    np.testing.assert_allclose(masses, [1, 1, 4, 4, 5, 5, 70], atol=1e-9)
    about_hip = {"l_hip": (5.0, 0.45), "l_knee": (4.0, 0.45)}
    for name, (mass, length) in about_hip.items():
        inertia = robot.model.inertias[robot.model.getJointId(name)]
        assert inertia.inertia[1, 1] == pytest.approx(mass * length**2 / 12)
        assert inertia.lever[2] == pytest.approx(-length / 2)
    np.testing.assert_allclose(robot.torque_limit, 1000.0)
    assert np.ptp(robot.soles[0][:, 0]) == pytest.approx(0.20)
    assert not registry.load("human").planar


def test_legs_of_r2d_pass_through_each_other() -> None:
    robot = registry.load("r2d")
    plant, zero = MujocoPlant(robot, PlantOptions(BOOM)), np.zeros(robot.n)
    for _ in range(20):
        plant.write(TorqueCommand(plant.time, robot.standing_torque(robot.q_nominal), zero, zero, zero, zero))
    for i in range(plant.data.ncon):
        geoms = plant.data.contact[i].geom
        assert plant.model.geom("ground").id in geoms


def test_r2d_has_no_options() -> None:
    with pytest.raises(InputError, match="r2d: unknown option 'mass'"):
        registry.load("r2d:mass=80")


def test_a_stiff_damper_in_a_drive_does_not_shake_a_light_foot() -> None:
    """30 N m s/rad on 0.006 kg m² stops the foot within 0.2 ms: closed every 1 ms it would explode."""
    robot = registry.load("r2d")
    plant = MujocoPlant(robot, PlantOptions(BOOM, dt=0.004))
    lifted = robot.q_nominal.copy()
    lifted[2] += 0.5
    plant.reset(lifted)
    zero, damping = np.zeros(robot.n), np.full(robot.n, 30.0)
    for k in range(20):
        torque = np.where([name.endswith("ankle") for name in robot.joint_names], 3.0, 0.0)
        plant.write(TorqueCommand(k * plant.dt, torque, zero, zero, zero, damping))
        speed = plant.read().velocity
        assert np.abs(speed).max() < 0.5
    ankles = [i for i, name in enumerate(robot.joint_names) if name.endswith("ankle")]
    assert speed[ankles] == pytest.approx([0.1, 0.1], abs=0.05)  # 3 N m against 30 N m s/rad
