"""The supervisor: one mode acts at a time, and the table of transitions decides which. It knows no mode by name."""

from __future__ import annotations

from dataclasses import replace

from humanoid_balance.balance.laws import Laws
from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.situation import Situation, look
from humanoid_balance.balance.transitions import STANDARD, Repertoire
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import STILL, Command, HeightMap, Reference, RobotState

GROUND_RATE = 0.01  # share of the ground's normal that is learnt in a tick: 0.1 s at 1 kHz, slower than a sole settles


class Supervisor:
    """``update`` once a tick; ``changes`` logs every change of mode with its reason."""

    def __init__(
        self, robot: Robot, settings: BalanceSettings | None = None, repertoire: Repertoire = STANDARD
    ) -> None:
        self.robot = robot
        self.memory = memory = Memory(robot, settings or BalanceSettings())
        self.maker = memory.maker
        self.modes = memory.modes = {kind.name: kind(memory) for kind in repertoire.modes}
        self._rows = {kind.name: repertoire.rows(kind) for kind in repertoire.modes}
        memory.mode = next(iter(self.modes.values()))
        self.changes: list[tuple[float, str, str]] = []  # stamp [s], name of the new mode, why
        self.refused = ""  # why the last command was not obeyed

    @property
    def mode(self) -> BalanceMode:
        """The one that acts."""
        return self.memory.mode

    def know(self, heights: HeightMap | None) -> None:
        """The ground, from now on; None: nobody knows it."""
        self.memory.heights = heights

    def set_gain(self, name: str, value: float) -> None:
        """Change a gain of the balance laws (a field of ``Gains``) while they act."""
        config = self.robot.config
        self.robot.config = replace(config, gains=replace(config.gains, **{name: value}))
        self.maker.laws = Laws(self.robot)

    def update(self, state: RobotState, command: Command = STILL, feasible: bool = True) -> Reference:
        """``command``: fresh, see ``loop.heeded``; ``feasible``: the last tick's wish could be met (K0)."""
        memory = self.memory
        if feasible:
            memory.able = state.stamp
        now = look(self.robot, state, memory.trunk, memory.ground, command)
        mode = memory.mode
        now = mode.seen(now)
        for row in self._rows[mode.name]:
            found = row.when(now, memory)
            if found:
                if row.target != mode.name:
                    mode = self._change(now, row.target, f"{row.reason}: {found}" if found is not True else row.reason)
                break
        if mode.flat:
            memory.ground += GROUND_RATE * (state.ground_normal - memory.ground)
        reference = mode.update(now)
        self.refused = "" if command is STILL else self._refusal(command)
        return reference

    def _change(self, now: Situation, name: str, reason: str) -> BalanceMode:
        """Enter a mode."""
        memory, stamp = self.memory, now.state.stamp
        mode = memory.mode = self.modes[name]
        memory.since = stamp
        self.changes.append((stamp, name, reason))
        mode.enter(now)
        return mode

    def _refusal(self, command: Command) -> str:
        """Why no mode answers a command; empty if one does, or nothing is asked for."""
        if command.still:
            return ""
        for mode in self.modes.values():
            if mode.answers(command):
                return mode.refuses(command)
        asked = {"gait": command.gait, "skill": command.skill, "stance": command.stance}
        wishes = [f"{kind} '{name}'" for kind, name in asked.items() if name]
        wishes += ["footsteps"] * bool(command.footsteps) + ["a velocity"] * bool(command.velocity.any())
        return f"command: no mode answers {' and '.join(wishes)}; there are: {', '.join(self.modes)}"
