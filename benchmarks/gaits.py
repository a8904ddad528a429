"""The rows of docs/gaits.md: every gait of the table, what the walks bear, changes of gait, parameters, learning.

python benchmarks/gaits.py [table] [walk] [sweep] [transitions] [chain] [parameters] [learning] [reaction] [space]

All of them without an argument; one line per row.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from humanoid_balance.experiments import learning as learning_experiment
from humanoid_balance.experiments import metrics
from humanoid_balance.experiments.gait import BEGIN, Chain, period, run
from humanoid_balance.gaits import library
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings

PLANE = RunSettings(robot="r2d", planar=True, time=20.0, period=period("r2d"))
HUMAN = "human:mass=90,drives=impedance"
SPACE = RunSettings(robot=HUMAN, time=20.0, period=period(HUMAN))
# Y16: 0.4 s at the chest, lateral (+ left) and forward [N]
CHEST = ((0, 340), (230, 230), (330, 0), (220, -220), (0, -270), (-190, -190), (-240, 0), (-190, 190))
# Y18: from 10 phases of two steps each
PAIRS = (
    ("walk", "in-place"), ("in-place", "high-step"), ("in-place", "backwards"), ("walk", "fast-walk"),
    ("walk", "crouch"), ("walk", "half-bent"), ("walk", "high-step"), ("walk", "bent"), ("walk", "run"),
    ("walk", "fast-run"),
)  # fmt: skip
PHASES, TWO_STEPS = 10, 0.712  # [s]
# Y18's chain without back-flip, big step and back-and-forth, of which the thesis gives no tables
LONG = (
    "walk", "in-place", "stand", "in-place", "walk", "in-place", "high-step", "in-place", "scissor-hop", "in-place",
    "walk", "skip", "walk", "bent", "walk", "crouch", "walk", "in-place", "backwards", "in-place", "walk", "run",
    "fast-run",
)  # fmt: skip
Row = tuple[str, RunSettings, Chain, list[PushProfile]]


def only(gait: str) -> Chain:
    return Chain(((BEGIN, gait),))


def table() -> Iterator[Row]:
    for name in library.names():
        if library.find(name).space == "plane":
            yield name, replace(PLANE, time=60.0), only(name), []
    for direction in (0, 180):
        yield f"skip, 40 N, {direction} deg", PLANE, only("skip"), [PushProfile(40.0, 0.1, direction, 10.0)]


def walk() -> Iterator[Row]:
    yield "60 s", replace(PLANE, time=60.0), only("walk"), []
    for force, direction in ((600, 0), (500, 180)):
        pushes = [PushProfile(force, 0.1, direction, 5.0 * k) for k in range(1, 11)]
        yield f"ten pushes of {force} N, {direction} deg", replace(PLANE, time=55.0), only("walk"), pushes
    for slope in (6.0, -6.0):
        yield f"slope {slope:+g} deg", replace(PLANE, slope=slope), only("walk"), []
    for k in range(PHASES):  # where the ground ends, over two steps
        at = 3.0 + TWO_STEPS * 1.1 * k / PHASES
        yield f"20 cm down at {at:.2f} m", replace(PLANE, time=15.0, drop=0.2, drop_at=at, seed=k), only("walk"), []
    for limit in (100.0, 90.0, 80.0, 70.0):
        yield f"torque limit {limit:g} N m", replace(PLANE, torque_limit=limit), only("walk"), []


def sweep() -> Iterator[Row]:
    """One feedback gain of the walk at a time, in the state that has it."""
    text = library.find("walk").file.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for key, usual, values in (
            ("c_v", "c_v: 0.2", (-0.1, 0.0, 0.03, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)),
            ("c_d", "c_d: 2.2", (-0.7, 0.0, 0.5, 1.0, 1.5, 2.2, 3.0)),
        ):
            for value in values:
                file = Path(folder) / f"walk-{key}{value:g}.yaml"
                file.write_text(text.replace(usual, f"{key}: {value}"), encoding="utf-8")
                yield f"{key} {value:g}", PLANE, only(str(file)), []


def chain() -> Iterator[Row]:
    lines = [(BEGIN, LONG[0]), *((8.0 * k, name) for k, name in enumerate(LONG) if k)]
    yield " → ".join(LONG), replace(PLANE, time=8.0 * len(LONG)), Chain(tuple(lines)), []


def parameters() -> Iterator[Row]:
    for k in range(11):
        name = f"walk:toward=bent,share={k / 10}"
        yield name, PLANE, only(name), []
    bow = [(BEGIN, "walk"), *((4.0 + 2.0 * k, f"walk:toward=bent,share={k / 10}") for k in range(11))]
    yield "walk, bowing in ten steps of 2 s", replace(PLANE, time=32.0), Chain(tuple(bow)), []
    for slope in (10.0, 15.0, 20.0):
        yield (
            f"slope {slope:g} deg, walk:slope={slope:g}",
            replace(PLANE, slope=slope),
            only(f"walk:slope={slope:g}"),
            [],
        )


def space() -> Iterator[Row]:
    at = _right_lands(7.0) + 0.1 * 2 * 0.374  # phase 0.1 of two steps
    for left, ahead in CHEST:
        push = PushProfile(math.hypot(left, ahead), 0.4, math.degrees(math.atan2(left, ahead)), at)
        yield f"{ahead:+d} N forward, {left:+d} N left", replace(SPACE, time=at + 4.5), only("walk-3d"), [push]
    yield "60 s", replace(SPACE, time=60.0), only("walk-3d"), []
    yield "run, 20 s", SPACE, only("run-3d"), []
    for name in ("g1", "talos"):
        robot = f"{name}:drives=impedance"
        yield f"{name}, 20 s", RunSettings(robot=robot, time=20.0, period=period(robot)), only(f"walk-{name}"), []


def _right_lands(after: float) -> float:
    """When the right foot comes down for the first time after a time [s]."""
    record = run(replace(SPACE, time=after + 1.0), only("walk-3d")).record
    standing = metrics.loaded(record)[:, 1]
    ends = [record["time"][end] for _, end in metrics.phases(~standing, 30) if end < record.length]
    return float(next(time for time in ends if time > after))


def transitions() -> None:
    print("\ntransitions\n| from | to | holds 9 s after, of 10 phases |\n|---|---|---|")
    for pair in PAIRS:
        for before, after in (pair, pair[::-1]):
            held = 0
            for k in range(PHASES):
                at = 6.0 + TWO_STEPS * k / PHASES
                held += not run(replace(PLANE, time=at + 9.0), Chain(((BEGIN, before), (at, after)))).result["fell"]
            print(f"| {before} | {after} | {held} |", flush=True)


def learning() -> None:
    print("\nlearning, the walk, 2 ms\n| bin [ms] | part | swing [deg] | rms [deg] | feedback share |")
    print("|---|---|---|---|---|")
    for width in (0.002, 0.005, 0.01, 0.025, 0.05):
        done, _ = learning_experiment.run(replace(PLANE, time=None, period=0.002), "walk", width)
        for part in ("before", "after", "half_gains"):
            f = done.result["learning"][part]
            share = f"{f['feedback_share']:.3f}" if "feedback_share" in f else "–"
            numbers = f"{f['swing_deg']:.2f} | {f['rms_deg']:.2f} | {share}" if f else "fell | – | –"
            print(f"| {1e3 * width:g} | {part} | {numbers} |", flush=True)


def reaction() -> None:
    """Largest push of 0.1 s that is survived, in steps of 50 N, with constant gains and with gains that rise."""
    print("\nreaction\n| gains | forward [N] | backward [N] |\n|---|---|---|")
    text = library.find("walk").file.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for label, extra in (("as they are", ""), ("1.5 times after 150 ms", "reaction: {factor: 1.5}\n")):
            file = Path(folder) / "walk.yaml"
            file.write_text(extra + text, encoding="utf-8")
            found = [_largest(str(file), direction) for direction in (0.0, 180.0)]
            print(f"| {label} | {found[0]:g} | {found[1]:g} |", flush=True)


def _largest(gait: str, direction: float) -> float:
    force = 600.0
    while force < 3000.0:
        push = PushProfile(force, 0.1, direction, 6.0)
        if run(replace(PLANE, time=11.0), only(gait), [push]).result["fell"]:
            break
        force += 50.0
    return force - 50.0


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "table": table, "walk": walk, "sweep": sweep, "chain": chain, "parameters": parameters, "space": space,
}  # fmt: skip
OWN: dict[str, Callable[[], None]] = {"transitions": transitions, "learning": learning, "reaction": reaction}


def main(which: list[str]) -> None:
    columns = (
        "row | holds | time [s] | speed [m/s] | step period [s] | torso swing [deg] | torque [N m] | x real time, CPU"
    )
    for part in which or (*ROWS, *OWN):
        if part in OWN:
            OWN[part]()
            continue
        print(f"\n{part}\n| {columns} |")
        print("|---|---|---|---|---|---|---|---|")
        for label, settings, gaits, pushes in ROWS[part]():
            r = run(settings, gaits, pushes).result
            step = "–" if r["step_period"] is None else f"{r['step_period']:.3f}"
            print(
                f"| {label} | {'no' if r['fell'] else 'yes'} | {r['time']:.1f} | {r['speed']:.2f} | {step} | "
                f"{r['torso_swing_deg']:.1f} | {r['torque_max']:.0f} | {r['rtf_cpu']:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
