"""Playing a clip on standing feet: the upper body follows it, the feet stay, the whole-body QP keeps the balance.

The CoM is regulated as in the stable mode; arms, trunk and head are the posture, with speed and acceleration fed
forward. A push ends the mode as it ends the stable one, and the clip goes on, as if it had never stopped, once the body
is stable again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import goal
from humanoid_balance.balance.situation import Situation
from humanoid_balance.errors import InputError
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Command, Reference, Stack

ENDING = ".npz"  # of a skill's name that is a clip
# Turning the body is not held against the arms: they are wanted to swing. ``poise``: they do not give way first.
PLAY = Stack("play", (("com",), ("height", "poise")))
LEFT = 0.4  # of the margin with which the stable mode gives up; swinging arms and a turning trunk use the rest
BLEND = 0.8  # from the posture that there is into the clip [s]


@lru_cache(maxsize=16)
def choice(robot: Robot, name: str) -> PosturePlayer | str:
    """The clip of a file if this robot can play it, otherwise why not."""
    try:
        clip = RobotClip.load(Path(name))
        clip.check(robot)
    except InputError as error:
        return str(error)
    return PosturePlayer(clip, robot)


def asked(now: Situation, memory: Memory) -> bool:
    """The operator wants a clip that this robot can play."""
    name = now.command.skill
    return name.endswith(ENDING) and isinstance(choice(memory.robot, name), PosturePlayer)


def pushed(now: Situation, memory: Memory) -> str:
    """More than swinging arms do: the feedback of this mode runs into the edge of the feet."""
    margin = memory.margin(now)
    return f"DCM margin {margin:.3f} m" if margin < LEFT * memory.stable_margin(now) else ""


def stopped(now: Situation, memory: Memory) -> bool:
    """Nobody asks for the clip any more."""
    mode = memory.mode
    return isinstance(mode, Playing) and now.command.skill != mode.wish


class Playing(BalanceMode):
    """``wish`` is the name of the clip under way."""

    name = "motion"
    flat = True

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.wish = ""
        self._began = math.nan
        self._stamp = math.nan
        self._posture = memory.robot.posture

    def answers(self, command: Command) -> bool:
        return command.skill.endswith(ENDING) and isinstance(choice(self.memory.robot, command.skill), PosturePlayer)

    def enter(self, now: Situation) -> None:
        super().enter(now)
        stamp = now.state.stamp
        if now.command.skill != self.wish:
            self.wish, self._began = now.command.skill, stamp
        player = choice(self.memory.robot, self.wish)
        assert isinstance(player, PosturePlayer)
        self.player, self._turn = player, 0
        self._blend(stamp, now.state.q[7:])

    def _blend(self, stamp: float, posture: Array) -> None:
        """From here on the clip is approached from this posture."""
        wanted, _, _ = self.player.at(stamp - self._began)
        self._stamp, self._offset = stamp, np.where(self.player.follows, posture - wanted, 0.0)

    def update(self, now: Situation) -> Reference:
        memory, stamp = self.memory, now.state.stamp
        time = stamp - self._began
        if self.player.turn(time) != self._turn:  # the clip begins again
            self._turn = self.player.turn(time)
            self._blend(stamp, self._posture)
        posture, velocity, acceleration = self.player.at(time)
        x = min((stamp - self._stamp) / BLEND, 1.0)
        self._posture = posture = posture + (1 - x) ** 3 * (1 + 3 * x + 6 * x * x) * self._offset
        velocity = velocity - 30 * x * x * (1 - x) ** 2 / BLEND * self._offset
        acceleration = acceleration - 60 * x * (1 - x) * (1 - 2 * x) / BLEND**2 * self._offset
        maker = memory.maker
        wish = maker.laws.hold(now, memory.stance.update(now.state, BOTH), goal(memory, now))
        made = maker.make(self.name, now, wish, stack=PLAY, height=maker.height(now), posture=posture)
        return replace(made, posture_velocity=velocity, posture_acceleration=acceleration)
