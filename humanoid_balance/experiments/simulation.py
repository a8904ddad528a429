"""One simulated run of a robot, recorded tick by tick; what the experiments share."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from humanoid_balance import stack
from humanoid_balance.loop import Loop, Tick
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.recording.record import Record
from humanoid_balance.recording.run import Run
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import STILL, Array, Command, Push

if TYPE_CHECKING:
    from humanoid_balance.recording.log import LogWriter

COMPLETE = 0.5  # a reported push is followed this long after its onset, then its impulse counts as complete [s]

Progress = Callable[[float], None]


class Commander(Protocol):
    """Who tells a robot what to do during a run."""

    def command(self, stamp: float) -> Command:
        """What is wanted at a time [s]."""

    def see(self, tick: Tick, plant: Simulator) -> None:
        """After each tick; may push."""


@runtime_checkable
class Insider(Commander, Protocol):
    """A commander who also works on the controller."""

    def meet(self, loop: Loop) -> None:
        """Before the run."""


@runtime_checkable
class Witness(Commander, Protocol):
    """A commander who knows when there is nothing more to see."""

    @property
    def over(self) -> bool:
        """After each tick; True ends the run."""


class ReportedPushes:
    """Collects the pushes that the observer reported, each as it stood when its impulse was complete."""

    def __init__(self) -> None:
        self.pushes: list[Push] = []

    def see(self, push: Push, stamp: float) -> None:
        if math.isnan(push.onset):
            return
        if self.pushes and self.pushes[-1].onset == push.onset:
            if stamp - push.onset < COMPLETE:
                self.pushes[-1] = push
        else:
            self.pushes.append(push)


def simulate(
    settings: RunSettings,
    pushes: Sequence[PushProfile],
    seconds: float,
    progress: Progress | None = None,
    log: Path | None = None,
    operator: Commander | None = None,
    start: Array | None = None,
    to_the_end: bool = False,
) -> Run:
    """Run until the time is over or the robot has fallen. Deterministic for a seed.

    ``log`` names an MCAP file for all that passes through the loop; without an ``operator`` the robot is left alone.
    ``start``: a Pinocchio configuration other than the stance; ``to_the_end``: also after a fall.
    """
    robot, plant = stack.simulator(settings, pushes)
    with closing(plant):
        loop = stack.simulated(robot, plant, settings.balance, start, stack.known(settings, robot))
        if isinstance(operator, Insider):
            operator.meet(loop)
        ticks = round(seconds / plant.dt)
        record, reported = Record(plant.robot, ticks), ReportedPushes()
        with _open_log(plant.robot, log) as writer:
            wall, cpu = _run(loop, plant, record, reported, writer, progress, ticks, operator, to_the_end)
    return Run(settings, tuple(pushes), record, reported.pushes, loop.stage_times(), plant.dt, wall, cpu)


def _open_log(robot: Robot, path: Path | None) -> LogWriter | nullcontext[None]:
    if path is None:
        return nullcontext()
    from humanoid_balance.recording.log import LogWriter

    return LogWriter(robot, path)


def _run(
    loop: Loop, plant: Simulator, record: Record, reported: ReportedPushes, writer: LogWriter | None,
    progress: Progress | None, ticks: int, operator: Commander | None, to_the_end: bool,
) -> tuple[float, float]:  # fmt: skip
    """The time it took, by the clock on the wall and of this process [s]."""
    gc.collect()
    gc.disable()
    start, busy = time.perf_counter(), time.process_time()
    witness = operator if isinstance(operator, Witness) else None
    try:
        for k in range(ticks):
            truth = plant.truth()
            tick = loop.tick(STILL if operator is None else operator.command(truth.stamp))
            record.add(tick, truth)
            if writer is not None:
                writer.add(tick, truth)
            reported.see(tick.state.push, tick.state.stamp)
            if operator is not None:
                operator.see(tick, plant)
            if progress is not None and k % 200 == 0:
                progress((k + 1) / ticks)
            if (truth.fell and not to_the_end) or (witness is not None and witness.over):
                break
    finally:
        gc.enable()
    return time.perf_counter() - start, time.process_time() - busy
