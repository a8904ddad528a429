"""The rows of docs/results.md that take many runs: a table with a verdict a row, over worker processes.

    python benchmarks/balance.py ROW [--workers 2] [--count N] [--seed 0]

A run counts as recovered when it ends upright with the CoM at rest (``recovery_time`` is a number).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verdicts import report
from humanoid_balance.balance.steps import STEP_POLICIES
from humanoid_balance.experiments.push import run
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

import numpy as np  # isort: skip  # after the package, which sees to it that linear algebra takes one thread

IN_PLACE = RunSettings(strategy="in-place", delay=0.2, time=7.0)
AUTO = RunSettings(time=9.0)
THESIS = "human:ranges=kudoh"  # the body of Kudoh's experiments
KE1, KE2 = PushProfile(300, 0.1, 0), PushProfile(300, 0.1, 180)
KE3 = (PushProfile(200, 0.1, 90), PushProfile(200, 0.1, 270))
KE6 = PushProfile(300, 0.4, 0)
ALL_AROUND = range(0, 360, 45)
LIMIT = 60.0  # impulse that the 71 kg human takes in every direction, with steps [N s]


@dataclass(frozen=True)
class Episode:
    name: str
    settings: RunSettings
    pushes: tuple[PushProfile, ...]
    steps: int | None = None  # more are a failure
    rest: bool = True  # the CoM has to come to rest; not where the push goes on to the end


def standard(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """The experiments of Kudoh's thesis, on his ranges and on the default ones; stepping limits of a 90 kg human."""
    for body, of in ((THESIS, ""), (AUTO.robot, ", default ranges")):
        in_place, auto = replace(IN_PLACE, robot=body), replace(AUTO, robot=body)
        yield Episode(f"KE1{of}", in_place, (KE1,), 0)
        yield Episode(f"KE2{of}", in_place, (KE2,), 0)
        for push in KE3:
            yield Episode(f"KE3 at {push.direction:g}{of}", replace(in_place, delay=0.0), (push,), 0)
        yield Episode(f"KE5{of}", replace(auto, strategy="step"), (KE1,), 2)
        yield Episode(f"KE6{of}", auto, (KE6,))
    for direction in (0, 90):
        sine = PushProfile(100, 60.0, direction, profile="sine", frequency=1.0)
        yield Episode(f"KE4 at {direction}", replace(AUTO, robot=THESIS, time=61.0), (sine,), rest=False)
    heavy = replace(AUTO, robot="human:mass=90")
    for direction, impulse in ((0, 120), (90, 110), (180, 70), (270, 110)):
        yield Episode(f"90 kg, {impulse} N s at {direction}", heavy, (PushProfile(impulse / 0.2, 0.2, direction),))


def seeds(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """KE1, KE2, KE3 and KE6 with other noise and another time of the push."""
    for seed in range(count):
        start = float(rng.uniform(0.5, 1.5))
        for name, settings, push, steps in (
            ("KE1", IN_PLACE, KE1, 0),
            ("KE2", IN_PLACE, KE2, 0),
            ("KE3", replace(IN_PLACE, delay=0.0), KE3[seed % 2], 0),
            ("KE6", AUTO, KE6, None),
        ):
            yield Episode(f"{name} seed {seed}", replace(settings, seed=seed), (replace(push, start=start),), steps)


def double(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """A second push, half as strong, 0.2 to 1 s after the first, both from anywhere."""
    for k in range(count):
        first, second = rng.uniform(0, 360, 2)
        start = 1.0 + 0.2 + float(rng.uniform(0.2, 1.0))
        pushes = PushProfile(LIMIT / 0.2, 0.2, float(first)), PushProfile(LIMIT / 0.4, 0.2, float(second), start)
        name = f"{first:3.0f} deg, then {second:3.0f} deg after {start - 1.2:.2f} s"
        yield Episode(name, replace(AUTO, seed=k), pushes)


def robots(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """talos and g1 in eight directions, velocity changes of 0.5 and 0.9 m/s in 0.2 s."""
    for robot in ("talos", "g1"):
        mass = registry.load(robot).mass
        for dv in (0.5, 0.9):
            for direction in ALL_AROUND:
                push = PushProfile(dv * mass / 0.2, 0.2, direction)
                yield Episode(f"{robot}, {dv} m/s at {direction}", replace(AUTO, robot=robot), (push,))


def mismatch(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """KE1 and KE6 at 80 % on a body that is not the controller's model."""
    cases: dict[str, dict[str, Any]] = {
        "mass +10 %": {"plant_robot": "human:mass=78.1"},
        "mass -10 %": {"plant_robot": "human:mass=63.9"},
        "shank +6 %": {"plant_robot": "human:shank=1.06"},
        "friction 0.4": {"friction": 0.4},
        "torques x 0.8": {"torque_scale": 0.8},
        "latency 2 + 2 ms": {"sensor_latency": 0.002, "actuator_latency": 0.002},
    }
    everything = {key: value for case in cases.values() for key, value in case.items()}
    for mass in (63.9, 78.1):
        cases[f"all, {mass} kg"] = everything | {"plant_robot": f"human:mass={mass},shank=1.06"}
    for name, changes in cases.items():
        yield Episode(f"KE1, {name}", replace(IN_PLACE, **changes), (replace(KE1, force=240),), 0)
        yield Episode(f"KE6, {name}", replace(AUTO, **changes), (replace(KE6, force=240),))


def slopes(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """Standing and pushed with 150 N x 0.1 s from all sides on slopes."""
    for slope in (-20.0, -15.0, -10.0, 10.0, 15.0, 20.0):
        yield Episode(f"slope {slope:g}", replace(AUTO, slope=slope), ())
        for direction in ALL_AROUND:
            push = PushProfile(150, 0.1, direction)
            yield Episode(f"slope {slope:g}, pushed at {direction}", replace(AUTO, slope=slope), (push,))


def hard(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """Near the limit: a 90 kg human to the sides, long pushes, talos and g1 with 0.75 m/s."""
    settings = replace(AUTO, time=7.5)
    for direction in (*range(70, 111, 10), *range(250, 291, 10)):
        for impulse in (100, 110):
            push = PushProfile(impulse / 0.2, 0.2, direction)
            yield Episode(f"90 kg, {impulse} N s at {direction}", replace(settings, robot="human:mass=90"), (push,))
    for force, direction in ((300, 0), (300, 25), (300, 335), (220, 155), (220, 180)):
        yield Episode(f"{force} N x 0.4 s at {direction}", settings, (PushProfile(force, 0.4, direction),))
    for robot in ("talos", "g1"):
        mass = registry.load(robot).mass
        for direction in ALL_AROUND:
            push = PushProfile(0.75 * mass / 0.2, 0.2, direction + 7)
            yield Episode(f"{robot}, 0.75 m/s at {direction + 7}", replace(settings, robot=robot), (push,))


def varied(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """What is required of the 90 kg human, talos and g1, with other noise, times and directions."""
    heavy = {0: 120, -15: 115, 15: 115, 180: 70, 165: 70, 195: 70} | dict.fromkeys((80, 90, 100, 260, 270, 280), 110)
    for seed in (1, 2, 3):
        settings, start = replace(AUTO, time=7.5, seed=seed), 1.0 + 0.07 * seed
        for direction, impulse in heavy.items():
            push = PushProfile(impulse / 0.2, 0.2, direction, start)
            name = f"90 kg, {impulse} N s at {direction}, seed {seed}"
            yield Episode(name, replace(settings, robot="human:mass=90"), (push,))
        for robot in ("talos", "g1"):
            force = 0.5 * registry.load(robot).mass / 0.2
            for direction in ALL_AROUND:
                push = PushProfile(force, 0.2, direction + 11 * seed, start)
                name = f"{robot}, 0.5 m/s at {push.direction:g}, seed {seed}"
                yield Episode(name, replace(settings, robot=robot), (push,))


def policies(count: int, rng: np.random.Generator) -> Iterator[Episode]:
    """Each way to choose a foothold, pushed from all sides by what needs steps."""
    for policy in STEP_POLICIES:
        for direction in ALL_AROUND:
            push = PushProfile(LIMIT / 0.2, 0.2, direction)
            yield Episode(f"{policy}, {LIMIT:g} N s at {direction}", replace(AUTO, step_policy=policy), (push,))


ROWS: dict[str, Callable[[int, np.random.Generator], Iterator[Episode]]] = {
    row.__name__: row for row in (standard, seeds, double, robots, mismatch, slopes, hard, varied, policies)
}


def attempt(episode: Episode) -> tuple[bool, str]:
    result = run(episode.settings, episode.pushes).result
    rested = result["recovery_time"] is not None
    good = not result["fell"] and (rested or not episode.rest)
    good = good and (episode.steps is None or result["steps"] <= episode.steps)
    how = "fell" if result["fell"] else f"recovered after {result['recovery_time']:.2f} s" if rested else "no rest"
    return good, (
        f"{how}, {result['steps']} steps, trunk {result['torso_lean_max_deg']:.0f} deg, "
        f"slip {1e3 * result['feet_slip_max']:.0f} mm, {result['modes'][-1][1]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--count", type=int, default=20, help="seeds, or double pushes")
    parser.add_argument("--seed", type=int, default=0, help="of times and directions")
    options = parser.parse_args()
    episodes = list(ROWS[options.row](options.count, np.random.default_rng(options.seed)))
    report(episodes, attempt, options.workers)


if __name__ == "__main__":
    main()
