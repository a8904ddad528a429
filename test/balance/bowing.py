"""A mode from outside the package: asked for as a skill, the robot bends its knees for a while and comes up again."""

from __future__ import annotations

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode, done
from humanoid_balance.balance.modes.standing import goal, near_edge
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.transitions import STANDARD, Transition
from humanoid_balance.types import Command, Reference

DEPTH = 0.04  # [CoM heights]
LASTS = 0.6  # [s]


def asked(now: Situation, memory: Memory) -> bool:
    return now.command.skill == "bow"


def no_longer_asked(now: Situation, memory: Memory) -> bool:
    return not asked(now, memory)


class Bowing(BalanceMode):
    """As the stable mode, but lower."""

    name = "bowing"

    def answers(self, command: Command) -> bool:
        return command.skill == "bow"

    def update(self, now: Situation) -> Reference:
        if self.memory.age(now) > LASTS:
            self.done = "bowed"
        maker = self.memory.maker
        wish = maker.laws.hold(now, self.memory.stance.update(now.state, BOTH), goal(self.memory, now))
        height = maker.height(now) - DEPTH * self.memory.robot.com_height
        return maker.make(self.name, now, wish, height=height)


WITH_BOWING = STANDARD.plus(
    [Bowing],
    [
        Transition("stable", "bowing", asked, "asked to bow"),
        Transition("bowing", "in place", near_edge, "pushed while bowing"),
        Transition("bowing", "in place", done, "the bow is over"),
        Transition("bowing", "in place", no_longer_asked, "nobody asks for it any more"),
    ],
)
