"""The plan of an experiment: pushes x robots x strategies x seeds, read from a YAML."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from humanoid_balance import __version__
from humanoid_balance.balance.supervisor import STRATEGIES, BalanceSettings
from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.experiments.push import PushSettings
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry

KEYS = ("pushes", "robots", "strategies", "seeds", "settings")
PUSH_KEYS = ("force", "dv", "duration", "direction", "start", "profile", "frequency")
VARIED = ("robot", "strategy", "seed")  # settings that the lists give
SETTINGS = tuple(field.name for field in fields(PushSettings) if field.name not in VARIED)
MOST = 100_000  # runs of one experiment


@dataclass(frozen=True)
class Run:
    """One push of one robot; it is the one that ``humanoid-balance push`` makes of the same numbers."""

    settings: PushSettings
    push: PushProfile

    @property
    def key(self) -> str:
        """All that decides about the result, as one line of JSON."""
        return json.dumps({"version": __version__, **asdict(self.settings), **asdict(self.push)}, sort_keys=True)


def load(file: Path) -> list[Run]:
    """The runs of a YAML file, in its order; wrong entries are named."""
    given = _read(file)
    for key in given:
        if key not in KEYS:
            raise ConfigError(file, str(key), given[key], f"the keys {', '.join(KEYS)}")
    robots = _list(file, given, "robots", ["human"])
    strategies = _list(file, given, "strategies", ["auto"])
    seeds = _list(file, given, "seeds", [0])
    pushes = _list(file, given, "pushes", None)
    shared = _settings(file, given.get("settings") or {})
    masses = {robot: registry.load(_text(file, "robots", robot)).mass for robot in robots}
    for strategy in strategies:
        if strategy not in STRATEGIES:
            raise ConfigError(file, "strategies", strategy, ", ".join(STRATEGIES))
    count = len(pushes) * len(robots) * len(strategies) * len(seeds)
    if count > MOST:
        raise InputError(f"{file}: {count} runs are too many; allowed: {MOST}")
    runs = [
        Run(_all_settings(file, shared, robot, strategy, seed), _push(file, push, masses[robot]))
        for push, robot, strategy, seed in itertools.product(pushes, robots, strategies, seeds)
    ]
    return list({run.key: run for run in runs}.values())  # what is listed twice is done once


def _read(file: Path) -> dict[str, Any]:
    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise InputError(f"{file}: is no mapping; allowed keys: {', '.join(KEYS)}")
    return given


def _list(file: Path, given: dict[str, Any], key: str, default: list[Any] | None) -> list[Any]:
    value = given.get(key, default)
    if not isinstance(value, list) or not value:
        raise ConfigError(file, key, value, "a list with at least one entry")
    return value


def _text(file: Path, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(file, key, value, "a name")
    return value


def _number(file: Path, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(file, key, value, "a number")
    return value


def _known(file: Path, where: str, given: Any, allowed: Iterable[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ConfigError(file, where, given, f"a mapping with the keys {', '.join(allowed)}")
    for key in given:
        if key not in allowed:
            raise ConfigError(file, f"{where}.{key}", given[key], f"the keys {', '.join(allowed)}")
    return given


def _settings(file: Path, given: Any) -> dict[str, Any]:
    texts = ("plant_robot", "policy", "step_policy")
    known = _known(file, "settings", given, SETTINGS)
    return {k: (_text if k in texts else _number)(file, f"settings.{k}", v) for k, v in known.items()}


def _all_settings(file: Path, shared: dict[str, Any], robot: str, strategy: str, seed: Any) -> PushSettings:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ConfigError(file, "seeds", seed, "whole numbers")
    try:
        settings = PushSettings(robot=robot, strategy=strategy, seed=seed, **shared)
        BalanceSettings(settings.strategy, settings.policy, settings.delay, settings.step_policy)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    return settings


def _push(file: Path, given: Any, mass: float) -> PushProfile:
    """``dv`` [m/s] in place of a force makes the same push for robots of any mass."""
    known = dict(_known(file, "pushes", given, PUSH_KEYS))
    for key in known:
        if key != "profile":
            known[key] = float(_number(file, f"pushes.{key}", known[key]))
    if ("force" in known) == ("dv" in known) or "duration" not in known:
        raise ConfigError(file, "pushes", given, "a duration and either force or dv")
    dv = known.pop("dv", None)
    try:
        if dv is not None:
            unit = PushProfile(1.0, **known).impulse
            if unit <= 0.0:
                raise InputError("a push without duration has no dv")
            known["force"] = dv * mass / unit
        return PushProfile(**known)
    except InputError as error:
        raise InputError(f"{file}: pushes: {error}") from None
