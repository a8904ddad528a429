"""The plan of an experiment: pushes x robots x strategies x seeds, read from a YAML."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from humanoid_balance import __version__, yaml_file
from humanoid_balance.balance.settings import STRATEGIES
from humanoid_balance.errors import InputError
from humanoid_balance.experiments.push import check_time
from humanoid_balance.plants import push_file
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.yaml_file import Reader

VARIED = ("robot", "strategy", "seed")  # settings that the lists give
SETTINGS = tuple(field.name for field in fields(RunSettings) if field.name not in VARIED)
MOST = 100_000  # runs of one experiment


@dataclass(frozen=True)
class PlannedRun:
    """One push of one robot; it is the one that ``humanoid-balance push`` makes of the same numbers."""

    settings: RunSettings
    push: PushProfile

    @property
    def key(self) -> str:
        """All that decides about the result, as one line of JSON."""
        return json.dumps({"version": __version__, **asdict(self.settings), **asdict(self.push)}, sort_keys=True)


def load(file: Path) -> list[PlannedRun]:
    """The runs of a YAML file, in its order; wrong entries are named."""
    reader = yaml_file.read(file)
    pushes = reader.sections("pushes")
    robots = reader.listed("robots", ["human"])
    strategies = reader.listed("strategies", ["auto"])
    seeds = reader.listed("seeds", [0])
    shared = _settings(reader.section("settings", {}))
    reader.done("pushes, robots, strategies, seeds, settings")
    for robot in robots:
        if not isinstance(robot, str):
            raise reader.bad("robots", robot, "names")
    for strategy in strategies:
        if strategy not in STRATEGIES:
            raise reader.bad("strategies", strategy, ", ".join(STRATEGIES))
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise reader.bad("seeds", seed, "whole numbers")
    count = len(pushes) * len(robots) * len(strategies) * len(seeds)
    if count > MOST:
        raise InputError(f"{file}: {count} runs are too many; allowed: {MOST}")
    masses = {robot: registry.load(robot).mass for robot in robots}
    given = [{r: push_file.read(Reader(file, p.data, p.prefix), mass) for r, mass in masses.items()} for p in pushes]
    runs = [
        _planned(file, push[robot], shared | {"robot": robot, "strategy": strategy, "seed": seed})
        for push, robot, strategy, seed in itertools.product(given, robots, strategies, seeds)
    ]
    return list({run.key: run for run in runs}.values())  # what is listed twice is done once


def _settings(reader: Reader) -> dict[str, Any]:
    """Those that are given, each of the type that the settings declare."""
    declared, given = get_type_hints(RunSettings), {}
    for key in [key for key in reader.data if key in SETTINGS]:
        if declared[key] is bool:
            given[key] = reader.flag(key, False)
        else:
            given[key] = reader.text(key) if declared[key] in (str, str | None) else reader.number(key)
    reader.done(", ".join(SETTINGS))
    return given


def _planned(file: Path, push: PushProfile, settings: dict[str, Any]) -> PlannedRun:
    try:
        planned = PlannedRun(RunSettings(**settings), push)
        check_time(planned.settings, [push])
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    return planned
