"""The loop: Plant -> Estimator -> Balance -> WholeBody -> Safety -> Plant, with the time each stage takes.

A Command comes in beside the sensors. It counts while it is fresh: what was wanted half a second ago is not wanted any
more, and a robot whose operator has gone quiet stops.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from humanoid_balance.plants.plant import Plant
from humanoid_balance.types import STILL, Array, Command, Reference, RobotState, SensorFrame, TorqueCommand, TouchWrench

if TYPE_CHECKING:
    from humanoid_balance.wholebody.solution import Solution

STAGES = ("plant", "estimation", "balance", "wholebody", "safety")
# Operators repeat their command at 10 Hz or more; three lost messages in a row are a hiccup, five are a lost operator.
# At 1 m/s the robot goes half a metre on its own: within the distance that people keep.
COMMAND_AGE = 0.5  # [s]


class EstimatorBox(Protocol):
    def update(self, frame: SensorFrame, touch: TouchWrench | None = None) -> RobotState:
        """``touch``: what planned contacts beside the soles do by the plan of the last tick; no sensor tells."""


class BalanceBox(Protocol):
    @property
    def refused(self) -> str:
        """Why the last command was not obeyed; empty when it was."""

    def update(self, state: RobotState, command: Command, feasible: bool) -> Reference: ...


class WholeBodyBox(Protocol):
    @property
    def feasible(self) -> bool: ...

    @property
    def solution(self) -> Solution | None: ...

    def update(self, state: RobotState, reference: Reference) -> TorqueCommand: ...

    def rest(self, state: RobotState) -> TorqueCommand: ...


class SafetyStage(Protocol):
    @property
    def stopped(self) -> bool:
        """Nothing of what the controller asks for leaves."""
        ...

    def update(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> TorqueCommand: ...


@dataclass(frozen=True, slots=True)
class Tick:
    """All that passed through the loop in one control period."""

    frame: SensorFrame
    state: RobotState
    command: Command  # as it was heeded
    refused: str  # why it is not the one that was given, or is not obeyed; usually empty
    reference: Reference
    solution: Solution | None  # verdict of the whole-body QP; None when it was not asked
    wanted: TorqueCommand
    sent: TorqueCommand


def heeded(command: Command, now: float) -> tuple[Command, str]:
    """The command that counts at the time ``now`` [s] of the loop, and why it is not the one that was given.

    An old one, and one that is not a number, mean stop: no velocity, no footsteps, no gait, no new skill. The stance
    stays, as changing it would be a motion.
    """
    why = _fault(command, now)
    return (replace(STILL, stamp=command.stamp, stance=command.stance), why) if why else (command, "")


def _fault(command: Command, now: float) -> str:
    age = now - command.stamp
    if not math.isfinite(age):
        return f"command: its stamp is {command.stamp}, not a time"
    if command.velocity.shape != (3,) or not np.isfinite(command.velocity).all():
        return f"command: velocity {command.velocity.tolist()} is not three numbers: forward, left, turn"
    for step in command.footsteps:
        if not (np.isfinite(step.position).all() and np.isfinite(step.rotation).all() and math.isfinite(step.stamp)):
            return f"command: a footstep of {step.contact} has a number that is none"
    if age > COMMAND_AGE:
        return f"command: {age:.2f} s old, after {COMMAND_AGE:g} s it means stop"
    if age < -COMMAND_AGE:
        return f"command: its stamp is {-age:.2f} s ahead of the sensors; is it from another clock?"
    return ""


class Loop:
    """Runs the boxes in order, one ``tick`` per control period. Time comes with the data."""

    def __init__(
        self, plant: Plant, estimator: EstimatorBox, balance: BalanceBox, wholebody: WholeBodyBox, safety: SafetyStage
    ) -> None:
        self.plant, self.estimator, self.balance = plant, estimator, balance
        self.wholebody, self.safety = wholebody, safety
        self.timing: list[tuple[float, ...]] = []  # seconds of each stage, a row per tick

    def tick(self, command: Command = STILL) -> Tick:
        """One control period; ``command`` is what is wanted now, standing still if nothing is."""
        clock = time.perf_counter
        t0 = clock()
        frame = self.plant.read()
        t1 = clock()
        planned = self.wholebody.solution
        touch = None if planned is None else planned.touch
        state = self.estimator.update(frame) if touch is None else self.estimator.update(frame, touch)
        t2 = clock()
        why = ""
        if command is not STILL:
            command, why = heeded(command, state.stamp)
        reference = self.balance.update(state, command, self.wholebody.feasible)
        t3 = clock()
        # No torques are sought for a body that collapses in its brakes: that takes the longest of all, for nothing.
        wholebody = self.wholebody
        wanted = wholebody.rest(state) if self.safety.stopped else wholebody.update(state, reference)
        t4 = clock()
        sent = self.safety.update(frame, state, wanted)
        t5 = clock()
        self.plant.write(sent)
        t6 = clock()
        self.timing.append((t1 - t0 + t6 - t5, t2 - t1, t3 - t2, t4 - t3, t5 - t4))
        refused = why or self.balance.refused
        return Tick(frame, state, command, refused, reference, self.wholebody.solution, wanted, sent)

    def stage_times(self) -> dict[str, Array]:
        """Seconds of each tick by stage; ``tick`` is all but the plant."""
        table = np.array(self.timing).reshape(-1, len(STAGES))
        times = {stage: table[:, i] for i, stage in enumerate(STAGES)}
        times["tick"] = table[:, 1:].sum(axis=1)
        return times
