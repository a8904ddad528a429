"""All joints return to a wanted posture."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.joints import JointTask
from humanoid_balance.wholebody.terms import Terms

POISE = 0.5  # least weight of a joint in the task ``poise``: arms swing along, but are not thrown about


class PostureTask(JointTask):
    """theta_dd = theta_dd* + (k omega)² (theta* - theta) + 2 zeta k omega (theta_d* - theta_d) [rad/s²], by joint.

    k, zeta are ``gains.posture`` and ``gains.posture_damping``; the weights are ``posture_weight`` of the robot: joints
    with a small one (arms) leave their posture first when something above needs motion. ``least``: no joint has less.
    """

    def __init__(self, robot: Robot, least: float = 0.0) -> None:
        self.weight = np.maximum(robot.posture_weight, least)
        super().__init__(self.weight)
        gains = robot.config.gains
        self.stiffness = (gains.posture * robot.omega) ** 2
        self.damping = 2 * gains.posture_damping * gains.posture * robot.omega

    def wanted(self, terms: Terms, reference: BodyReference) -> Array:
        wanted = reference.posture - terms.q
        wanted *= self.stiffness / self.damping
        wanted += reference.posture_velocity
        wanted -= terms.v[6:]
        wanted *= self.damping
        wanted += reference.posture_acceleration
        return wanted

    def pull(self, terms: Terms, reference: BodyReference) -> Array:
        return self.weight * self.wanted(terms, reference)
