"""The loop: Plant -> Estimator -> Balance -> WholeBody -> Safety -> Plant, with the time each stage takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from humanoid_balance.plants.plant import Plant
from humanoid_balance.types import Array, Reference, RobotState, SensorFrame, TorqueCommand

STAGES = ("plant", "estimation", "balance", "wholebody", "safety")


class EstimatorBox(Protocol):
    def update(self, frame: SensorFrame) -> RobotState: ...


class BalanceBox(Protocol):
    def update(self, state: RobotState, feasible: bool) -> Reference: ...


class WholeBodyBox(Protocol):
    @property
    def feasible(self) -> bool: ...

    def update(self, state: RobotState, reference: Reference) -> TorqueCommand: ...


class SafetyStage(Protocol):
    def update(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> TorqueCommand: ...


@dataclass(frozen=True, slots=True)
class Tick:
    """All that passed through the loop in one control period."""

    frame: SensorFrame
    state: RobotState
    reference: Reference
    wanted: TorqueCommand
    sent: TorqueCommand


class Loop:
    """Runs the boxes in order, one ``tick`` a control period. Time comes with the data."""

    def __init__(
        self, plant: Plant, estimator: EstimatorBox, balance: BalanceBox, wholebody: WholeBodyBox, safety: SafetyStage
    ) -> None:
        self.plant, self.estimator, self.balance = plant, estimator, balance
        self.wholebody, self.safety = wholebody, safety
        self.timing: list[tuple[float, ...]] = []  # seconds of each stage, a row a tick

    def tick(self) -> Tick:
        clock = time.perf_counter
        t0 = clock()
        frame = self.plant.read()
        t1 = clock()
        state = self.estimator.update(frame)
        t2 = clock()
        reference = self.balance.update(state, self.wholebody.feasible)
        t3 = clock()
        wanted = self.wholebody.update(state, reference)
        t4 = clock()
        sent = self.safety.update(frame, state, wanted)
        t5 = clock()
        self.plant.write(sent)
        t6 = clock()
        self.timing.append((t1 - t0 + t6 - t5, t2 - t1, t3 - t2, t4 - t3, t5 - t4))
        return Tick(frame, state, reference, wanted, sent)

    def run(self, ticks: int, each: Callable[[Tick], bool | None] | None = None) -> None:
        """Run a number of ticks; ``each`` sees every tick and ends the run by returning True."""
        for _ in range(ticks):
            tick = self.tick()
            if each is not None and each(tick):
                return

    def stage_times(self) -> dict[str, Array]:
        """Seconds of each tick by stage; ``tick`` is all but the plant."""
        table = np.array(self.timing).reshape(-1, len(STAGES))
        times = {stage: table[:, i] for i, stage in enumerate(STAGES)}
        times["tick"] = table[:, 1:].sum(axis=1)
        return times
