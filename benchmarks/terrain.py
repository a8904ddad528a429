"""Rough ground: the rows of docs/terrain.md, a verdict per run and a count per row.

    python benchmarks/terrain.py ROW [--robot human] [--workers 2] [--seeds 3] [--rise M] [--drop M] [--slope DEG]

A run is good when the robot is up at the end and has come far enough: over the stairs, past the drop, 20 m of tiles, or
80 % of what was commanded on slopes.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verdicts import report
from humanoid_balance.experiments.walk import BEGIN, Itinerary, Velocity, run
from humanoid_balance.plants import terrain
from humanoid_balance.stack import RunSettings

STARTING = 1.0  # until a walk is as fast as it is told [s]
BEYOND = 1.0  # a drop, a hole or a flight of stairs is behind a robot that has come so much farther [m]


@dataclass(frozen=True)
class Asked:
    """What is asked of a robot."""

    speed: float  # [m/s]
    aside: float
    turn: float  # [rad/s]
    rise: float  # of stairs [m]
    drop: float
    tiles: float
    slope: float = 8.0  # [deg]
    tread: float = 0.30


ASKED = {
    "human": Asked(0.5, 0.25, 1.0, 0.15, 0.05, 0.02),
    "talos": Asked(0.4, 0.15, 0.5, 0.10, 0.03, 0.02),
    "g1": Asked(0.5, 0.2, 1.0, 0.08, 0.03, 0.015),
}


@dataclass(frozen=True)
class Episode:
    name: str
    settings: RunSettings
    script: Itinerary
    far: float  # the CoM has to come so far from the start [m]


def steady(velocity: Velocity) -> Itinerary:
    return Itinerary(((BEGIN, velocity),))


def stairs(options: argparse.Namespace, asked: Asked) -> Iterator[Episode]:
    """Up and down, known."""
    rise, speed = options.rise or asked.rise, 0.8 * asked.speed
    far = terrain.BEGIN + 2 * terrain.FLIGHT * asked.tread + terrain.LANDING + BEYOND
    for seed in range(options.seeds):
        settings = RunSettings(
            robot=options.robot, time=BEGIN + 1.25 * far / speed, seed=seed, ground="stairs", rise=rise,
            tread=asked.tread, blind=False,
        )  # fmt: skip
        script = Itinerary(((BEGIN, (speed, 0.0, 0.0)),))
        yield Episode(f"stairs {rise:.2f} m, seed {seed}", settings, script, far - BEYOND / 2)


def _unexpected(options: argparse.Namespace, asked: Asked, ground: str) -> Iterator[Episode]:
    """Ten phases of the step: its edge is ten places over two steps."""
    drop, stride = options.drop or asked.drop, asked.speed * 0.8
    for k in range(10):
        at = 1.2 + stride * k / 10
        settings = RunSettings(
            robot=options.robot, time=BEGIN + STARTING + (at + BEYOND) / asked.speed, ground=ground, drop=drop,
            drop_at=at,
        )  # fmt: skip
        yield Episode(f"{ground} {drop:.2f} m at {at:.2f} m", settings, steady((asked.speed, 0.0, 0.0)), at + 0.5)


def drop(options: argparse.Namespace, asked: Asked) -> Iterator[Episode]:
    """Blind."""
    yield from _unexpected(options, asked, "drop")


def hole(options: argparse.Namespace, asked: Asked) -> Iterator[Episode]:
    """Blind."""
    yield from _unexpected(options, asked, "hole")


def tiles(options: argparse.Namespace, asked: Asked) -> Iterator[Episode]:
    """20 m, blind."""
    rise = options.rise or asked.tiles
    for seed in range(options.seeds):
        settings = RunSettings(
            robot=options.robot, time=BEGIN + STARTING + 20.5 / asked.speed, seed=seed, ground="tiles", rise=rise
        )
        yield Episode(f"tiles {rise:.3f} m, seed {seed}", settings, steady((asked.speed, 0.0, 0.0)), 19.5)


def slope(options: argparse.Namespace, asked: Asked) -> Iterator[Episode]:
    """Blind: onto a slope and off it again, up and down first; on a tilted plane up, down, aside and along."""
    angle, v = options.slope or asked.slope, asked.speed
    for sign in (1.0, -1.0):
        time = 2 * BEGIN + STARTING + 8.0 / v
        settings = RunSettings(robot=options.robot, time=time, ground="slope", slope=sign * angle)
        yield Episode(f"onto {sign * angle:g} deg and off", settings, steady((v, 0.0, 0.0)), 0.8 * 8.0)
    turn = math.pi / 2 / asked.turn
    along = Itinerary(((BEGIN, (0.0, 0.0, asked.turn)), (BEGIN + turn, (v, 0.0, 0.0))))
    for name, tilt, script, speed in (
        ("up", angle, steady((v, 0.0, 0.0)), v),
        ("down", -angle, steady((v, 0.0, 0.0)), v),
        ("aside", angle, steady((0.0, asked.aside, 0.0)), asked.aside),
        ("along", angle, along, v),
    ):
        time = 6.0 + (turn if name == "along" else 0.0)
        settings = RunSettings(robot=options.robot, time=BEGIN + STARTING + time, slope=tilt)
        yield Episode(f"{name} on {angle:g} deg", settings, script, 0.8 * speed * 6.0)


ROWS: dict[str, Callable[[argparse.Namespace, Asked], Iterator[Episode]]] = {
    row.__name__: row for row in (stairs, drop, hole, tiles, slope)
}


def attempt(episode: Episode) -> tuple[bool, str]:
    result = run(episode.settings, episode.script).result
    good = not result["fell"] and result["distance"] > episode.far
    how = f"fell at {result['time']:.2f} s" if result["fell"] else "up"
    return good, f"{how}, {result['distance']:.2f} m, {result['steps']} steps, slip {1e3 * result['slip_max']:.0f} mm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--robot", default="human")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rise", type=float, default=0.0, help="of stairs and tiles, instead of what is asked [m]")
    parser.add_argument("--drop", type=float, default=0.0, help="the same [m]")
    parser.add_argument("--slope", type=float, default=0.0, help="the same [deg]")
    options = parser.parse_args()
    episodes = list(ROWS[options.row](options, ASKED[options.robot.split(":")[0]]))
    report(episodes, attempt, options.workers)


if __name__ == "__main__":
    main()
