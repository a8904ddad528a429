"""Lay results side by side: of push, envelope or experiment, as --json printed them."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import print_json, writable
from humanoid_balance.errors import InputError

KINDS = {"directions": "envelope", "runs": "experiment", "recovery_time": "push"}  # a key that only this kind has
RUN = ("robot", "strategy", "seed", "force", "duration", "direction", "profile")  # tells which run a row is

Line = tuple[str, list[Any]]  # what, its value in each file


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="F.json", help="two or more results of the same kind")
    add("--plot", type=Path, metavar="F.png", help="envelopes in one polar plot a robot")
    add("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    if len(options.files) < 2:
        raise InputError("one file cannot be compared; allowed: two or more")
    results = [_read(file) for file in options.files]
    kinds = [_kind(file, result) for file, result in zip(options.files, results, strict=True)]
    if len(set(kinds)) > 1:
        raise InputError(f"{options.files[0]} is of {kinds[0]}, another one of {min(set(kinds) - {kinds[0]})}")
    try:
        lines = {"envelope": _envelope, "experiment": _experiment, "push": _push}[kinds[0]](results)
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{options.files[0]} and the others: not as --json of {kinds[0]} prints it") from None
    if options.plot is not None:
        if kinds[0] != "envelope":
            raise InputError(f"--plot: these are results of {kinds[0]}; allowed: of envelope")
        writable(options.plot, "--plot", (".png",))
        from humanoid_balance.figures import polar  # matplotlib takes a second to load

        polar.save_side_by_side(results, [file.stem for file in options.files], options.plot)
    names = [str(file) for file in options.files]
    if options.json:
        print_json({"kind": kinds[0], "files": names, "rows": [[what, *values] for what, values in lines]})
    else:
        print(_table(names, lines))


def _read(file: Path) -> dict[str, Any]:
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{file}: is no JSON; allowed: what --json of push, envelope or experiment prints") from None
    if not isinstance(result, dict):
        raise InputError(f"{file}: is no result of push, envelope or experiment")
    return result


def _kind(file: Path, result: dict[str, Any]) -> str:
    for key, kind in KINDS.items():
        if isinstance(result.get(key), list) or (kind == "push" and key in result):
            return kind
    raise InputError(f"{file}: is no result of push, envelope or experiment")


def _push(results: list[dict[str, Any]]) -> list[Line]:
    flat = [_flat(result) for result in results]
    names = dict.fromkeys(name for one in flat for name in one)
    return [(name, [one.get(name) for one in flat]) for name in names]


def _flat(result: dict[str, Any], before: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in result.items():
        if isinstance(value, dict):
            out |= _flat(value, f"{before}{key}.")
        elif key == "modes":
            out[f"{before}{key}"] = " > ".join(name for _, name in value)
        else:
            out[f"{before}{key}"] = value
    return out


def _envelope(results: list[dict[str, Any]]) -> list[Line]:
    lines: list[Line] = [(name, [r.get(name) for r in results]) for name in ("robot", "mass", "strategy", "duration")]
    found = [{row["direction"]: row for row in result["directions"]} for result in results]
    for direction in sorted({d for one in found for d in one}):
        for name, unit in (("impulse", "N s"), ("dv", "m/s")):
            values = [one.get(direction, {}).get(name) for one in found]
            lines.append((f"{direction:g}° {name} [{unit}]", values))
    return lines


def _experiment(results: list[dict[str, Any]]) -> list[Line]:
    """Runs that are in all files, where their outcome or their numbers differ; then the counts."""
    tables = [{tuple(row[k] for k in RUN): row for row in result["runs"]} for result in results]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    lines: list[Line] = [("runs", [len(table) for table in tables]), ("in all files", [len(shared)] * len(tables))]
    for outcome in ("recovered", "moving", "fell", "error"):
        lines.append((outcome, [sum(r["outcome"] == outcome for r in table.values()) for table in tables]))
    for key in shared:
        told = [f"{table[key]['outcome']}, {table[key]['steps']} steps" for table in tables]
        if len(set(told)) > 1:
            robot, strategy, seed, force, duration, direction, _ = key
            lines.append((f"{robot} {strategy} seed {seed}: {force:g} N x {duration:g} s, {direction:g}°", list(told)))
    return lines


def _table(names: list[str], lines: list[Line]) -> str:
    rows = [["", *names, "change"]]
    rows += [[what, *map(_shown, values), _change(values)] for what, values in lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names) + 2)]
    sides = (str.ljust, *[str.rjust] * (len(names) + 1))
    cells = [[side(c, w) for side, c, w in zip(sides, row, widths, strict=True)] for row in rows]
    return "\n".join("  ".join(row).rstrip() for row in cells)


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _change(values: list[Any]) -> str:
    """From the first to the last, in percent."""
    first, last = values[0], values[-1]
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (first, last)):
        return "" if first == last else "differs"
    if first == last:
        return ""
    return f"{100 * (last / first - 1):+.1f} %" if first and math.isfinite(last / first) else f"{last - first:+.3g}"
