"""What the subcommands share: common options, number types, output."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.plants.world import SIMULATORS

PATIENCE = 2.0  # a progress bar appears when a command takes longer [s]


def number(text: str) -> float:
    """A finite number; argparse names the option."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}' is not a finite number")
    return value


def not_negative(text: str) -> float:
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is negative; allowed: 0 or more")
    return value


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not allowed: a whole number, 1 or more")
    return int(text)


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    parser.add_argument("--plant", default="mujoco", choices=SIMULATORS, help="simulator")
    parser.add_argument("--seed", type=int, default=0, help="of the sensor noise")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, nothing else")


def writable(path: Path, option: str, endings: tuple[str, ...] = ()) -> None:
    """Complain before the work is done, not after: about a name with another ending, and what cannot be written."""
    folder = path.parent
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{option} {path}: allowed: a name that ends in {' or '.join(endings)}")
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; allowed: a file to write")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{option} {path}: cannot make its folder: {error.strerror}") from None
    there = path.exists()
    try:
        path.open("ab").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be written: {error.strerror}") from None


def namespace(text: str) -> str:
    """A ROS namespace: names with slashes between them; none is allowed."""
    names = text.strip("/").split("/") if text.strip("/") else []
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) for name in names):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a ROS namespace; allowed: letters, digits and _, not a digit first, slashes between names"
        )
    return text


def print_json(result: dict[str, Any]) -> None:
    print(json.dumps(_finite(result)))


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Bar:
    """A progress bar on stderr that appears only when something takes longer than two seconds. Use it in ``with``."""

    def __init__(self, title: str, width: int = 30) -> None:
        self.title, self.width = title, width
        self.start = time.monotonic()
        self.shown = ""

    def __call__(self, share: float) -> None:
        if not self.shown and (share >= 1.0 or time.monotonic() - self.start < PATIENCE):
            return
        full = round(share * self.width)
        line = f"\r{self.title} [{'#' * full}{'.' * (self.width - full)}] {share:4.0%}"
        if line != self.shown:
            print(line, end="", file=sys.stderr, flush=True)
            self.shown = line

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            if kind is None:
                self(1.0)
            print(file=sys.stderr)
