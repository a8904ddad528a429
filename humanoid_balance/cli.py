"""The command ``humanoid-balance``. Each subcommand is a file of ``humanoid_balance/commands``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from humanoid_balance import __version__
from humanoid_balance.commands import (
    bench,
    board,
    bringup,
    check,
    compare,
    envelope,
    experiment,
    gait,
    live,
    motion,
    operate,
    push,
    replay,
    robot,
    robots,
    skill,
    up,
    walk,
)  # fmt: skip
from humanoid_balance.errors import InputError

COMMANDS: dict[str, Any] = {  # modules and requests: a docstring, ``configure(parser)`` and ``run(options)``
    "robots": robots, "robot": robot, "push": push, "walk": walk, "gait": gait, "skill": skill, "motion": motion,
    "live": live,
    "envelope": envelope, "compare": compare, "experiment": experiment,
    "bench": bench, "board": board, "check": check, "up": up, "bringup": bringup, "replay": replay, **operate.REQUESTS,
}  # fmt: skip


class _Parser(argparse.ArgumentParser):
    """One line and exit code 2 for bad input."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    top = _Parser(prog="humanoid-balance", description="Keep humanoids on their feet.")
    top.add_argument("--version", action="version", version=__version__)
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        doc = (module.__doc__ or "").strip().splitlines()[0]
        module.configure(subparsers.add_parser(name, help=doc, description=doc))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point: 0 for a finished run, 2 for bad input."""
    options = parser().parse_args(arguments)
    options.arguments = list(sys.argv[1:] if arguments is None else arguments)  # for reports that tell how to repeat it
    try:
        COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except InputError as error:
        print(f"humanoid-balance {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"humanoid-balance {options.command}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # as of ``| head``: nobody reads on, and nobody is told so
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


if __name__ == "__main__":
    sys.exit(main())
