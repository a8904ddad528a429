"""Describe a robot of your own: ``new`` guesses its YAML from a URDF or MJCF, ``check`` stands and pushes it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import print_json, writable
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import push
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.robot.findings import findings
from humanoid_balance.robot.guess import guess
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings

DV = 0.2  # velocity change of the pushes [m/s]
PUSH = 0.1  # they last so long [s]
AT = 1.0  # begin of the push: until then the robot just stands [s]
TIME = 5.0  # of each run [s]
SIDES = {0: "from behind", 90: "from the right", 180: "from the front", 270: "from the left"}


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    new = actions.add_parser("new", help="guess the YAML of a URDF or MJCF, with a comment per guess")
    new.add_argument("file", type=Path, metavar="R.urdf|R.xml")
    new.add_argument("--output", type=Path, metavar="R.yaml", help="default: beside that file")
    new.add_argument("--overwrite", action="store_true", help="a YAML that is there already")
    check = actions.add_parser("check", help="stand it, push it with 0.2 m/s from four sides, print what is missing")
    check.add_argument("file", metavar="R.yaml", help="path of a YAML, or a robot's name")
    check.add_argument("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    if options.action == "new":
        _new(options.file, options.output or options.file.with_suffix(".yaml"), options.overwrite)
    else:
        _check(options.file, options.json)


def _new(description: Path, target: Path, overwrite: bool) -> None:
    writable(target, "--output", (".yaml", ".yml"))
    if target.exists() and not overwrite:
        raise InputError(f"{target}: is there already; --overwrite replaces it")
    text = guess(description, target)
    target.write_text(text, encoding="utf-8")
    print(f"{target}: written; every guess has a comment")
    try:
        robot = registry.load(str(target))
    except InputError as error:
        raise InputError(f"{error}; correct the guess") from None
    print(_summary(robot))
    _print_findings(findings(robot))
    print(f"next: humanoid-balance robot check {target}")


def _check(spec: str, as_json: bool) -> None:
    robot = registry.load(spec)
    lacking = findings(robot)
    if not as_json:
        print(_summary(robot), flush=True)
    runs = []
    for direction, side in SIDES.items():
        runs.append(_pushed(spec, robot, direction))
        if not as_json:
            print(f"{DV} m/s {side:15} {_verdict(runs[-1])}", flush=True)
        if not runs[-1]["stands"]:
            break  # other pushes would say the same
    passed = all(r["recovered"] for r in runs)
    if as_json:
        print_json({"robot": robot.spec, "passed": passed, "missing": lacking, "pushes": runs})
    else:
        _print_findings(lacking)
        print("passed" if passed else "not passed")
    if not passed:
        raise SystemExit(1)


def _pushed(spec: str, robot: Robot, direction: int) -> dict[str, Any]:
    profile = PushProfile(DV * robot.mass / PUSH, PUSH, float(direction), AT)
    done = push.run(RunSettings(robot=spec, time=TIME), [profile])
    record, result = done.record, done.result
    stands = not record["true_fell"][record["time"] <= AT].any()
    return {
        "direction": direction, "stands": bool(stands), "fell": result["fell"],
        "recovered": bool(stands) and not result["fell"], "steps": result["steps"],
        "modes": [name for _, name in result["modes"]], "trip": result.get("trip"),
    }  # fmt: skip


def _verdict(result: dict[str, Any]) -> str:
    modes = " > ".join(result["modes"])
    if not result["stands"]:
        return f"fell before the push ({modes})"
    return f"{'fell' if result['fell'] else 'recovered'}, {result['steps']} steps ({modes})"


def _summary(robot: Robot) -> str:
    return (
        f"{robot.spec}: {robot.n} joints, {robot.mass:.1f} kg, CoM at {robot.com_height:.2f} m, "
        f"soles {robot.stance_width:.2f} m apart"
    )


def _print_findings(lacking: list[str]) -> None:
    for line in lacking:
        print(f"look at {line}")
    if not lacking:
        print("nothing is missing")
