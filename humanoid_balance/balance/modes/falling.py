"""Falling: nothing more can be won on the feet. Give way, protect knees and arms, go limp on the ground."""

from __future__ import annotations

import numpy as np

from humanoid_balance.balance.laws import Wish
from humanoid_balance.balance.reference import LOOSE, ReferenceMaker
from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Reference

LEAN = 1.0  # the torso is lost beyond this [rad]
TUCK = 0.35  # joints go this share of the way to the middle of their range: knees and elbows bend


class Falling:
    """Latched until reset. Damped compliance toward a tucked posture, no contact force is asked for."""

    name = "falling"

    def __init__(self, maker: ReferenceMaker) -> None:
        self.maker = maker
        robot = maker.robot
        middle = (robot.lower + robot.upper) / 2
        self.tucked = robot.posture.copy()
        for group in ("legs", "arms"):
            indices = robot.groups.get(group, np.array([], dtype=int))
            self.tucked[indices] += TUCK * (middle - robot.posture)[indices]

    def enter(self, now: Situation) -> None:
        self.began = now.state.stamp

    def update(self, now: Situation) -> Reference:
        nothing = np.array([False, False])
        return self.maker.make(
            self.name, now, Wish(now.com, (0.0, 0.0)), stack=LOOSE, contact=nothing, posture=self.tucked
        )
