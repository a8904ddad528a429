"""Find the largest push a robot survives in each direction."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import Bar, add_common, count, not_negative, print_json, writable
from humanoid_balance.commands.push import add_world, world_settings
from humanoid_balance.experiments import envelope as experiment


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    add = parser.add_argument
    add("--directions", type=count, default=8, metavar="N", help="evenly spread over the circle, the first forward")
    add("--duration", type=not_negative, default=0.1, metavar="S", help="of each push")
    add("--resolution", type=not_negative, default=1.0, metavar="NS", help="of the impulse")
    add("--workers", type=count, default=os.cpu_count() or 1, metavar="N", help="processes; default: one a core")
    add_world(parser)
    add("--plot", type=Path, metavar="F.png", help="polar plot, the pendulum's ceilings beside it")


def run(options: argparse.Namespace) -> None:
    if options.plot is not None:
        writable(options.plot, "--plot", (".png",))
    settings = experiment.EnvelopeSettings(
        world_settings(options, None), options.directions, options.duration, options.resolution, options.workers
    )
    with Bar(f"envelope {options.robot}") as bar:
        result = experiment.explore(settings, bar)
    if options.plot is not None:
        from humanoid_balance.figures import polar  # matplotlib takes a second to load

        polar.save(result, settings.world, options.plot)
    if options.json:
        print_json(result)
    else:
        print(table(result, settings))


def table(result: dict[str, Any], settings: experiment.EnvelopeSettings) -> str:
    """The result as a table, with what a pendulum could take."""
    ceilings = experiment.Ceilings(experiment.body(settings.world), settings.world)
    lines = [
        f"{result['robot']}: {result['mass']:.1f} kg, {result['strategy']}, pushes of {result['duration']:g} s",
        f"{'direction':>9} {'N s':>7} {'dv m/s':>7} {'steps':>5}   pendulum without / with a step, m/s",
    ]
    for row in result["directions"]:
        still, step = ceilings.at(row["direction"])
        found = f"{row['direction']:9.1f} {row['impulse']:7.1f} {row['dv']:7.2f} {row['steps']:5d}"
        lines.append(f"{found}   {still:.2f} / {step:.2f}")
    return "\n".join(lines)
