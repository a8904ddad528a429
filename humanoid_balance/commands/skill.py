"""Let a robot on the ground roll or get up, or find out how (skill NAME, skill --list, skill optimise NAME)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import Bar, add_common, count, number, print_json, writable
from humanoid_balance.commands.outputs import add_outputs, check_outputs, write_outputs
from humanoid_balance.commands.push import add_world, world_settings
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import skill as experiment
from humanoid_balance.robot import registry
from humanoid_balance.skills.plan import RECOVER
from humanoid_balance.skills.script import find, library

OPTIMISE = "optimise"
ROLLOUTS = 600


def configure(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    add = parser.add_argument
    add("name", nargs="*", help=f"of a skill; '{RECOVER}': whatever leads onto the feet; '{OPTIMISE} NAME'")
    add("--list", action="store_true", help="the skills of the robot")
    add("--start", choices=experiment.STARTS, help="default: as the skill begins")
    add("--limp", action="store_true", help="--start fallen: also fall without torque, for peak_force_limp")
    add("--time", type=number, metavar="S", help="length of the run; default: as long as the skill needs")
    add("--rollouts", type=count, default=ROLLOUTS, metavar="N", help="optimise: how many may be made")
    add("--workers", type=count, default=1, metavar="N", help="optimise: processes")
    add("--cluster", metavar="ADDRESS", help="optimise: a Dask scheduler (tcp://...) whose workers do the rollouts")
    add("--worlds", type=count, default=3, metavar="N", help="optimise: masses and frictions, 1 to 3")
    add("--journal", type=Path, metavar="F", help="optimise: resume from this file, and go on writing it")
    add("--output", type=Path, metavar="F.yaml", help="optimise: default: the script itself")
    add_world(parser)
    add_outputs(parser)


def run(options: argparse.Namespace) -> None:
    words: list[str] = options.name
    if options.list:
        show(options)
    elif words[:1] == [OPTIMISE]:
        optimise(options, " ".join(words[1:]))
    elif words:
        play(options, " ".join(words))
    else:
        raise InputError("which skill? allowed: NAME, optimise NAME, or --list")


def show(options: argparse.Namespace) -> None:
    robot = registry.load(options.robot)
    scripts = library(robot)
    if options.json:
        rows = {
            s.name: {"about": s.about, "starts": s.starts, "ends": s.ends, "time": s.length} for s in scripts.values()
        }
        print_json({"robot": robot.spec, "skills": rows})
        return
    for script in scripts.values():
        print(f"{script.name:28} {', '.join(script.starts)} -> {script.ends}, {script.length:.1f} s: {script.about}")
    if not scripts:
        print(f"'{robot.spec}' has no skills")


def play(options: argparse.Namespace, name: str) -> None:
    settings = world_settings(options, options.time)
    check_outputs(options)
    with Bar(f"{name} {options.robot}") as bar:
        done = experiment.run(settings, name, options.start, bar, options.log, options.limp)
    write_outputs(done, options, experiment.story(done.result))
    if options.json:
        print_json(done.result)
    else:
        print(story(done.result))


def story(result: dict[str, Any]) -> str:
    modes = " -> ".join(f"{name} ({t:.2f} s)" for t, name in result["modes"])
    return f"{experiment.story(result)}\nmodes: {modes}"


def optimise(options: argparse.Namespace, name: str) -> None:
    try:
        from humanoid_balance.skills import optimise as optimiser
        from humanoid_balance.skills.writer import write
    except ImportError:
        raise InputError("optimise: package 'cma' is not installed; pip install humanoid_balance[optimise]") from None
    robot = registry.load(options.robot)
    script = find(library(robot), name, robot)
    output = options.output or script.file
    writable(output, "--output", (".yaml",))
    if options.worlds > len(optimiser.WORLDS):
        raise InputError(f"worlds is {options.worlds}; allowed: 1 to {len(optimiser.WORLDS)}")

    def tell(share: float, found: optimiser.Found) -> None:
        line = f"\r{name} {share:4.0%}, cost {found.cost:.3f}, reached {found.reached} of {found.starts}"
        print(line, end="", file=sys.stderr, flush=True)

    found = optimiser.search(
        options.robot, script.file, options.rollouts, options.seed or 1, options.workers, options.worlds,
        options.journal, tell, options.cluster,
    )  # fmt: skip
    print(file=sys.stderr)
    command = f"humanoid-balance skill optimise {name} --robot {options.robot} --rollouts {options.rollouts}"
    provenance = {
        "command": f"{command} --worlds {options.worlds} --seed {options.seed or 1}",
        "cost": round(found.cost, 4), "reached": f"{found.reached} of {found.starts}", "rollouts": found.rollouts,
    }  # fmt: skip
    write(output, found.script, robot, provenance)
    result = {"skill": name, "robot": robot.spec, "file": str(output), **provenance, "history": found.history}
    if options.json:
        print_json(result)
    else:
        print(f"{output}: cost {found.cost:.3f}, reached {found.reached} of {found.starts}")
