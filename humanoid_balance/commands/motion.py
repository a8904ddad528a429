"""Read a recorded motion and fit it to a robot (motion info FILE, motion import FILE --robot R -o CLIP.npz)."""

from __future__ import annotations

import argparse
from pathlib import Path

from humanoid_balance.commands.common import print_json
from humanoid_balance.motions import info, library


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    about = actions.add_parser("info", help="what a clip is", description="What a clip is.")
    about.add_argument("file", type=Path, metavar="FILE", help="BVH")
    about.add_argument("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    show(options)


def show(options: argparse.Namespace) -> None:
    found = info.facts(library.load(options.file))
    if options.json:
        print_json(found)
    else:
        print(info.story(found))
