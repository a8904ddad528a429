"""What a robot can be asked for besides keeping its balance, and how fast a visitor sends it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.gaits import library, mode
from humanoid_balance.gaits.table import GaitTable
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills import script
from humanoid_balance.skills.plan import RECOVER, chain
from humanoid_balance.skills.side import LYING
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import GRAVITY

BRISK = 0.2  # forward with the stick all the way up, in sqrt(g h): a stroll of people, and every robot's legs follow
ASIDE = 0.5  # of that: legs reach less far to the side
TURN = 0.15  # with the stick all the way, in pendulum frequencies sqrt(g / h)


@dataclass(frozen=True)
class Abilities:
    """Of one robot in its world."""

    gaits: tuple[str, ...]  # names of finite-state gaits
    skills: tuple[str, ...]  # names of skills on the ground
    speed: tuple[float, float, float]  # at the end of the stick: forward, left [m/s], turn [rad/s]

    @staticmethod
    def of(robot: Robot, settings: RunSettings) -> Abilities:
        space = "plane" if settings.planar else "space"
        tables = [mode.choice(robot, name) for name in library.names()]
        gaits = tuple(table.name for table in tables if isinstance(table, GaitTable) and table.space == space)
        scripts = script.library(robot)
        rises = any(chain(scripts, side) for side in LYING)
        speed = math.sqrt(GRAVITY * robot.com_height)
        return Abilities(
            gaits, (*scripts, *((RECOVER,) if rises else ())),
            (BRISK * speed, ASIDE * BRISK * speed, TURN * robot.omega),
        )  # fmt: skip
