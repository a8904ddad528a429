"""Falling: nothing more can be won on the feet. Give way, protect knees and arms, go limp on the ground."""

from __future__ import annotations

import numpy as np

from humanoid_balance.balance.laws import Wish
from humanoid_balance.balance.reference import LIMP, LOOSE, ReferenceMaker
from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Reference

LEAN = 1.0  # the torso is lost beyond this [rad]
LYING, AT_REST = 0.15, 0.15  # a CoM slower than this for so long lies on the ground [m/s, s]
LONGEST = 2.0  # no fall takes longer [s]
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
        self.began = self.moved = now.state.stamp
        self.lies = False

    def update(self, now: Situation) -> Reference:
        nothing, stamp = np.array([False, False]), now.state.stamp
        if now.state.com_velocity.dot(now.state.com_velocity) > LYING**2 and not self.lies:
            self.moved = stamp
        self.lies = stamp - self.moved > AT_REST or stamp - self.began > LONGEST
        stack, wish = LIMP if self.lies else LOOSE, Wish(now.com, (0.0, 0.0))
        return self.maker.make(self.name, now, wish, stack=stack, contact=nothing, posture=self.tucked)
