"""A simulated robot that stands by joint springs alone: enough body to estimate, no controller needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation import Estimator
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import Truth
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand


def simulate(
    robot: Robot,
    seconds: float,
    pushes: Sequence[PushProfile] = (),
    noise: float = 1.0,
    seed: int = 0,
    world: World | None = None,
) -> Iterator[tuple[SensorFrame, Truth]]:
    """Frames and ground truth of a robot held by joint springs."""
    options = PlantOptions(world or World(), noise, seed)
    plant = MujocoPlant(robot, options, pushes)
    q = robot.stance(np.radians(options.world.slope))
    torque, hold = robot.standing_torque(q), q[7:].copy()
    stiffness = np.minimum(1.5 * robot.weight * robot.com_height, 6.0 * robot.torque_limit)
    for _ in range(round(seconds / plant.dt)):
        frame, truth = plant.read(), plant.truth()
        yield frame, truth
        plant.write(TorqueCommand(frame.stamp, torque, hold, np.zeros(robot.n), stiffness, 0.05 * stiffness))


def estimate(robot: Robot, frames: Iterator[tuple[SensorFrame, Truth]]) -> list[tuple[Truth, RobotState]]:
    """Run the estimator over simulated frames."""
    estimator = Estimator(robot)
    return [(truth, estimator.update(frame)) for frame, truth in frames]


def rms(values: Sequence[Array] | Sequence[float]) -> float:
    """Root mean square of the lengths."""
    table = np.array(values).reshape(len(values), -1)
    return float(np.sqrt((table**2).sum(axis=1).mean()))


def com_error(truth: Truth, state: RobotState) -> Array:
    """Error of the CoM, seen from the foot that carries more."""
    foot = int(np.argmax(truth.sole_force[:, 2]))
    return (state.com - state.sole_position[foot]) - (truth.com - truth.sole_position[foot])


def tilt_error(truth: Truth, state: RobotState) -> float:
    """Angle between the two ideas of where up is, seen from the base [deg]."""
    up = np.array([0.0, 0.0, 1.0])
    a, b = (pin.Quaternion(np.array(x)).toRotationMatrix().T @ up for x in (state.q[3:7], truth.base_quaternion))
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


def true_zmp(truth: Truth) -> Array:
    """Of the real sole wrenches, at the mean height of the soles."""
    force = truth.sole_force.sum(axis=0)
    height = np.array([0.0, 0.0, truth.sole_position[:, 2].mean()])
    moment = (np.cross(truth.sole_position - height, truth.sole_force) + truth.sole_moment).sum(axis=0)
    return np.array([-moment[1] / force[2], moment[0] / force[2], height[2]])
