"""Find the largest push a robot survives in each direction, standing or walking."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from humanoid_balance.commands import walk
from humanoid_balance.commands.common import Bar, add_common, count, not_negative, number, print_json, writable
from humanoid_balance.commands.push import add_push_place, add_world, world_settings
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import envelope as experiment
from humanoid_balance.experiments import walking_envelope

PHASES = 8  # of a step, unless told


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    add = parser.add_argument
    add("--directions", type=count, default=8, metavar="N", help="evenly spread over the circle, the first forward")
    add("--duration", type=not_negative, default=0.1, metavar="S", help="of each push")
    add("--resolution", type=not_negative, default=1.0, metavar="NS", help="of the impulse")
    add("--workers", type=count, default=os.cpu_count() or 1, metavar="N", help="processes; default: one a core")
    add("--walking", action="store_true", help="pushed while it walks, at --velocity")
    add("--velocity", type=number, metavar="M/S", help="of the walk, forward")
    add("--phases", type=count, metavar="N", help=f"evenly over the step; default: {PHASES}")
    add("--push-phase", type=walk.phase, metavar="P", help="0 to 1: this share of the step only")
    add_push_place(parser)
    add_world(parser)
    add("--plot", type=Path, metavar="F.png", help="polar plot, the pendulum's ceilings beside it")


def run(options: argparse.Namespace) -> None:
    if options.plot is not None:
        writable(options.plot, "--plot", (".png",))
    settings = experiment.EnvelopeSettings(
        world_settings(options, None), options.directions, options.duration, options.resolution, options.workers,
        options.push_link, options.push_height,
    )  # fmt: skip
    walking = _walking(options, settings)
    with Bar(f"envelope {options.robot}") as bar:
        result = experiment.explore(settings, bar) if walking is None else walking_envelope.explore(walking, bar)
    if options.plot is not None:
        from humanoid_balance.figures import polar  # matplotlib takes a second to load

        polar.save(result, settings.world, options.plot)
    if options.json:
        print_json(result)
    elif walking is not None:
        print(walking_table(result))
    else:
        print(table(result, settings))


def _walking(
    options: argparse.Namespace, settings: experiment.EnvelopeSettings
) -> walking_envelope.WalkingSettings | None:
    if not options.walking:
        for name in ("velocity", "phases", "push_phase"):
            if getattr(options, name) is not None:
                raise InputError(f"--{name.replace('_', '-')} is for a walk; allowed: together with --walking")
        return None
    if options.velocity is None:
        raise InputError("--walking: how fast? allowed: together with --velocity M/S")
    if options.push_phase is None:
        phases = walking_envelope.phases(options.phases or PHASES)
    elif options.phases is not None:
        raise InputError("--phases and --push-phase: one of them is enough")
    else:
        phases = (options.push_phase,)
    return walking_envelope.WalkingSettings(settings, options.velocity, phases)


def table(result: dict[str, Any], settings: experiment.EnvelopeSettings) -> str:
    """The result as a table, with what a pendulum could take."""
    ceilings = experiment.Ceilings(experiment.body(settings.world), settings.world)
    lines = [
        f"{result['robot']}: {result['mass']:.1f} kg, {result['strategy']}, pushes of {result['duration']:g} s "
        f"on {result['push_link']}, {result['push_height']:.2f} m high",
        f"{'direction':>9} {'N s':>7} {'dv m/s':>7} {'steps':>5}   pendulum without / with a step, m/s",
    ]
    for row in result["directions"]:
        still, step = ceilings.at(row["direction"])
        found = f"{row['direction']:9.1f} {row['impulse']:7.1f} {row['dv']:7.2f} {row['steps']:5d}"
        lines.append(f"{found}   {still:.2f} / {step:.2f}")
    return "\n".join(lines)


def walking_table(result: dict[str, Any]) -> str:
    """Of a walk: the weakest and the median phase of each direction."""
    lines = [
        f"{result['robot']}: {result['mass']:.1f} kg, walking at {result['velocity']:g} m/s, {result['strategy']}, "
        f"pushes of {result['duration']:g} s on {result['push_link']}, {result['push_height']:.2f} m high, dv in m/s",
        f"{'direction':>9} {'least':>6} {'median':>6}   at phases {' '.join(f'{p:.2f}' for p in result['phase'])}",
    ]
    for row in result["directions"]:
        each = " ".join(f"{dv:.2f}" for dv in row["phases"])
        lines.append(f"{row['direction']:9.1f} {row['dv_min']:6.2f} {row['dv_median']:6.2f}   {'':9} {each}")
    return "\n".join(lines)
