"""Push a standing robot and tell what happened."""

from __future__ import annotations

import argparse
from typing import Any

from humanoid_balance.balance.settings import POLICIES, STRATEGIES
from humanoid_balance.balance.steps import STEP_POLICIES
from humanoid_balance.commands.common import Bar, add_common, not_negative, number, print_json
from humanoid_balance.commands.outputs import add_outputs, check_outputs, write_outputs
from humanoid_balance.experiments import push as experiment
from humanoid_balance.plants.pushes import PROFILES, PushProfile
from humanoid_balance.plants.world import GROUNDS
from humanoid_balance.stack import RunSettings


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    add = parser.add_argument
    add("--force", type=not_negative, required=True, metavar="N")
    add("--duration", type=not_negative, required=True, metavar="S")
    add("--direction", type=number, required=True, metavar="DEG", help="where the force points, about +z from +x")
    add("--profile", choices=PROFILES, default="constant")
    add("--frequency", type=number, default=1.0, metavar="HZ", help="of the sine profile")
    add("--at", type=not_negative, default=1.0, metavar="S", help="when the push begins")
    add("--time", type=number, metavar="S", help="length of the run; default: 5 s after the push")
    add_push_place(parser)
    add_world(parser)
    add_outputs(parser)


def add_push_place(parser: argparse.ArgumentParser) -> None:
    """Where pushes act; shared by all that push."""
    add = parser.add_argument
    add("--push-link", metavar="LINK", help="at the origin of this link; default: the torso, at the CoM")
    add("--push-height", type=not_negative, metavar="M", help="above the ground; default: of the CoM or of the link")


def add_world(parser: argparse.ArgumentParser) -> None:
    """Options that say who is pushed and in which world; shared with ``envelope``."""
    add = parser.add_argument
    add("--delay", type=not_negative, default=0.0, metavar="S", help="reaction delay: stable mode only, for that long")
    add("--strategy", choices=STRATEGIES, default="auto")
    add("--policy", choices=POLICIES, default=POLICIES[0], help="how the feet-in-place mode decides")
    add("--step-policy", choices=STEP_POLICIES, default=STEP_POLICIES[0], help="how a foothold is predicted")
    add("--plant-robot", metavar="SPEC", help="the simulated body, if it differs from the controller's model")
    add("--slope", type=number, default=0.0, metavar="DEG", help="the ground rises forward")
    add("--ground", choices=GROUNDS, default="flat", help="what lies on it; all but flat in Gazebo only")
    add("--planar", action="store_true", help="a boom: the base moves in its sagittal plane only; MuJoCo")
    add("--friction", type=number, default=0.8, metavar="MU")
    add("--payload", type=not_negative, default=0.0, metavar="KG", help="fixed at the torso, unknown to the controller")
    add("--torque-scale", type=not_negative, default=1.0, metavar="X", help="of the simulated motors' limits")
    add("--sensor-noise", type=not_negative, default=1.0, metavar="X")
    add("--sensor-latency", type=not_negative, default=0.0, metavar="S")
    add("--actuator-latency", type=not_negative, default=0.0, metavar="S")


def world_settings(options: argparse.Namespace, time: float | None) -> RunSettings:
    return RunSettings(
        robot=options.robot, plant=options.plant, plant_robot=options.plant_robot, time=time, strategy=options.strategy,
        policy=options.policy, step_policy=options.step_policy, delay=options.delay, slope=options.slope,
        friction=options.friction, payload=options.payload, ground=options.ground, planar=options.planar,
        torque_scale=options.torque_scale, noise=options.sensor_noise, sensor_latency=options.sensor_latency,
        actuator_latency=options.actuator_latency, seed=options.seed,
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    push = PushProfile(
        options.force, options.duration, options.direction, options.at, options.profile, options.frequency,
        options.push_link, height=options.push_height,
    )  # fmt: skip
    settings = world_settings(options, options.time)
    experiment.check_time(settings, [push])
    check_outputs(options)
    with Bar(f"push {options.robot}") as bar:
        done = experiment.run(settings, [push], bar, options.log)
    write_outputs(done, options, story(done.result))
    if options.json:
        print_json(done.result)
    else:
        print(story(done.result))


def story(result: dict[str, Any]) -> str:
    """The result in three lines."""
    if result["fell"]:
        verdict = "fell"
    elif result["recovery_time"] is None:
        verdict = "stands, but not yet still"
    else:
        verdict = f"recovered {result['recovery_time']:.2f} s after the push"
    where = f", {result['push_link']} {result['push_height']:.2f} m high" if result.get("push_height") else ""
    modes = " -> ".join(f"{name} ({t:.2f} s)" for t, name in result["modes"])
    return (
        f"{result['robot']}: {verdict}, {result['steps']} steps; push {result['impulse']:.1f} N s, "
        f"dv {result['dv']:.2f} m/s{where}\nmodes: {modes}\n"
        f"tick {result['tick']['median_us']:.0f} us median, {result['rtf']:.2f} x real time"
    )
