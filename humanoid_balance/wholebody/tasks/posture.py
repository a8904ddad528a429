"""All joints return to a wanted posture."""

from __future__ import annotations

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Reference
from humanoid_balance.wholebody.tasks.joints import JointTask
from humanoid_balance.wholebody.terms import Terms


class PostureTask(JointTask):
    """theta_dd = (k omega)² (theta* - theta) + 2 zeta k omega (theta_d* - theta_d) [rad/s²].

    k, zeta are ``gains.posture`` and ``gains.posture_damping``.
    """

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot.n)
        gains = robot.config.gains
        self.stiffness = (gains.posture * robot.omega) ** 2
        self.damping = 2 * gains.posture_damping * gains.posture * robot.omega

    def update(self, terms: Terms, reference: Reference) -> None:
        self.target = self.stiffness * (reference.posture - terms.q)
        self.target += self.damping * (reference.posture_velocity - terms.v[6:])
