"""The rows of docs/gaits.md: every gait of the table, and what the walks bear.

python benchmarks/gaits.py [table] [walk] [space]      all of them without an argument; one line per row
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace

from humanoid_balance.experiments.gait import BEGIN, Chain, period, run
from humanoid_balance.gaits import library
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings

PLANE = RunSettings(robot="r2d", planar=True, time=20.0, period=period("r2d"))
SPACE = RunSettings(robot="human:mass=90", time=20.0)
# Y16: 0.4 s at the chest, lateral (+ left) and forward [N]
CHEST = ((0, 340), (230, 230), (330, 0), (220, -220), (0, -270), (-190, -190), (-240, 0), (-190, 190))
Row = tuple[str, RunSettings, str, list[PushProfile]]


def table() -> Iterator[Row]:
    for name in library.names():
        if library.find(name).space == "plane":
            yield name, PLANE, name, []


def walk() -> Iterator[Row]:
    yield "60 s", replace(PLANE, time=60.0), "walk", []
    for force, direction in ((600, 0), (500, 180)):
        pushes = [PushProfile(force, 0.1, direction, 5.0 * k) for k in range(1, 11)]
        yield f"ten pushes of {force} N, {direction} deg", replace(PLANE, time=55.0), "walk", pushes
    for slope in (6.0, -6.0):
        yield f"slope {slope:+g} deg", replace(PLANE, slope=slope), "walk", []
    yield "20 cm down", replace(PLANE, drop=0.2), "walk", []
    for limit in (100.0, 90.0, 80.0, 70.0):
        yield f"torque limit {limit:g} N m", replace(PLANE, torque_limit=limit), "walk", []


def space() -> Iterator[Row]:
    for left, ahead in CHEST:
        push = PushProfile(math.hypot(left, ahead), 0.4, math.degrees(math.atan2(left, ahead)), 3.0)
        yield f"{ahead:+d} N forward, {left:+d} N left", replace(SPACE, time=8.0), "walk-3d", [push]
    yield "60 s", replace(SPACE, time=60.0), "walk-3d", []
    yield "run, 20 s", SPACE, "run-3d", []


def main(which: list[str]) -> None:
    parts = {"table": table, "walk": walk, "space": space}
    columns = "row | holds | time [s] | speed [m/s] | step period [s] | torso swing [deg] | torque [N m] | x real time"
    for part in which or parts:
        print(f"\n{part}\n| {columns} |")
        print("|---|---|---|---|---|---|---|---|")
        for label, settings, gait, pushes in parts[part]():
            r = run(settings, Chain(((BEGIN, gait),)), pushes).result
            period = "–" if r["step_period"] is None else f"{r['step_period']:.3f}"
            print(
                f"| {label} | {'no' if r['fell'] else 'yes'} | {r['time']:.1f} | {r['speed']:.2f} | {period} | "
                f"{r['torso_swing_deg']:.1f} | {r['torque_max']:.0f} | {r['rtf']:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
