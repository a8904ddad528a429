"""The gaits that can be called by name, ``config/gaits/*.yaml``; a path to a YAML of your own does as well.

Behind a colon stand parameters that change it as a whole, see ``parameters``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from humanoid_balance.errors import InputError
from humanoid_balance.gaits import parameters
from humanoid_balance.gaits.table import GaitTable, load
from humanoid_balance.robot.registry import config_folder


def names() -> list[str]:
    """Gaits of the package."""
    return sorted(file.stem for file in (config_folder() / "gaits").glob("*.yaml"))


def find(name: str) -> GaitTable:
    """The gait of a name, or of a path to a YAML, with its parameters."""
    name, colon, text = name.partition(":")
    if colon:
        return parameters.changed(find(name), text, find)
    file = Path(name)
    if file.suffix in (".yaml", ".yml"):
        return load(file)
    if name not in names():
        raise InputError(f"gait '{name}': unknown; allowed: {', '.join(names())} or a path to a YAML file")
    return _named(name)


@cache
def _named(name: str) -> GaitTable:
    return load(config_folder() / "gaits" / f"{name}.yaml")


def route(start: str | None, goal: GaitTable) -> tuple[GaitTable, ...]:
    """Gaits to go through, in order, the goal last; ``start`` is the gait under way, None for standing (Y18)."""
    way, first = [goal], goal
    start = None if start is None else start.partition(":")[0]
    while first.enter and start not in first.enter:
        if "stand" in first.enter and start is None:
            break
        before = find(first.enter[0])
        if before.name == start:
            break
        if any(before.name == gait.name for gait in way):
            raise InputError(f"gait '{goal.name}': 'enter' leads from {first.name} to {before.name} and back")
        way.insert(0, before)
        first = before
    return tuple(way)
