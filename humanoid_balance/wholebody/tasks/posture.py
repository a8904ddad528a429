"""All joints return to a wanted posture."""

from __future__ import annotations

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody.tasks.joints import JointTask
from humanoid_balance.wholebody.terms import Terms


class PostureTask(JointTask):
    """theta_dd = (k omega)² (theta* - theta) + 2 zeta k omega (theta_d* - theta_d) [rad/s²], weighted by joint.

    k, zeta are ``gains.posture`` and ``gains.posture_damping``; the weights are ``posture_weight`` of the robot: joints
    with a small one (arms) leave their posture first when something above needs motion.
    """

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot.posture_weight)
        self.weight = robot.posture_weight
        gains = robot.config.gains
        self.stiffness = (gains.posture * robot.omega) ** 2
        self.damping = 2 * gains.posture_damping * gains.posture * robot.omega

    def wanted(self, terms: Terms, reference: Reference) -> Array:
        wanted = reference.posture - terms.q
        wanted *= self.stiffness / self.damping
        wanted += reference.posture_velocity
        wanted -= terms.v[6:]
        wanted *= self.damping
        return wanted

    def pull(self, terms: Terms, reference: Reference) -> Array:
        return self.weight * self.wanted(terms, reference)
