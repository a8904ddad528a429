"""One run of a finite-state gait: ask for it, change it, push, and measure how it goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import metrics, timing
from humanoid_balance.experiments.simulation import Progress, simulate
from humanoid_balance.experiments.stride import Way
from humanoid_balance.experiments.walk import Itinerary, Velocity
from humanoid_balance.gaits.mode import choice
from humanoid_balance.loop import Tick
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Array, Command

BEGIN = 0.3  # the robot stands this long before it is asked [s]
GAIT_TIME = 10.0  # length of a run unless told [s]
AFTER = 4.0  # a push counts as survived when the robot is still up so long after it [s]
# Drives with feedback of their own close it at their own rate. What is left to the loop is slow: 4 ms is a ninetieth of
# a step, and a second of walking costs a quarter. In space trunk and swinging leg turn about three axes: 2 ms.
SLOW_LOOP, SPATIAL_LOOP = 0.004, 0.002  # control period of robots with such drives, in the plane and in space [s]
STAND = "stand"  # in a chain: no gait at all
AIRBORNE = 0.06  # a shorter time without load is no step [s]


def period(robot: str) -> float:
    """Control period of gaits on a robot [s]."""
    found = registry.load(robot)
    onboard = (found.drive_stiffness > 0.0) | (found.drive_damping > 0.0)
    if not onboard.all():
        return RunSettings.period
    return SLOW_LOOP if found.planar else SPATIAL_LOOP


@dataclass(frozen=True)
class Chain:
    """Gaits, or STAND, and when they are asked for, the first at BEGIN; each holds until the next [s]."""

    lines: tuple[tuple[float, str], ...]

    def __post_init__(self) -> None:
        for (before, _), (after, name) in pairwise(self.lines):
            if after <= before:
                raise InputError(f"to {name}:{after:g} follows {before:g} s; allowed: rising times")

    def at(self, time: float) -> str:
        wanted = ""
        for start, name in self.lines:
            if time >= start:
                wanted = name
        return "" if wanted == STAND else wanted


class Caller:
    """The operator: asks for the gaits of a chain, and for velocities on the way."""

    way = Itinerary()

    def __init__(self, chain: Chain, way: Itinerary = way) -> None:
        self.chain, self.way = chain, way
        self.refused = ""
        self.commanded: list[Velocity] = []

    def command(self, stamp: float) -> Command:
        gait = self.chain.at(stamp)
        velocity = self.way.at(stamp) if gait else (0.0, 0.0, 0.0)
        self.commanded.append(velocity)
        return Command(stamp, np.array(velocity), gait=gait)

    def see(self, tick: Tick, plant: Simulator) -> None:
        self.refused = self.refused or tick.refused


def run(
    settings: RunSettings,
    chain: Chain,
    pushes: Sequence[PushProfile] = (),
    progress: Progress | None = None,
    log: Path | None = None,
    way: Itinerary = Caller.way,
) -> Run:
    """The result is the JSON object of ``humanoid-balance gait``."""
    robot = registry.load(settings.robot)
    for name in {name for _, name in chain.lines} - {STAND}:
        found = choice(robot, name)
        if isinstance(found, str):
            raise InputError(found)
    last = max((p.end for p in pushes), default=0.0)
    seconds = settings.time or max(GAIT_TIME, last + AFTER, chain.lines[-1][0] + AFTER)
    if last > seconds:
        raise InputError(f"time is {seconds:g} s, the last push ends at {last:g} s; allowed: a time not before that")
    caller = Caller(chain, way)
    done = simulate(settings, pushes, seconds, progress, log, caller)
    done.commanded = np.array(caller.commanded)
    done.result = figures(done, chain)
    done.title = title(done)
    return done


def landings(run: Run) -> Array:
    """Times at which a foot came down after it was in the air [s]."""
    record, shortest = run.record, max(1, round(AIRBORNE / run.dt))
    standing = metrics.loaded(record)
    ends = [end for foot in range(2) for _, end in metrics.phases(~standing[:, foot], shortest) if end < record.length]
    times: Array = record["time"][sorted(ends)]
    return times


def trunk_pitch(run: Run) -> Array:
    """How far the base leans forward, tick by tick [rad]."""
    x, y, z, w = run.record["true_q"][:, 3:7].T
    return np.asarray(np.arctan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y)))


def figures(run: Run, chain: Chain) -> dict[str, Any]:
    """The JSON object; speed, step period and torso swing are those of the second half of the run."""
    robot, record, ticks = run.robot, run.record, run.times["tick"]
    time, com = record["time"], record["true_com"]
    fell, end = bool(record["true_fell"].any()), float(time[-1])
    half = len(time) // 2
    landed = landings(run)
    late = landed[landed > time[half]]
    pitch = trunk_pitch(run)[half:]
    pushes = [
        {
            "at": push.start, "direction": push.direction, "impulse": push.impulse, "dv": push.impulse / robot.mass,
            "survived": not (fell and end < push.end + AFTER),
        }
        for push in run.pushes
    ]  # fmt: skip
    return {
        "gait": chain.lines[-1][1],
        "robot": robot.spec,
        "mass": robot.mass,
        "fell": fell,
        "time": end,
        "distance": float(np.linalg.norm((com[-1] - com[0])[:2])),
        **course(run),
        "speed": float((com[-1, 0] - com[half, 0]) / max(end - time[half], run.dt)),
        "steps": len(landed),
        "step_period": float(np.median(np.diff(late))) if len(late) > 1 else None,
        "torso_swing_deg": math.degrees(float(np.ptp(pitch))) if len(pitch) else None,
        "torque_max": float(np.abs(record["true_torque"]).max()),
        "pushes": pushes,
        "modes": [[round(t, 4), name] for t, name in record.mode_changes],
        "estimation": metrics.estimation(record, run.pushes, run.reported),
        "tick": timing.percentiles(ticks, tail=True) | {"missed": int((ticks > run.dt).sum())},
        "rtf": round(record.length * run.dt / run.wall, 3),
        "rtf_cpu": round(record.length * run.dt / run.cpu, 3),
    }


def course(run: Run) -> dict[str, Any]:
    """Of a run whose velocity is commanded: the one it had, and how far from its heading the feet pointed (rms)."""
    if run.commanded is None or not run.commanded.any():
        return {}
    way = Way.of(run)
    off = np.mod(way.heading - way.wanted_heading[: len(way.heading)] + math.pi, math.tau) - math.pi
    rms = math.degrees(float(np.sqrt(np.mean(off**2))))
    return {"velocity": way.velocity()[0], "heading_rms_deg": rms}


def title(run: Run) -> str:
    """The run in one line."""
    result = run.result
    pushed = f", pushed {len(run.pushes)} time{'s' * (len(run.pushes) != 1)}" if run.pushes else ""
    verdict = f"fell after {result['time']:.1f} s" if result["fell"] else f"{result['speed']:.2f} m/s"
    return f"{result['robot']}, {result['mass']:.0f} kg, {result['gait']}{pushed}: {verdict}, {result['steps']} steps"
