"""What the modes share, and what the supervisor remembers from tick to tick."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from humanoid_balance.balance import pendulum
from humanoid_balance.balance.reference import ReferenceMaker
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.situation import Situation, Stance
from humanoid_balance.balance.steps import Planner
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.geometry import Polygon
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import HeightMap

if TYPE_CHECKING:
    from humanoid_balance.balance.modes.mode import BalanceMode

BOTH = (True, True)
STABLE_AREA = 0.5  # Kudoh's stable area: the support polygon scaled about its centre by this (Tokyo 2004)


class Memory:
    """Every mode is made with it, and every condition of a transition gets it."""

    def __init__(self, robot: Robot, settings: BalanceSettings) -> None:
        self.robot, self.settings = robot, settings
        self.maker = ReferenceMaker(robot)
        self.stance = Stance(robot, self.maker.edge)  # both soles
        self.planner = Planner(robot, settings.step_policy)
        self.trunk = Trunk(robot)
        self.flywheel = pendulum.flywheel_capacity(robot)  # what turning the trunk can hold [m]
        self.ground = np.array([0.0, 0.0, 1.0])  # normal of the ground, learnt while the soles lie flat (3,)
        self.heights: HeightMap | None = None  # of the ground, where somebody knows it
        self.mode: BalanceMode  # that acts
        self.modes: dict[str, BalanceMode] = {}  # all of them by name
        self.since = -math.inf  # when it began [s]
        self.able = -math.inf  # when the whole-body controller could last do what it was asked for [s]
        self.slow = math.inf  # when no joint was thrown last [s]
        self._seen: Situation | None = None
        self._margin = 0.0
        self._polygon: Polygon | None = None  # for which the stable margin was found
        self._stable_margin = 0.0

    def age(self, now: Situation) -> float:
        """For how long the present mode has acted [s]."""
        return now.state.stamp - self.since

    def margin(self, now: Situation) -> float:
        """Distance of the caught DCM from the edge of the standing soles [m]; negative outside."""
        if self._seen is not now:
            self._margin = self.stance.update(now.state, BOTH).margin(*now.caught)
            self._seen = now
        return self._margin

    def stable_margin(self, now: Situation) -> float:
        """DCM margin below which the stable mode's feedback runs into the edge of the feet [m]."""
        polygon = self.stance.update(now.state, BOTH)
        if polygon is not self._polygon:
            x, y = polygon.centre
            self._stable_margin = (1 - STABLE_AREA) / 2 * max(polygon.margin(x, y), 0.0)
            self._polygon = polygon
        return self._stable_margin
