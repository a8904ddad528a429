"""One push experiment: push a standing robot, measure what happened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import metrics, timing
from humanoid_balance.experiments.simulation import Progress, simulate
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings

AFTER = 5.0  # a run goes on this long after the last push [s]
DIRECTIONS = {0: "forward", 90: "to the left", 180: "backward", 270: "to the right"}


def run(
    settings: RunSettings, pushes: Sequence[PushProfile], progress: Progress | None = None, log: Path | None = None
) -> Run:
    """Push the robot; the result is the JSON object of ``humanoid-balance push``."""
    check_time(settings, pushes)
    seconds = settings.time or max((p.end for p in pushes), default=1.0) + AFTER
    done = simulate(settings, pushes, seconds, progress, log)
    done.result = figures(done)
    done.title = title(done)
    return done


def check_time(settings: RunSettings, pushes: Sequence[PushProfile]) -> None:
    """A run that ends before its push does would say that the robot withstood it."""
    end = max((p.end for p in pushes if p.impulse), default=0.0)
    if settings.time is not None and settings.time < end:
        raise InputError(f"time is {settings.time:g} s, the push ends at {end:g} s; allowed: a time not before that")


def figures(run: Run) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance push``."""
    robot, record = run.robot, run.record
    impulse = sum(p.impulse for p in run.pushes)
    ticks, push = run.times["tick"], run.main_push
    return {
        "robot": robot.spec,
        "mass": robot.mass,
        "fell": bool(record["true_fell"].any()),
        "steps": metrics.steps(record),
        "modes": [[round(t, 4), name] for t, name in record.mode_changes],
        "impulse": impulse,
        "dv": impulse / robot.mass,
        **({} if push is None else {f"push_{key}": value for key, value in metrics.push_place(run, push).items()}),
        "recovery_time": metrics.recovery_time(record, run.pushes),
        "com_error_final": metrics.com_error(record),
        "feet_slip_max": metrics.slip(record),
        "zmp_margin_min": metrics.zmp_margin(record),
        "torque_ratio_max": float((abs(record["true_torque"]) / robot.torque_limit).max()),
        "torque_roughness": metrics.torque_roughness(record),
        "torso_lean_max_deg": math.degrees(float(record["true_lean"].max())),
        "estimation": metrics.estimation(record, run.pushes, run.reported),
        "pushes_reported": len(run.reported),
        "tick": timing.percentiles(ticks, tail=True) | {"missed": int((ticks > run.dt).sum())},
        "rtf": round(record.length * run.dt / run.wall, 3),
    }


def place(push: PushProfile, height: float | None) -> str:
    """Where the force acts, in words; the height above the ground changes the limit by a factor of two.

    ``height``: None if the run was over before the push.
    """
    where = ["at the CoM"] if push.link is None and push.height is None else [f"on {push.link}"] if push.link else []
    return ", ".join(where if height is None else [*where, f"{height:.2f} m high"])


def title(run: Run) -> str:
    """The run in one line."""
    result, push = run.result, run.main_push
    how = "no push"
    if push is not None:
        angle = round(push.direction % 360.0, 1)
        shape = "" if push.profile == "constant" else f" {push.profile}"
        how = f"pushed {DIRECTIONS.get(round(angle), f'towards {angle:g}°')} with {push.force:g} N{shape}"
        how += f" for {push.duration:g} s ({result['impulse']:.3g} N s, Δv {result['dv']:.2f} m/s)"
        how += f" {place(push, result['push_height'])}"
    steps = f"{result['steps']} step{'s' * (result['steps'] != 1)}"
    verdict = f"still moving at the end, {steps}"
    if result["fell"]:
        verdict = f"fell, {steps}"
    elif result["recovery_time"] is not None:
        verdict = f"recovered after {result['recovery_time']:.2f} s, {steps}"
    return f"{result['robot']}, {result['mass']:.0f} kg, {how}: {verdict}"
