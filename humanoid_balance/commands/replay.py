"""Run estimator and controller over a recorded bag and compare."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from humanoid_balance.balance.supervisor import STRATEGIES, BalanceSettings
from humanoid_balance.commands.common import not_negative, number, print_json
from humanoid_balance.errors import InputError
from humanoid_balance.robot import registry


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="MCAP bag")
    add("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    add("--namespace", default="", metavar="NAME", help="of the robot's topics in the bag")
    add("--rate", type=number, default=500.0, metavar="HZ", help="of the recorded sensors")
    add("--sync", choices=("exact", "newest"), default="exact", help="frames of one stamp, or the newest samples")
    add("--strategy", choices=STRATEGIES, default="auto")
    add("--delay", type=not_negative, default=0.0, metavar="S", help="reaction delay of the recorded controller")
    add("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    if importlib.util.find_spec("rclpy") is None:
        raise InputError("ROS 2 is not installed; get it with: pip install humanoid_balance[ros]")
    from humanoid_balance.experiments import bag_replay

    if not 10.0 <= options.rate <= 10_000.0:
        raise InputError(f"rate is {options.rate:g}; allowed: 10 to 10000")
    robot, period = registry.load(options.robot), 1.0 / options.rate
    record = bag_replay.Recorded(robot, options.file, options.namespace, period, options.sync == "newest")
    result = bag_replay.replay(robot, record, BalanceSettings(options.strategy, delay=options.delay), period)
    if options.json:
        print_json(result)
        return
    print(
        f"{result['robot']}: {result['frames']} frames, {result['seconds']} s; {result['compared']} commands compared"
    )
    for name, unit in (("com", "m"), ("dcm", "m"), ("zmp", "m"), ("torque", "N m")):
        value = result[f"{name}_rms"]
        print(f"{name:7} " + ("not recorded" if value is None else f"{value:.3g} {unit} rms off the record"))
    print(f"modes: {' -> '.join(result['modes'])}; recorded: {' -> '.join(result['modes_recorded'])}")
