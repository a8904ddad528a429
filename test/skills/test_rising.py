"""From a deep squat, the CoM over the feet, the whole-body QP takes the body up and the balance modes keep it there."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.modes.standing import Stable
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.balance.transitions import Repertoire, Transition
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.loop import Loop
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.repertoire import WHOLE
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import active
from humanoid_balance.types import Array
from humanoid_balance.wholebody.controller import WholeBody

HIP, KNEE, ANKLE = -2.05, 2.25, -0.75  # the end of a get-up: hips low, heels down, the trunk bent forward [rad]


class Squatting(Stable):
    """Stands in for the skill that brought the body there."""

    name = "squatting"
    upright = False


def squat(robot: Robot) -> Array:
    q = robot.q_nominal.copy()
    for i, name in enumerate(robot.joint_names):
        for part, angle in (("hip_pitch", HIP), ("knee", KNEE), ("ankle_pitch", ANKLE)):
            if name.endswith(part):
                q[7 + i] = angle
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, -(HIP + KNEE + ANKLE), 0.0)).coeffs()
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    q[:3] -= np.mean([data.oMf[frame].translation for frame in robot.sole_frames], axis=0)
    return q


def lean(robot: Robot, q: Array) -> float:
    """Of the torso, against how it stands [rad]."""
    data, frame = robot.model.createData(), robot.model.getFrameId(robot.config.torso)
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    upright = data.oMf[frame].rotation.copy()
    pin.framesForwardKinematics(robot.model, data, q)
    return math.acos(min(1.0, (data.oMf[frame].rotation @ upright.T)[2, 2]))


def test_a_human_rises_from_a_deep_squat_and_stands(human: Robot) -> None:
    plant = MujocoPlant(human, PlantOptions(noise=1.0))
    plant.reset(squat(human))
    assert plant.truth().com[2] < 0.6 * human.com_height
    rows = (Transition("squatting", "rising", lambda now, memory: True, "on its feet"), *WHOLE.table)
    supervisor = Supervisor(human, repertoire=Repertoire((Squatting, *WHOLE.modes), rows))
    safety = active(human, plant.read().torque)
    loop = Loop(plant, Estimator(human), supervisor, WholeBody(human), safety)
    for _ in range(2000):
        state = loop.tick().state
    truth = plant.truth()
    names = [name for _, name, _ in supervisor.changes]
    assert names[:2] == ["rising", "in place"] and "falling" not in names, supervisor.changes
    assert truth.com[2] > 0.95 * human.com_height
    assert lean(human, state.q) < 0.2
    assert not safety.trip
