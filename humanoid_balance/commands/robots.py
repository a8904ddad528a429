"""List the robots that can be called by name."""

from __future__ import annotations

import argparse

from humanoid_balance.commands.common import print_json
from humanoid_balance.robot import registry


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    robots = [registry.load(name) for name in registry.names()]
    if options.json:
        rows = [{"name": r.name, "joints": r.n, "mass": r.mass, "com_height": r.com_height} for r in robots]
        print_json({"robots": rows})
        return
    print(f"{'robot':10} {'joints':>6} {'mass kg':>8} {'CoM m':>6}")
    for r in robots:
        print(f"{r.name:10} {r.n:6d} {r.mass:8.1f} {r.com_height:6.2f}")
