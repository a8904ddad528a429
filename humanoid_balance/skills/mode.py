"""A skill: key poses played by joint feedback (``skills/``), from lying on the ground to lying otherwise or the feet.

``recover`` stands for whatever leads onto the feet from how the body lies: a roll, then getting up. What ends on the
wrong side is looked at anew and tried again, a few times.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.situation import Situation
from humanoid_balance.skills.handover import STEADY, on_feet
from humanoid_balance.skills.plan import RECOVER, chain
from humanoid_balance.skills.player import Player
from humanoid_balance.skills.script import FEET, Script, library
from humanoid_balance.skills.side import UPRIGHT, TrunkAxes, side_of
from humanoid_balance.types import Command, JointReference, Reference

TRIES = 6  # scripts that ``recover`` may play before it gives up: two rolls, getting up, and all again
AUTO = 1.0  # a body that may get up by itself lies still this long first [s]
ROLLED = 0.2  # in a chain a roll is over when the body has lain so for this long, on the way to the last pose [s]
HOLD = 0.4  # the last pose is held this long: the body comes to rest on it, or the CoM comes over the feet [s]


def asked(now: Situation, memory: Memory) -> bool | str:
    """A skill is commanded that can begin from how the body lies; or the robot may get up by itself."""
    if memory.settings.get_up == "never":
        return False
    mode = cast(Skill, memory.modes["skill"])
    wish = now.command.skill
    if not wish and memory.settings.get_up == "auto" and memory.age(now) > AUTO:
        wish = RECOVER
    return mode.prepare(wish, now) if wish else False


def feet_found(now: Situation, memory: Memory) -> bool | str:
    """A script that ends on the feet has brought the CoM over them, and they carry the body."""
    mode = memory.mode
    return isinstance(mode, Skill) and mode.ends == FEET and mode.standing(now)


class Skill(BalanceMode):
    """Plays scripts. ``script`` is the one under way."""

    name = "skill"
    upright = False

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        robot = memory.robot
        self._axes = TrunkAxes(robot)
        self._zero = np.zeros(robot.n)
        self._scripts: dict[str, Script] | None = None
        self._chain: list[Script] = []
        self.script: Script | None = None
        self.wish = ""
        self.ends = ""
        self._unfit = ""  # why the wish cannot begin from how the body lies

    @property
    def scripts(self) -> dict[str, Script]:
        """Read when first asked for: a robot that never lies needs none."""
        if self._scripts is None:
            self._scripts = library(self.memory.robot)
        return self._scripts

    def answers(self, command: Command) -> bool:
        if not command.skill or self.memory.settings.get_up == "never":
            return False
        return command.skill == RECOVER or command.skill in self.scripts

    def refuses(self, command: Command) -> str:
        lies = self.memory.mode.name == "lying" and command.skill == self.wish
        return self._unfit if lies else ""

    def prepare(self, wish: str, now: Situation) -> str:
        """Choose what to play; the reason to begin, empty when nothing fits."""
        side = side_of(self._axes.of(now.state.q))
        if wish == RECOVER:
            self._chain = chain(self.scripts, side)
        else:
            script = self.scripts.get(wish)
            self._chain = [script] if script is not None and side in script.starts else []
        self.wish, self._unfit = wish, ""
        if self._chain:
            return f"{wish}, lies {side}"
        allowed = ", ".join(self.scripts[wish].starts) if wish in self.scripts else "a side that scripts lead on from"
        self._unfit = f"skill '{wish}': the robot lies {side}; it begins from: {allowed}"
        return ""

    def enter(self, now: Situation) -> None:
        super().enter(now)
        self.tries, self._stamp = 0, now.state.stamp
        self._begin(now, self._chain[0])

    def _begin(self, now: Situation, script: Script) -> None:
        self.tries += 1
        self.script, self.ends = script, script.ends
        self.player = Player(self.memory.robot, script)
        self.player.begin(now.state.q[7:])
        self._held = self._over_feet = self._rolled = 0.0

    def update(self, now: Situation) -> Reference:
        state, script = now.state, self.script
        assert script is not None
        dt, self._stamp = state.stamp - self._stamp, state.stamp
        side = side_of(self._axes.of(state.q))
        load = float(state.wrench[:, 2].sum()) / self.memory.robot.weight
        position, velocity = self.player.update(dt, state.q, side, load)
        self._over_feet = self._over_feet + dt if self._stands(now, load) else 0.0
        rolled = self.wish == RECOVER and self.player.last and side == script.ends
        self._rolled = self._rolled + dt if rolled else 0.0
        if self.player.gave_up:
            self._next(now, side, self.player.gave_up)
        elif self._rolled > ROLLED:
            self._next(now, side, "")
        elif self.player.done:
            self._held += dt
            if self._held > HOLD:
                self._next(now, side, "" if side == script.ends else f"{script.name} ends {side}, not {script.ends}")
        zero = self._zero
        return JointReference(state.stamp, self.name, position, velocity, zero, script.stiffness, script.damping, zero)

    def _next(self, now: Situation, side: str, trouble: str) -> None:
        """After a script: the next of the chain, again, or the end of this mode."""
        assert self.script is not None
        if self.wish != RECOVER:
            self.done = trouble or f"{self.script.name} is over, lies {side}"
            return
        found = chain(self.scripts, side) if side != UPRIGHT else []
        if not found or self.tries >= TRIES:
            self.done = trouble or f"nothing leads from {side} onto the feet"
        else:
            self._begin(now, found[0])

    def standing(self, now: Situation) -> str:
        """The CoM has stayed over the feet for long enough."""
        margin = self.memory.margin(now)
        return f"CoM at {now.height:.2f} m, DCM margin {margin:.3f} m" if self._over_feet > STEADY else ""

    def _stands(self, now: Situation, load: float) -> bool:
        state = now.state
        if not state.contact.all() or not self.player.last:
            return False
        flat = min(state.sole_rotation[0, 2, 2], state.sole_rotation[1, 2, 2])
        polygon = self.memory.stance.update(state, BOTH)
        speed = float(np.linalg.norm(state.com_velocity))
        return on_feet(load, float(flat), speed, polygon.margin(*now.com), self.memory.margin(now))
