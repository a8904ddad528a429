"""Playing a clip on standing feet: the upper body follows it, the feet stay, the whole-body QP keeps the balance.

The CoM is regulated as in the stable mode; arms, trunk and head are the posture, with speed and acceleration fed
forward. A push ends the mode as it ends the stable one, and not the clip: it stays the posture of whatever follows.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import goal
from humanoid_balance.balance.situation import Situation
from humanoid_balance.errors import InputError
from humanoid_balance.motions.carriage import ClipCarriage
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Command, Reference, Stack

ENDING = ".npz"  # of a skill's name that is a clip
# Turning the body is not held against the arms: they are wanted to swing. ``poise``: they do not give way first.
PLAY = Stack("play", (("com",), ("height", "poise")))
LEFT = 0.4  # of the margin with which the stable mode gives up; swinging arms and a turning trunk use the rest


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
    return isinstance(mode, Playing) and mode.carriage is not None and now.command.skill != mode.carriage.wish


class Playing(BalanceMode):
    """``carriage`` is the clip under way; it goes on while other modes act."""

    name = "motion"
    flat = True

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.carriage: ClipCarriage | None = None

    def answers(self, command: Command) -> bool:
        return command.skill.endswith(ENDING) and isinstance(choice(self.memory.robot, command.skill), PosturePlayer)

    def enter(self, now: Situation) -> None:
        super().enter(now)
        wish, state = now.command.skill, now.state
        if self.carriage is None or self.carriage.over or self.carriage.wish != wish:
            player = choice(self.memory.robot, wish)
            assert isinstance(player, PosturePlayer)
            self.carriage = ClipCarriage(wish, player, state.stamp, state.q[7:], state.v[6:])
        self.memory.maker.carriage = self.carriage

    def update(self, now: Situation) -> Reference:
        memory = self.memory
        maker = memory.maker
        wish = maker.laws.accompany(now, memory.stance.update(now.state, BOTH), goal(memory, now))
        return maker.make(self.name, now, wish, stack=PLAY, height=maker.height(now))
