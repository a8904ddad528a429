"""The feet-in-place objective of Kudoh's thesis (spec K3): least effort, stay tall, symmetric limbs.

    minimise  (theta_dd + k theta_d)' A_theta (theta_dd + k theta_d) - s_dd_z

with k = 0 in the thesis; a little damping keeps a body from swinging on when the CoM has come back.
A_theta are ``robot.joint_weight``, about the inverse of the mass a joint carries. Pairs in ``robot.symmetry``
accelerate towards each other, and joints that the thesis fixes (weight 1 or more: neck, wrists) are held where the
posture wants them. Arms that swing and a waist that bends are nowhere written down; they come out.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.joints import JointTask
from humanoid_balance.wholebody.terms import Terms

HELD = 1.0  # joints of this weight or more are not part of the balancing motion
SYMMETRY = 10.0  # weight of a pair's difference, against the A_theta of its two joints
DAMPING = 2.0  # k [1/s]
TALL = 1.0  # factor of s_dd_z, 1 in the thesis [s²/m]


class KudohTask(JointTask):
    """W = diag(A_theta) + sum over pairs of s d d', r = A_theta theta_dd* + sum of s d (PD of the pair) + lift / 2.

    d is +1 at the left and -1 at the right joint of a pair; theta_dd* is -k theta_d, and for the joints that are held
    a PD. The gains of both PDs are those of the posture.
    """

    def __init__(self, robot: Robot) -> None:
        self.pairs = robot.symmetry
        left, right = self.pairs[:, 0], self.pairs[:, 1]
        W = np.diag(robot.joint_weight)
        self.pair_weight = SYMMETRY * np.sqrt(robot.joint_weight[left] * robot.joint_weight[right])
        for (i, j), s in zip(self.pairs, self.pair_weight, strict=True):
            W[[i, j], [i, j]] += s
            W[i, j] -= s
            W[j, i] -= s
        super().__init__(W)
        gains = robot.config.gains
        self.stiffness = (gains.posture * robot.omega) ** 2
        self.damping = 2 * gains.posture_damping * gains.posture * robot.omega
        self._held = np.where(robot.joint_weight >= HELD, robot.joint_weight, 0.0)
        self._damped = DAMPING * np.where(robot.joint_weight >= HELD, 0.0, robot.joint_weight)
        self._mass = robot.mass

    def pull(self, terms: Terms, reference: BodyReference) -> Array:
        q, v = terms.q, terms.v[6:]
        r = self.stiffness * (reference.posture - q) + self.damping * (reference.posture_velocity - v)
        r *= self._held
        r -= self._damped * v
        left, right = self.pairs[:, 0], self.pairs[:, 1]
        close = self.stiffness * (q[right] - q[left]) + self.damping * (v[right] - v[left])
        close *= self.pair_weight
        r[left] += close
        r[right] -= close
        r += TALL / 2 * terms.joint_row(terms.Ag[2]) / self._mass
        return r
