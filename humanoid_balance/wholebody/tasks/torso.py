"""The torso turns to a wanted orientation."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms


class TorsoTask(Task):
    """J_ang a = (k omega)² log(R' R*) + 2 zeta k omega (R' w* - w) - drift, in torso axes [rad/s²].

    R, w are the torso's orientation and angular velocity, R*, w* the wanted ones in world axes; k, zeta are
    ``gains.torso`` and ``gains.torso_damping`` and omega the pendulum frequency of the body.
    """

    rows = 3

    def __init__(self, robot: Robot) -> None:
        gains = robot.config.gains
        self.stiffness = (gains.torso * robot.omega) ** 2
        self.damping = 2 * gains.torso_damping * gains.torso * robot.omega

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        torso = terms.torso
        back = torso.rotation.T
        np.copyto(A, torso.J[3:])
        np.dot(back, reference.torso_velocity, out=b)
        b -= torso.velocity[3:]
        b *= self.damping
        b += pin.log3(back.dot(reference.torso_rotation)) * self.stiffness
        b -= torso.drift[3:]
