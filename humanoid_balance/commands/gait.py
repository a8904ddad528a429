"""Go with a finite-state gait and tell how it went; --list shows them."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import Bar, add_common, number, print_json, writable
from humanoid_balance.commands.outputs import add_outputs, check_outputs, write_outputs
from humanoid_balance.commands.push import add_world, world_settings
from humanoid_balance.commands.walk import push
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import cycles, learning
from humanoid_balance.experiments import gait as experiment
from humanoid_balance.experiments.walk import Itinerary
from humanoid_balance.gaits import library


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    add = parser.add_argument
    add("gait", nargs="?", metavar="NAME", help="a gait by name, or a path to a YAML")
    add("--list", action="store_true", help="the gaits that there are")
    add("--to", type=later, action="append", default=[], metavar="NAME:AT", help="then another; may be given again")
    add("--time", type=number, metavar="S", help="length of the run; default: 10 s, at least 4 s after the last event")
    add("--velocity", type=number, default=0.0, metavar="M/S", help="forward; for gaits that obey one")
    add("--lateral", type=number, default=0.0, metavar="M/S", help="to the left, likewise")
    add("--turn", type=number, default=0.0, metavar="RAD/S", help="to the left, any gait in space")
    add("--script", type=Path, metavar="F.yaml", help="velocities over time, as for walk")
    add("--learn", type=number, metavar="S", help="learn the trunk's torque in bins this wide; --time: 122 s")
    add("--save", type=Path, metavar="F.yaml", help="the gait as it was learnt")
    add("--fit", type=Path, metavar="F.yaml", help="a gait whose curves are those of this run")
    add("--push", type=push, action="append", default=[], metavar="N:S:DEG:AT", help="may be given several times")
    add("--torque-limit", type=number, metavar="X", help="no motor is stronger than this, in N m")
    add(
        "--period",
        type=number,
        metavar="S",
        help="control period; default: 4 ms (in space 2) above impedance drives, else 1 ms",
    )
    add_world(parser)
    add_outputs(parser)


def later(text: str) -> tuple[float, str]:
    """A gait and when it is asked for [s]."""
    name, colon, at = text.rpartition(":")
    if not colon or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME:AT (a gait, and when [s])")
    return number(at), name


def run(options: argparse.Namespace) -> None:
    if options.list:
        show(options.json)
        return
    if options.gait is None:
        raise InputError(f"which gait? allowed: {', '.join(library.names())} or a path to a YAML file")
    settings = replace(
        world_settings(options, options.time),
        torque_limit=options.torque_limit,
        period=experiment.period(options.robot) if options.period is None else options.period,
    )
    chain = experiment.Chain(((experiment.BEGIN, options.gait), *options.to))
    check_outputs(options)
    check_learning(options)
    with Bar(f"gait {options.gait}") as bar:
        if options.learn is None:
            done = experiment.run(settings, chain, options.push, bar, options.log, way(options))
            if options.fit is not None:
                options.fit.write_text(cycles.text(done, f"{options.gait}, fitted"), encoding="utf-8")
        else:
            done, learnt = learning.run(settings, options.gait, options.learn, bar, options.log)
            if options.save is not None:
                options.save.write_text(learnt, encoding="utf-8")
    write_outputs(done, options, story(done.result))
    if options.json:
        print_json(done.result)
    else:
        print(story(done.result))


def way(options: argparse.Namespace) -> Itinerary:
    """Velocities on the way, from where the gait begins."""
    velocity = (options.velocity, options.lateral, options.turn)
    if options.script is None:
        return Itinerary(((experiment.BEGIN, velocity),))
    if any(velocity):
        raise InputError("script: --velocity, --lateral and --turn do not go with it")
    return Itinerary.load(options.script)


def check_learning(options: argparse.Namespace) -> None:
    """Before the run: what does not go together is refused."""
    if options.save is not None:
        writable(options.save, "--save", (".yaml",))
        if options.learn is None:
            raise InputError("--save: what is learnt can be saved; allowed: together with --learn")
    if options.fit is not None:
        writable(options.fit, "--fit", (".yaml",))
        if options.learn is not None or options.to or options.push:
            raise InputError("--fit: one gait, undisturbed; allowed: without --learn, --to and --push")
    if options.learn is not None and (options.to or options.push):
        raise InputError("--learn: one gait, undisturbed; allowed: without --to and --push")


def show(as_json: bool) -> None:
    tables = [library.find(name) for name in library.names()]
    if as_json:
        print_json(
            {table.name: {"about": table.about, "space": table.space, "file": str(table.file)} for table in tables}
        )
        return
    for table in tables:
        print(f"{table.name:12} {table.space:6} {table.about}")


def story(result: dict[str, Any]) -> str:
    """The result in a few lines."""
    verdict = f"fell after {result['time']:.2f} s" if result["fell"] else f"{result['distance']:.2f} m"
    period = "" if result["step_period"] is None else f", step period {result['step_period']:.3f} s"
    swing = "" if result["torso_swing_deg"] is None else f", torso swings {result['torso_swing_deg']:.1f} deg"
    survived = [p["survived"] for p in result["pushes"]]
    pushes = f"pushes survived: {sum(survived)} of {len(survived)}\n" if survived else ""
    learnt = "".join(
        f"trunk {words}: swings {part['swing_deg']:.2f} deg, rms {part['rms_deg']:.2f} deg"
        + (f", feedback {part['feedback_share']:.1%} of what was learnt\n" if "feedback_share" in part else "\n")
        for key, words in (("before", "before"), ("after", "after learning"), ("half_gains", "with half the gains"))
        if (part := result.get("learning", {}).get(key))
    )
    return (
        f"{result['robot']}: {result['gait']}, {verdict}, {result['steps']} steps, {result['speed']:.2f} m/s{period}"
        f"{swing}, largest torque {result['torque_max']:.0f} N m\n{pushes}{learnt}"
        f"tick {result['tick']['median_us']:.0f} us median, {result['rtf']:.2f} x real time"
    )
