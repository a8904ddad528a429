"""States and references for whole-body tests, made from ground truth instead of the estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_balance.geometry import convex_hull
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, BodyReference, Push, RobotState, Stack

STACK = Stack("test", (("feet", "com"), ("torso", "momentum"), ("posture",)))
COM, MOMENTUM = 2.0, 3.0  # feedback of CoM and angular momentum, in omega
NO_PUSH = Push(False, np.zeros(3), np.nan, 0.0, 0.0, np.nan)


def polygon(corners: Array) -> Array:
    """Hull of corners (..., 3) on the ground (k, 2); empty for none."""
    return np.array(convex_hull([(x, y) for x, y, _ in corners.reshape(-1, 3).tolist()])).reshape(-1, 2)


def state_at(
    robot: Robot, q: Array, v: Array, stamp: float = 0.0, contact: tuple[bool, bool] = (True, True)
) -> RobotState:
    """A RobotState from a configuration and velocity alone."""
    model, data = robot.model, robot.data
    pin.centerOfMass(model, data, q, v)
    com, com_velocity = data.com[0].copy(), data.vcom[0].copy()
    pin.ccrba(model, data, q, v)
    momentum = data.hg.angular.copy()
    pin.forwardKinematics(model, data, q, v)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    position, rotation, velocity = np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros((2, 6))
    for side, frame in enumerate(robot.sole_frames):
        placement = pin.updateFramePlacement(model, data, frame)
        position[side], rotation[side] = placement.translation, placement.rotation
        velocity[side] = pin.getFrameVelocity(model, data, frame, world).vector
    corners = np.einsum("sij,skj->ski", rotation, robot.soles) + position[:, None]
    loaded = np.array(contact)
    ground = float(position[loaded][:, 2].mean()) if loaded.any() else 0.0
    omega = float(np.sqrt(GRAVITY / max(com[2] - ground, 0.1)))
    nan = np.full(3, np.nan)
    return RobotState(
        stamp, True, (), q.copy(), v.copy(), com, com_velocity, np.zeros(3), momentum, np.zeros(3),
        com + com_velocity / omega, omega, position, rotation, velocity, loaded, loaded.astype(float), np.zeros((2, 6)),
        np.full((2, 3), np.nan), nan, nan, nan, nan,
        polygon(corners[loaded]),
        np.array([0.0, 0.0, 1.0]), ground, NO_PUSH,
    )  # fmt: skip


def state_of(plant: MujocoPlant) -> RobotState:
    """A RobotState from the simulator's ground truth."""
    robot, data = plant.robot, plant.data
    truth = plant.truth()
    q = np.concatenate([truth.base_position, truth.base_quaternion, truth.joint_position])
    rotation = pin.Quaternion(truth.base_quaternion).toRotationMatrix()
    v = np.concatenate([rotation.T @ data.qvel[:3], data.qvel[3:6], data.qvel[plant._qvel]])
    contact = truth.sole_force[:, 2] > 5.0
    return state_at(robot, q, v, truth.stamp, (bool(contact[0]), bool(contact[1])))


def torso_rotation(robot: Robot, q: Array) -> Array:
    pin.framesForwardKinematics(robot.model, robot.data, q)
    return robot.data.oMf[robot.torso_frame].rotation.copy()


def reference_at(
    robot: Robot, state: RobotState, com: Array | None = None, stack: Stack = STACK, **changes: Any
) -> BodyReference:
    """Hold the CoM, the torso and the posture of the nominal stance."""
    gains, omega = robot.config.gains, robot.omega
    com = robot.com_nominal if com is None else com
    k = np.array([COM, COM, gains.height]) * omega
    zeta = np.array([1.0, 1.0, gains.height_damping])
    acceleration = k**2 * (com - state.com) - 2 * zeta * k * state.com_velocity
    reference = BodyReference(
        stamp=state.stamp, mode="test", stack=stack, contact=np.array([True, True]), load_max=np.array([1.5, 1.5]),
        com_acceleration=acceleration, com_weight=np.ones(3),
        angular_momentum_rate=-MOMENTUM * omega * state.angular_momentum, momentum_weight=np.full(3, 0.1),
        torso_rotation=torso_rotation(robot, robot.q_nominal), torso_velocity=np.zeros(3), feet=(None, None),
        posture=robot.posture, posture_velocity=np.zeros(robot.n), posture_acceleration=np.zeros(robot.n),
        zmp_margin=0.005,
    )  # fmt: skip
    return replace(reference, **changes) if changes else reference
