"""Finds the key poses of a script by CMA-ES (Hansen, "The CMA evolution strategy", 2016; package ``cma``), Torres T5.

The script's ``search`` section says what may change:

    search:
      joints: ["*_hip_pitch", waist_yaw]  # names or patterns
      keys: [1, 2]        # which keys, from 1
      symmetric: true     # left and right do the same, mirrored
      spread: 0.3         # first standard deviation [rad]
      times: true         # the durations between the keys may change too

Every candidate is rolled out from the same few starts, with other masses and frictions, so the same seed gives the same
result, on however many processes or machines. The costs of each generation are written to a journal; an interrupted
search reads them back and goes on.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.cluster import connected
from humanoid_balance.errors import InputError
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills import cost as costs
from humanoid_balance.skills.mirror import Mirror
from humanoid_balance.skills.rollout import Bench
from humanoid_balance.skills.script import Key, Script, load
from humanoid_balance.types import Array

STRETCH = 0.25  # first standard deviation of the logarithm of a duration
SHORTEST = 0.08  # between two keys [s]
# Start, friction, mass: the nominal body, a light one on slippery ground, a heavy one on a rough one (start 0: as laid)
WORLDS = ((0, 0.8, 1.0), (1, 0.5, 0.95), (2, 1.0, 1.05))


@dataclass
class Space:
    """Between a script and a vector of numbers with spread one, zero at the script as it is."""

    script: Script
    robot: Robot

    def __post_init__(self) -> None:
        search, script, names = self.script.search, self.script, self.robot.joint_names
        where = f"{script.file}: 'search'"
        patterns = search.get("joints", [])
        self.joints = [i for i, name in enumerate(names) if any(fnmatchcase(name, p) for p in patterns)]
        if not self.joints:
            raise InputError(f"{where}: joints {patterns} match none of '{self.robot.spec}'")
        self.keys = [k - 1 for k in search.get("keys", range(1, len(script.keys)))]
        if not self.keys or not all(0 <= k < len(script.keys) for k in self.keys):
            raise InputError(f"{where}: keys {search.get('keys')}; allowed: 1 to {len(script.keys)}")
        self.spread, self.times = float(search.get("spread", 0.3)), bool(search.get("times", False))
        self.mirror = Mirror(self.robot) if search.get("symmetric", False) else None
        if self.mirror is not None:
            self.joints = [i for i in self.joints if i <= self.mirror.partner[i]]
        self.size = len(self.keys) * len(self.joints) + self.times * len(self.keys)

    def bounds(self) -> tuple[list[float], list[float]]:
        low, high = [], []
        for k in self.keys:
            pose = self.script.keys[k].pose[self.joints]
            low += list((self.robot.lower[self.joints] - pose) / self.spread - 1e-6)
            high += list((self.robot.upper[self.joints] - pose) / self.spread + 1e-6)
        return low + [-3.0] * self.times * len(self.keys), high + [3.0] * self.times * len(self.keys)

    def script_at(self, x: Array) -> Script:
        """The script that a vector stands for."""
        n, robot = len(self.joints), self.robot
        keys: list[Key] = list(self.script.keys)
        steps = np.diff([0.0, *(key.at for key in keys)])
        for row, k in enumerate(self.keys):
            pose = keys[k].pose.copy()
            pose[self.joints] += self.spread * x[row * n : (row + 1) * n]
            if self.mirror is not None:
                mirrored = self.mirror.of(pose)
                others = self.mirror.partner[self.joints]
                pose[others] = mirrored[others]
            keys[k] = replace(keys[k], pose=np.clip(pose, robot.lower, robot.upper))
            if self.times:
                steps[k] = max(SHORTEST, steps[k] * np.exp(STRETCH * x[len(self.keys) * n + row]))
        ends = np.cumsum(steps)
        return replace(self.script, keys=tuple(replace(key, at=float(t)) for key, t in zip(keys, ends, strict=True)))


class Judge:
    """Rolls candidates out in several worlds."""

    def __init__(self, spec: str, script: Script, worlds: int) -> None:
        robot = registry.load(spec)
        self.space = Space(script, robot)
        name, options = registry.parse(spec)
        self.stages = []
        for seed, friction, mass in WORLDS[:worlds]:
            words = {**options, "mass": mass * robot.mass}
            body = registry.load(f"{name}:" + ",".join(f"{k}={v}" for k, v in words.items()))
            bench = Bench(body, friction)
            for side in script.starts:
                q = bench.lay(side, np.random.default_rng(seed) if seed else None)
                self.stages.append((bench, q))

    def __call__(self, x: Array) -> Rated:
        """Mean cost, and how many worlds it worked in."""
        script = self.space.script_at(x)
        found = []
        for bench, q in self.stages:
            player, seen = bench.play(script, q)
            found.append(costs.cost(bench.robot, script, player, seen))
        return float(np.mean([value for value, _ in found])), sum(reached for _, reached in found)


Rated = tuple[float, int]  # cost of a candidate, and in how many worlds it worked


@lru_cache(maxsize=1)
def _judge(search: bytes) -> Judge:
    """Of this process: bodies and worlds are made once for all candidates."""
    return Judge(*pickle.loads(search))


def _rate(task: tuple[bytes, Array]) -> Rated:
    search, candidate = task
    return _judge(search)(candidate)


@contextmanager
def _crew(workers: int, cluster: str | None) -> Iterator[Callable[..., Iterable[Rated]]]:
    """What ``map`` is: here, on processes of this machine, or on a cluster."""
    if cluster is not None:
        with connected(cluster) as there:
            yield there.map
    elif workers > 1:
        with ProcessPoolExecutor(workers) as pool:
            yield pool.map
    else:
        yield map


@dataclass
class Found:
    """What a search has found so far."""

    script: Script
    cost: float
    reached: int  # of ``starts``
    starts: int
    rollouts: int
    history: list[float]  # best cost of each generation


def search(
    spec: str,
    file: Path,
    rollouts: int,
    seed: int = 1,
    workers: int = 1,
    worlds: int = len(WORLDS),
    journal: Path | None = None,
    progress: Callable[[float, Found], None] | None = None,
    cluster: str | None = None,
) -> Found:
    """Look for the best key poses; each rollout is one candidate in one world."""
    import cma

    robot = registry.load(spec)
    script = load(file, robot)
    space = Space(script, robot)
    starts = worlds * len(script.starts)
    low, high = space.bounds()
    options = {"seed": seed, "bounds": [low, high], "verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(np.zeros(space.size), 1.0, options)
    size = strategy.popsize
    known = _read(journal, spec, script, seed, worlds, size)
    found, used = Found(script, float("inf"), 0, starts, 0, []), 0
    task = pickle.dumps((spec, script, worlds))
    with _crew(workers, cluster) as spread, journal.open("a") if journal else nullcontext() as book:
        while used < rollouts and not strategy.stop():
            candidates = strategy.ask()
            rated = next(known, None)
            if rated is None:
                rated = list(spread(_rate, [(task, x) for x in candidates]))
                if book:
                    book.write(json.dumps(rated) + "\n")
                    book.flush()
            values = [value for value, _ in rated]
            strategy.tell(candidates, values)
            used += size * starts
            best = int(np.argmin(values))
            if values[best] < found.cost:
                found.cost, found.reached = values[best], rated[best][1]
                found.script = space.script_at(np.asarray(candidates[best]))
            found.history.append(found.cost)
            found.rollouts = used
            if progress is not None:
                progress(min(1.0, used / rollouts), found)
    return found


def _read(journal: Path | None, spec: str, script: Script, seed: int, worlds: int, size: int) -> Iterator[list[Rated]]:
    """Generations that an earlier run has rated; one that was begun with something else is refused."""
    mark = [spec, script.name, seed, worlds, size, [key.pose.tolist() for key in script.keys]]
    if journal is None:
        return iter(())
    if not journal.exists():
        journal.write_text(json.dumps(mark) + "\n", encoding="utf-8")
        return iter(())
    lines = journal.read_text(encoding="utf-8").splitlines()
    try:
        rows: list[Any] = [json.loads(line) for line in lines]
    except ValueError:  # killed in the middle of a line: that generation is made again
        rows = [json.loads(line) for line in lines[:-1]]
        journal.write_text("".join(line + "\n" for line in lines[:-1]), encoding="utf-8")
    if not rows or rows[0] != json.loads(json.dumps(mark)):
        raise InputError(f"{journal}: belongs to another search; allowed: a new file, or the same script and seed")
    return iter(rows[1:])
