"""What a mode is: it looks at the situation and returns a Reference; the table of transitions decides which one acts.

A new mode is one file with a subclass of ``Mode`` and the conditions that lead to it, and its rows in
``balance/transitions.py``. No other mode changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Command, Reference


class BalanceMode(ABC):
    """``enter`` when the mode takes over, then ``update`` once a tick."""

    name: ClassVar[str]
    upright: ClassVar[bool] = True  # it is on its feet and should stay there: losing them is a fall
    # Distance of the capture point from the feet that no leg makes good [CoM heights]; 0.31 was, from standing.
    out_of_reach: ClassVar[float] = 0.5
    sunk: ClassVar[float] = 0.92  # CoM height below which a body beside its feet falls, of the standing height
    flat: ClassVar[bool] = False  # the soles lie flat on the ground, whose normal can be learnt from them

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.done = ""  # why the work of this mode is over; empty until then

    def enter(self, now: Situation) -> None:
        """Begin anew."""
        self.done = ""

    def seen(self, now: Situation) -> Situation:
        """The situation as this mode knows it, for itself and for the rows of the table."""
        return now

    @abstractmethod
    def update(self, now: Situation) -> Reference:
        """What is wanted in this tick."""

    def answers(self, command: Command) -> bool:
        """Whether a command like this one is for this mode; the supervisor refuses what no mode answers."""
        return False

    def refuses(self, command: Command) -> str:
        """Why this mode does not do what it answers, as far as it has looked at it; empty if it does."""
        return ""


def done(now: Situation, memory: Memory) -> str:
    """Condition of a transition: the mode that acts has finished."""
    return memory.mode.done
