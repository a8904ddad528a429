"""A mode from outside the package that is joint feedback by nature: it holds a posture, or does as it is told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.transitions import Repertoire
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import JointReference

STIFFNESS = 20.0  # of each joint, in its torque limit per rad: full torque at 3 deg
DAMPING = 0.02  # of the stiffness [s]

Wanted = Callable[[JointReference, float], JointReference]  # what is wanted instead, at a time [s]


def posture(robot: Robot, stamp: float) -> JointReference:
    """The standing posture with the torque that it takes at rest."""
    zero, stiffness = np.zeros(robot.n), STIFFNESS * robot.torque_limit
    torque = robot.standing_torque(robot.q_nominal)
    return JointReference(stamp, "statue", robot.posture, zero, zero, stiffness, DAMPING * stiffness, torque)


def statue(wanted: Wanted) -> Repertoire:
    """All that this robot can do is to stand like a statue."""

    class Statue(BalanceMode):
        name = "statue"

        def __init__(self, memory: Memory) -> None:
            super().__init__(memory)
            self.posture = posture(memory.robot, 0.0)

        def update(self, now: Situation) -> JointReference:
            return wanted(self.posture, now.state.stamp)

    return Repertoire((Statue,), ())
