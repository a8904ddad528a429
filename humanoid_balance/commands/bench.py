"""Time one control tick by stage."""

from __future__ import annotations

import argparse

from humanoid_balance.commands.common import Bar, add_common, not_negative, print_json
from humanoid_balance.experiments import push as experiment
from humanoid_balance.experiments import timing
from humanoid_balance.loop import STAGES
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings

WARM_UP = 500  # ticks left out


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("--time", type=not_negative, default=10.0, metavar="S", help="simulated time")


def run(options: argparse.Namespace) -> None:
    settings = RunSettings(robot=options.robot, plant=options.plant, time=max(options.time, 1.0), seed=options.seed)
    with Bar(f"bench {options.robot}") as bar:
        done = experiment.run(settings, [PushProfile(0.0, 0.0)], bar)
    robot, times = done.robot, done.times
    result = {
        "robot": robot.spec,
        "nv": robot.n + 6,
        "stages": {stage: timing.percentiles(times[stage][WARM_UP:]) for stage in STAGES},
        "tick": timing.percentiles(times["tick"][WARM_UP:], tail=True),
    }
    if options.json:
        print_json(result)
        return
    print(f"{robot.spec}: {robot.n} joints; microseconds")
    for stage, row in {**result["stages"], "tick": result["tick"]}.items():
        print(f"{stage:11} " + "  ".join(f"{key[:-3]} {value:8.1f}" for key, value in row.items()))
