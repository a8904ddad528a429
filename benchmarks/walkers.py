"""Three walkers on one body: SIMBICON, Torres' pendulum and the model-based walk, at the same speed and pushes.

    python benchmarks/walkers.py [--robot R] [--time 8] [--speed V] [--resolution 150]

A row per walker: speed, cost of transport, torque, smoothness, CPU time; then the largest push of 0.1 s at CoM height
in four directions that it survives for 3 s, found by bisection. SIMBICON goes as fast as its table does; the others
are asked for that speed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from humanoid_balance.experiments import gait, metrics, walk
from humanoid_balance.experiments.stride import Way
from humanoid_balance.experiments.walk import Itinerary
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings

import numpy as np  # isort: skip  # after the package, which sees to it that linear algebra takes one thread

PUSHED_AT, LASTS, AFTER = 4.0, 0.1, 3.0  # [s]
DIRECTIONS = (0, 90, 180, 270)  # [deg]
STRONGEST = 1200.0  # [N]
Walker = Callable[[float, list[PushProfile]], Run]


def by_gait(robot: str, name: str, speed: float) -> Walker:
    def go(seconds: float, pushes: list[PushProfile]) -> Run:
        settings = RunSettings(robot=robot, time=seconds, period=gait.period(robot))
        way = Itinerary(((gait.BEGIN, (speed, 0.0, 0.0)),))
        return gait.run(settings, gait.Chain(((gait.BEGIN, name),)), pushes, way=way)

    return go


def by_model(robot: str, speed: float) -> Walker:
    def go(seconds: float, pushes: list[PushProfile]) -> Run:
        settings = RunSettings(robot=robot, time=seconds)
        return walk.run(settings, Itinerary(((gait.BEGIN, (speed, 0.0, 0.0)),)), pushes)

    return go


def figures(run: Run) -> dict[str, Any]:
    """Of the second half of an undisturbed run."""
    record = run.record
    half = record.length // 2
    torque = record["true_torque"][half:] / record.robot.torque_limit
    com = record["true_com"]
    seconds = float(record["time"][-1] - record["time"][half])
    return {
        "fell": bool(run.result["fell"]),
        "speed": float(np.linalg.norm((com[-1] - com[half])[:2])) / seconds,
        "cost_of_transport": Way.of(run).cost_of_transport(),
        "torque_rms": float(np.sqrt((torque**2).mean())),
        "torque_max": float(np.abs(torque).max()),
        "roughness": metrics.torque_roughness(record),
        "rtf_cpu": record.length * run.dt / run.cpu,
    }


def largest(walker: Walker, direction: float, resolution: float) -> float:
    """The strongest push of LASTS that is survived, by bisection [N]."""
    low, high = 0.0, STRONGEST
    while high - low > resolution:
        force = (low + high) / 2
        push = PushProfile(force, LASTS, direction, PUSHED_AT)
        low, high = (low, force) if walker(PUSHED_AT + LASTS + AFTER, [push]).result["fell"] else (force, high)
    return low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="human:mass=70,height=1.81,drives=impedance")
    parser.add_argument("--time", type=float, default=8.0, metavar="S")
    parser.add_argument("--speed", type=float, metavar="M/S", help="default: SIMBICON's own")
    parser.add_argument("--resolution", type=float, default=150.0, metavar="N")
    options = parser.parse_args()
    simbicon = by_gait(options.robot, "walk-3d", 0.0)
    first = figures(simbicon(options.time, []))
    speed = first["speed"] if options.speed is None else options.speed
    walkers = {
        "SIMBICON": simbicon,
        "Torres": by_gait(options.robot, "torres", speed),
        "model-based": by_model(options.robot, speed),
    }
    print(f"{options.robot}, {speed:.2f} m/s\n")
    head = ["walker", *first, *(f"{d} deg [N s]" for d in DIRECTIONS)]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, walker in walkers.items():
        found = first if walker is simbicon else figures(walker(options.time, []))
        cells = [f"{v:.3g}" if isinstance(v, float) and math.isfinite(v) else str(v) for v in found.values()]
        limits = [LASTS * largest(walker, direction, options.resolution) for direction in DIRECTIONS]
        print(f"| {' | '.join([name, *cells, *(f'{limit:.1f}' for limit in limits)])} |", flush=True)


if __name__ == "__main__":
    main()
