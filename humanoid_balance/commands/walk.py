"""Send a robot somewhere on foot and tell how it went."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from humanoid_balance.balance.settings import GET_UP
from humanoid_balance.commands.common import Bar, add_common, not_negative, number, print_json
from humanoid_balance.commands.outputs import add_outputs, check_outputs, write_outputs
from humanoid_balance.commands.push import add_push_place, add_world, world_settings
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import comeback, footstep_plan
from humanoid_balance.experiments import walk as experiment
from humanoid_balance.plants.pushes import PushProfile


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    add = parser.add_argument
    add("--velocity", type=number, default=0.0, metavar="M/S", help="forward")
    add("--lateral", type=number, default=0.0, metavar="M/S", help="to the left")
    add("--turn", type=number, default=0.0, metavar="RAD/S", help="to the left")
    add("--script", type=Path, metavar="F.yaml", help="velocities and footstep plans over time")
    add("--footsteps", type=Path, metavar="F.yaml", help="footsteps to take instead of a velocity")
    add("--style", type=Path, metavar="CLIP.npz", help="walk by a clip that 'motion import' has fitted to the robot")
    add("--time", type=number, metavar="S", help="length of the run; default: 10 s, at least 4 s after the last push")
    add("--push", type=push, action="append", default=[], metavar="N:S:DEG:AT", help="may be given several times")
    add("--push-phase", type=phase, metavar="P", help="0 to 1: a push waits for this share of the step after its time")
    add_push_place(parser)
    add("--get-up", choices=GET_UP, default="on command", help="auto: after a fall it gets up and walks on")
    add_world(parser)
    add_outputs(parser)


def push(text: str) -> PushProfile:
    """Force [N], duration [s], direction [deg] and time [s]."""
    parts = text.split(":")
    if len(parts) != 4:
        raise argparse.ArgumentTypeError(f"'{text}' is not N:S:DEG:AT (force, duration, direction, time)")
    force, duration, direction, at = (number(part) for part in parts)
    try:
        return PushProfile(force, duration, direction, at)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def phase(text: str) -> float:
    value = not_negative(text)
    if value > 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is above 1; allowed: 0 to 1")
    return value


def script(options: argparse.Namespace) -> experiment.Itinerary:
    velocity = (options.velocity, options.lateral, options.turn)
    if options.style is not None:
        if any(velocity) or options.script is not None or options.footsteps is not None:
            raise InputError("style: --velocity, --lateral, --turn, --script and --footsteps do not go with it")
        return experiment.Itinerary()
    if options.script is not None and options.footsteps is not None:
        raise InputError("footsteps: --script does not go with it; a script may have footsteps of its own")
    if options.footsteps is not None:
        if any(velocity):
            raise InputError("footsteps: --velocity, --lateral and --turn do not go with it")
        return experiment.Itinerary(plans=((experiment.BEGIN, footstep_plan.load(options.footsteps)),))
    if options.script is None:
        return experiment.Itinerary(((experiment.BEGIN, velocity),))
    if any(velocity):
        raise InputError("script: --velocity, --lateral and --turn do not go with it")
    return experiment.Itinerary.load(options.script)


def run(options: argparse.Namespace) -> None:
    settings = replace(world_settings(options, options.time), get_up=options.get_up)
    orders = script(options)
    pushes = [replace(push, link=options.push_link, height=options.push_height) for push in options.push]
    if not pushes and (options.push_link is not None or options.push_height is not None):
        raise InputError("--push-link and --push-height say where a push acts; allowed: together with --push")
    check_outputs(options)
    with Bar(f"walk {options.robot}") as bar:
        done = experiment.run(settings, orders, pushes, options.push_phase, bar, options.log, options.style)
    write_outputs(done, options, story(done.result))
    if options.json:
        print_json(done.result)
    else:
        print(story(done.result))


def story(result: dict[str, Any]) -> str:
    """The result in a few lines."""
    x, y, turn = result["velocity"]
    error = "" if result["velocity_error"] is None else f" ({100 * result['velocity_error']:.1f} % off the command)"
    verdict = f"fell after {result['time']:.2f} s" if result["fell"] else f"walked {result['distance']:.2f} m"
    survived = [p["survived"] for p in result["pushes"]]
    pushes = f"pushes survived: {sum(survived)} of {len(survived)}\n" if survived else ""
    plan, steps = result.get("footsteps"), ""
    heading = f", heading {result['heading_error_deg']:.1f} deg off" if plan is None else ""
    if plan is not None and plan["taken"]:
        steps = (
            f"footsteps {plan['taken']} of {plan['planned']}, at most {100 * plan['place_error_max']:.1f} cm and "
            f"{plan['yaw_error_max_deg']:.1f} deg off\n"
        )
    back = f"{comeback.story(result)}\n" if result["fell"] and "upright_at" in result else ""
    refused = "".join(f"refused: {why}\n" for why in result["refused"])
    return (
        f"{result['robot']}: {verdict}, {result['steps']} steps; {x:.3f} m/s forward, {y:.3f} m/s left, "
        f"{turn:.3f} rad/s{error}{heading}\n{pushes}{steps}{back}{refused}"
        f"tick {result['tick']['median_us']:.0f} us median, {result['rtf']:.2f} x real time"
    )
