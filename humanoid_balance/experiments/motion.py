"""One clip on standing feet: play it, push the robot if wanted, measure how well the upper body followed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import walk
from humanoid_balance.experiments.simulation import Progress, simulate
from humanoid_balance.loop import Tick
from humanoid_balance.motions.mode import choice
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Array, Command

BEGIN = 0.5  # the robot stands this long before it is asked to play [s]
SETTLE = 1.0  # from then on it should follow [s]
AFTER = 3.0  # a push may spoil the motion for this long [s]


class ClipCaller:
    """The operator of a clip. Keeps where the clip wants the joints, tick by tick."""

    def __init__(self, name: str, player: PosturePlayer, ticks: int) -> None:
        self.name, self.player = name, player
        self.wanted = np.full((ticks, len(player.follows)), np.nan)
        self._tick, self._began = 0, math.nan

    def command(self, stamp: float) -> Command:
        return Command(stamp, skill=self.name if stamp >= BEGIN else "")

    def see(self, tick: Tick, plant: Simulator) -> None:
        if math.isnan(self._began) and tick.reference.mode == "motion":
            self._began = tick.state.stamp
        if not math.isnan(self._began):
            self.wanted[self._tick] = self.player.at(tick.state.stamp - self._began)[0]
        self._tick += 1


def run(
    settings: RunSettings,
    file: Path,
    pushes: Sequence[PushProfile] = (),
    progress: Progress | None = None,
    log: Path | None = None,
) -> Run:
    """Play; the result is the JSON object of ``humanoid-balance motion play``."""
    robot = registry.load(settings.robot)
    player = choice(robot, str(file))
    if isinstance(player, str):
        raise InputError(player)
    last = max((p.end for p in pushes), default=0.0)
    seconds = settings.time or max(BEGIN + player.duration, last + AFTER + SETTLE)
    if last > seconds:
        raise InputError(f"time is {seconds:g} s, the last push ends at {last:g} s; allowed: a time not before that")
    caller = ClipCaller(str(file), player, round(seconds / 1e-3) + 10)
    done = simulate(settings, pushes, seconds, progress, log, caller)
    done.commanded = np.zeros((done.record.length, 3))
    done.result = {"clip": str(file), **walk.figures(done), "tracking_error_deg": tracking_error(done, caller)}
    done.title = title(done)
    return done


def tracking_error(run: Run, caller: ClipCaller) -> float:
    """Root mean square over the joints above the legs, off the clip itself, away from pushes [deg]."""
    time = run.record["time"]
    calm = time > BEGIN + SETTLE
    for push in run.pushes:
        calm &= (time < push.start) | (time > push.end + AFTER)
    follows = caller.player.follows
    error: Array = (run.record["true_q"][:, 7:] - caller.wanted[: run.record.length])[calm][:, follows]
    return math.degrees(float(np.sqrt(np.mean(error**2)))) if error.size else math.nan


def title(run: Run) -> str:
    """The run in one line."""
    result: dict[str, Any] = run.result
    pushed = f", pushed {len(run.pushes)} time{'s' * (len(run.pushes) != 1)}" if run.pushes else ""
    verdict = "fell" if result["fell"] else f"{result['tracking_error_deg']:.1f} deg off"
    return f"{result['robot']}, {result['mass']:.0f} kg, plays {Path(result['clip']).stem}{pushed}: {verdict}"
