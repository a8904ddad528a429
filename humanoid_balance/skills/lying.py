"""Lying: on the ground, nearly no torque, until somebody asks for a skill."""

from __future__ import annotations

import numpy as np

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.situation import Situation
from humanoid_balance.skills.side import TrunkAxes, side_of
from humanoid_balance.types import JointReference, Reference

# Damping of limp joints, as a share of the torque limit per rad/s: a limb that is lifted sinks within a second, and
# one that is thrown at 10 rad/s is braked with a tenth of what the motor has.
SOFT = 0.01  # [s/rad]


class Lying(BalanceMode):
    """Damps the joints and holds nothing. ``side`` says what the body lies on."""

    name = "lying"
    upright = False

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._axes = TrunkAxes(memory.robot)
        self._zero = np.zeros(memory.robot.n)
        self._damping = SOFT * memory.robot.torque_limit
        self.side = ""

    def enter(self, now: Situation) -> None:
        super().enter(now)
        self.side = side_of(self._axes.of(now.state.q))

    def update(self, now: Situation) -> Reference:
        self.side = side_of(self._axes.of(now.state.q))
        q, zero = now.state.q[7:], self._zero
        return JointReference(
            now.state.stamp, self.name, q.copy(), zero, zero, zero, self._damping, zero, yielding=True
        )
