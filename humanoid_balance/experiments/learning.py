"""Feedback error learning on a gait: as it is, while it learns, when it has learnt, and then with half the gains."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import gait
from humanoid_balance.experiments.gait import Caller, Chain
from humanoid_balance.experiments.simulation import Progress, simulate
from humanoid_balance.experiments.walk import Velocity
from humanoid_balance.gaits.learning import NARROWEST, WIDEST, Learning
from humanoid_balance.gaits.mode import FiniteStateGait, choice
from humanoid_balance.gaits.table import Gain, GaitTable
from humanoid_balance.loop import Loop, Tick
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

LEARN_TIME = 90.0  # of learning, 250 steps [s]
BEFORE = 12.0  # the gait as it is, until this time [s]
HALVED = 20.0  # with half the gains, at the end [s]
MEASURED = 6.0  # each part is judged by its last seconds [s]


@dataclass
class Student(Caller):
    """Asks for the gait, lets it learn from BEFORE on, and halves the gains of the trunk for the last seconds."""

    chain: Chain
    learning: Learning
    seconds: float
    refused: str = ""
    commanded: list[Velocity] = field(default_factory=list)
    halved: bool = False
    rows: list[tuple[float, float, float, float]] = field(default_factory=list)  # time, error, feedback, learnt
    mode: FiniteStateGait | None = None

    def meet(self, loop: Loop) -> None:
        balance = loop.balance
        assert isinstance(balance, Supervisor)
        mode = balance.memory.modes[FiniteStateGait.name]
        assert isinstance(mode, FiniteStateGait)
        self.mode = mode

    def see(self, tick: Tick, plant: Simulator) -> None:
        super().see(tick, plant)
        mode, now = self.mode, tick.state.stamp
        if mode is None or tick.reference.mode != mode.name:
            return
        x, y, z, w = plant.truth().q[3:7]
        pitch = math.atan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y))
        self.rows.append((now, pitch + mode.machine.state.torso, *mode.trunk))
        table = mode.machine.table
        if now > BEFORE and table.learning != self.learning:
            mode.machine.table = table = replace(table, learning=self.learning)
        if now > self.seconds - HALVED and not self.halved:
            torso = table.gains.torso
            half = Gain(torso.stiffness / 2, torso.damping / 2)
            mode.machine.table = replace(table, gains=replace(table.gains, torso=half))
            self.halved = True

    def learnt(self) -> Learning:
        """What the gait can do now; trailing bins that no step has reached are left out."""
        assert self.mode is not None
        learner = self.mode.learners.get(self.mode.machine.table.name)
        torque = [] if learner is None else [round(v, 2) for v in learner.torque]
        while torque and not torque[-1]:
            torque.pop()
        return replace(self.learning, torque=tuple(torque))

    def figures(self) -> dict[str, Any]:
        return {
            "bin": self.learning.bin,
            "before": self.part(BEFORE),
            "after": self.part(self.seconds - HALVED),
            "half_gains": self.part(self.seconds),
        }

    def part(self, end: float) -> dict[str, float]:
        """The last seconds before ``end``: swing and error of the trunk, and what the feedback still does."""
        rows = np.array([row for row in self.rows if end - MEASURED < row[0] <= end]).reshape(-1, 4)
        if not len(rows):
            return {}
        error, feedback, learnt = rows[:, 1], np.abs(rows[:, 2]).sum(), np.abs(rows[:, 3]).sum()
        found = {
            "swing_deg": math.degrees(float(np.ptp(error))),
            "rms_deg": math.degrees(float(np.sqrt(np.mean(error**2)))),
        }
        return found | ({"feedback_share": float(feedback / learnt)} if learnt > 0.0 else {})


def run(
    settings: RunSettings, name: str, width: float, progress: Progress | None = None, log: Path | None = None
) -> tuple[Run, str]:
    """Learn a gait in bins of ``width`` [s]; the run, and the YAML of the gait that has learnt."""
    if not NARROWEST <= width <= WIDEST:
        raise InputError(f"learn is {width:g}; allowed: bins of {NARROWEST:g} to {WIDEST:g} s")
    table = choice(registry.load(settings.robot), name)
    if isinstance(table, str):
        raise InputError(table)
    seconds = settings.time or BEFORE + LEARN_TIME + HALVED
    shortest = BEFORE + HALVED + MEASURED
    if seconds <= shortest:
        raise InputError(f"time is {seconds:g} s; allowed: more than {shortest:g} s to learn a gait")
    chain = Chain(((gait.BEGIN, name),))
    student = Student(chain, Learning(width), seconds)
    done = simulate(settings, (), seconds, progress, log, student)
    done.result = gait.figures(done, chain) | {"learning": student.figures()}
    done.title = gait.title(done)
    return done, text(table, student.learnt())


def text(table: GaitTable, learning: Learning) -> str:
    """The YAML of a gait that has learnt: a file that ``humanoid-balance gait FILE`` takes."""
    data: dict[str, Any] = yaml.safe_load(table.file.read_text(encoding="utf-8"))
    given = {"bin": learning.bin, "rate": learning.rate, "most": learning.most, "torque": list(learning.torque)}
    data["learning"] = {key: value for key, value in given.items() if value != []}
    head = f"# {table.name}, with the torque that keeps its trunk upright as learnt (humanoid-balance gait --learn).\n"
    return head + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=118)
