"""Run estimator and controller over a recorded bag and compare."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from humanoid_balance.balance.settings import POLICIES, STRATEGIES, BalanceSettings
from humanoid_balance.balance.steps import STEP_POLICIES
from humanoid_balance.commands.common import not_negative, number, print_json
from humanoid_balance.errors import InputError
from humanoid_balance.recording.bag_reading import BagFacts
from humanoid_balance.robot import registry


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, nargs="+", metavar="FILE", help="MCAP bag; its parts in order where it has several")
    add("--robot", metavar="SPEC", help="name, name:option=value or path to a YAML; default: as recorded, or human")
    add("--namespace", metavar="NAME", help="of the robot's topics in the bag; default: the only one there is")
    add("--rate", type=number, metavar="HZ", help="of the recorded sensors; default: what their stamps say")
    add("--despite-gaps", action="store_true", help="run over a bag in which frames are missing")
    add("--sync", choices=("exact", "newest"), default="exact", help="frames of one stamp, or the newest samples")
    add("--strategy", choices=STRATEGIES, default="auto")
    add("--policy", choices=POLICIES, default=POLICIES[0], help="how the feet-in-place mode decides")
    add("--step-policy", choices=STEP_POLICIES, default=STEP_POLICIES[0], help="how a foothold is predicted")
    add("--delay", type=not_negative, default=0.0, metavar="S", help="reaction delay of the recorded controller")
    add("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    if importlib.util.find_spec("rclpy") is None:
        raise InputError("ROS 2 is not installed; get it with: pip install humanoid_balance[ros]")
    from humanoid_balance.recording import replay as bag_replay

    if options.rate is not None and not 10.0 <= options.rate <= 10_000.0:
        raise InputError(f"rate is {options.rate:g}; allowed: 10 to 10000")
    facts = BagFacts(options.file, options.namespace)
    robot, period = registry.load(options.robot or facts.robot or "human"), 1.0 / (options.rate or facts.rate)
    record = bag_replay.Recorded(robot, facts, period, options.sync == "newest")
    missing = _missing(facts, record.incomplete, len(record.frames), period)
    if missing and not options.despite_gaps:
        raise InputError(f"{missing}; a replay could show steps that never were; --despite-gaps runs it")
    settings = BalanceSettings(options.strategy, options.policy, options.delay, options.step_policy)
    result = bag_replay.replay(robot, record, settings, period)
    result |= {"missing": facts.gaps(period).missing + record.incomplete, "before": facts.gaps(period).before}
    if missing:
        print(missing, file=sys.stderr)
    if options.json:
        print_json(result)
        return
    print(
        f"{result['robot']}: {result['frames']} frames, {result['seconds']} s at {result['rate']:g} Hz; "
        f"{result['compared']} commands compared"
    )
    for name, unit in (("com", "m"), ("dcm", "m"), ("zmp", "m"), ("torque", "N m")):
        value = result[f"{name}_rms"]
        print(f"{name:7} " + ("not recorded" if value is None else f"{value:.3g} {unit} rms off the record"))
    if result["verdicts"]:
        print(
            f"QP      another status in {result['status_differs']} of {result['verdicts']} ticks, "
            f"other active constraints in {result['active_differs']}"
        )
    print(f"modes: {' -> '.join(result['modes'])}; recorded: {' -> '.join(result['modes_recorded'])}")
    if result["before"]:
        print(
            f"the recording begins {result['before']} frames after the plant did: what the estimator knew is not in it"
        )


def _missing(facts: BagFacts, incomplete: int, frames: int, period: float) -> str:
    """What the bag lacks, in words; empty when it is complete."""
    gaps = facts.gaps(period)
    count = gaps.missing + incomplete
    if not count:
        return ""
    told = f"{facts.files[0]}: {count} of {count + frames} frames ({count / (count + frames):.1%}) are missing"
    if gaps.missing:
        told += f", the longest gap is {gaps.longest:.3g} s at {gaps.at:.3f} s"
    return told
