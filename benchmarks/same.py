"""Two versions of the package side by side: do they move the joints alike, and how long does a tick take?

    python benchmarks/same.py BEFORE AFTER [--quick] [--only NAME ...] [--tolerance 1e-9] [--json]

BEFORE and AFTER are checkouts (``git worktree add BEFORE COMMIT``). Each episode is one ``humanoid-balance push`` or
``gait`` in both, each in a process of its own; only the command line and ``Loop.tick`` have to be there. Times are CPU
times of the thread, and the processes take turns, some ticks each, so that a busy machine slows both alike; the ratio
of tick times is the median over the turns. ``around`` is what the experiment does between two ticks: ground truth and
record. A tick is the sum of all stages. Exit code 1 when a joint differs by more than the tolerance or one run is
longer than the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

TURN = 100  # ticks of one version, then the other's
STAGES = ("plant", "estimation", "balance", "wholebody", "safety", "around")  # as Loop.timing has them, and the rest
WARM = 3  # turns that do not count for the time: caches fill, solvers are made


@dataclass(frozen=True)
class Episode:
    """A name and the arguments of ``humanoid-balance push``, or of another command."""

    name: str
    arguments: str
    quick: bool = False
    command: str = "push"


@dataclass
class Comparison:
    """What two runs of an episode had in common."""

    name: str
    ticks: tuple[int, int]
    difference: float  # largest of all joints and ticks [rad]
    first: float  # time at which the tolerance was exceeded first [s]; NaN if never
    time: tuple[float, float]  # median of a tick [ms]
    ratio: float  # of the tick times, after to before: median over turns
    stages: dict[str, float]  # the same of each stage

    def same(self, tolerance: float) -> bool:
        return self.ticks[0] == self.ticks[1] > 0 and self.difference <= tolerance


def episodes() -> Iterator[Episode]:
    """KE1-KE6, two pushes of a 90 kg human, talos and g1 from eight sides; standing, for the time; gaits."""
    for name, direction, quick in (("KE1", 0, True), ("KE2", 180, False)):
        yield Episode(
            name, f"--force 300 --duration 0.1 --direction {direction} --strategy in-place --delay 0.2", quick
        )
    for direction in (90, 270):
        yield Episode(f"KE3/{direction}", f"--force 200 --duration 0.1 --direction {direction} --strategy in-place")
    for direction in (0, 90):
        sine = "--profile sine --frequency 1 --duration 6 --time 7"
        yield Episode(f"KE4/{direction}", f"--force 100 --direction {direction} {sine}")
    yield Episode("KE5", "--force 300 --duration 0.1 --direction 0 --strategy step")
    yield Episode("KE6", "--force 300 --duration 0.4 --direction 0 --time 9", quick=True)
    for direction, force in ((0, 600), (90, 550)):
        yield Episode(
            f"90kg/{direction}", f"--robot human:mass=90 --force {force} --duration 0.2 --direction {direction}"
        )
    for robot, force in (("talos", 300), ("g1", 110)):
        for direction in range(0, 360, 45):
            arguments = f"--robot {robot} --force {force} --duration 0.2 --direction {direction}"
            yield Episode(f"{robot}/{direction}", arguments, quick=direction == 90)
    yield Episode("kudoh", "--force 300 --duration 0.1 --direction 0 --delay 0.2 --policy kudoh")
    yield Episode("fall", "--force 900 --duration 0.2 --direction 0", quick=True)
    for robot in ("human", "talos", "g1"):
        yield Episode(f"stand/{robot}", f"--robot {robot} --force 0 --duration 0 --direction 0 --time 4")
    yield Episode("gait/plane", "walk --robot r2d --planar --time 10", quick=True, command="gait")
    yield Episode("gait/space", "walk-3d --robot human:mass=90,drives=impedance --time 5", quick=True, command="gait")


class Version:
    """One checkout, running one episode in a process."""

    def __init__(self, tree: Path, command: str, arguments: list[str]) -> None:
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed in close
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--episode", str(tree), command, "--json", *arguments],
            env=os.environ | threads | {"PYTHONPATH": str(tree)}, cwd=tree,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip

    def turn(self) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        """Joint positions (ticks, n) [rad], times of the stages (ticks, stages) [s], and whether the run is over."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        head = self._process.stdout.readline()
        if not head:
            code = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise SystemExit(
                f"same.py: {' '.join(map(str, self._process.args[2:]))} ended with exit code {code}: {said}"
            )
        ticks, joints, over = json.loads(head)
        width = len(STAGES) + joints
        data = np.frombuffer(self._process.stdout.read(8 * ticks * width)).reshape(ticks, width)
        return data[:, len(STAGES) :], data[:, : len(STAGES)], over

    def close(self) -> None:
        self._process.communicate()
        self._errors.close()


def compare(episode: Episode, before: Path, after: Path, tolerance: float, more: list[str]) -> Comparison:
    """Both versions, turn by turn."""
    versions = [Version(tree, episode.command, episode.arguments.split() + more) for tree in (before, after)]
    joints: list[list[NDArray[np.float64]]] = [[], []]
    medians: list[list[NDArray[np.float64]]] = [[], []]  # of each turn: the tick, then its stages
    over = [False, False]
    while not all(over):
        for i, version in enumerate(versions):
            if not over[i]:
                positions, times, over[i] = version.turn()
                if len(times):
                    joints[i].append(positions)
                    medians[i].append(np.median(np.column_stack([times.sum(axis=1), times]), axis=0))
    for version in versions:
        version.close()
    a, b = (np.concatenate(part) for part in joints)
    shared = min(len(a), len(b))
    apart = np.abs(a[:shared] - b[:shared]).max(axis=1, initial=0.0)
    apart[np.isnan(apart)] = np.inf
    beyond = np.flatnonzero(apart > tolerance)
    turns = min(map(len, medians))
    x, y = (np.array(part[min(WARM, turns - 1) : turns]) for part in medians)
    time = (1e3 * float(np.median(x[:, 0])), 1e3 * float(np.median(y[:, 0])))
    ratio, *stages = np.median(y / x, axis=0).tolist()
    first = 0.001 * int(beyond[0]) if len(beyond) else float("nan")
    by_stage = dict(zip(STAGES, stages, strict=True))
    return Comparison(episode.name, (len(a), len(b)), float(apart.max(initial=0.0)), first, time, ratio, by_stage)


def run_episode(tree: str, arguments: list[str]) -> int:
    """In the process of a version: the command line with a loop that waits for its turns."""
    out, listen = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the command prints is not part of the comparison
    sys.path[0] = tree
    from humanoid_balance import cli, loop

    if Path(loop.__file__).resolve().parent.parent != Path(tree).resolve():
        raise SystemExit(f"{loop.__file__} was imported instead of {tree}")
    loop.time = SimpleNamespace(perf_counter=time.thread_time)  # type: ignore[attr-defined]  # the clock of Loop.timing
    original, rows = loop.Loop.tick, []  # type: ignore[var-annotated]
    clock, since = time.thread_time, time.thread_time()

    def answer(over: bool) -> None:
        table = np.array(rows) if rows else np.zeros((0, len(STAGES)))
        out.write(json.dumps([len(table), table.shape[1] - len(STAGES), over]).encode() + b"\n" + table.tobytes())
        out.flush()
        rows.clear()
        if not over and not listen.readline():
            raise SystemExit(1)

    def tick(self: Any, *command: Any) -> Any:
        nonlocal since
        around = clock() - since
        done = original(self, *command)
        rows.append(np.concatenate([self.timing[-1], [around], done.frame.position]))
        if len(rows) == TURN:
            answer(False)
        since = clock()
        return done

    loop.Loop.tick = tick  # type: ignore[method-assign,assignment]
    listen.readline()
    code = cli.main(arguments)
    answer(True)
    return code


def main() -> int:
    if sys.argv[1:2] == ["--episode"]:
        return run_episode(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--quick", action="store_true", help="a few episodes, 2.5 s of each")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="episodes whose name begins so")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="[rad]")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trees = []
    for tree in (options.before, options.after):
        if not (tree / "humanoid_balance" / "loop.py").is_file():
            print(f"same.py: {tree} is not a checkout: no humanoid_balance/loop.py in it", file=sys.stderr)
            return 2
        trees.append(tree.resolve())
    chosen = [e for e in episodes() if not options.only or e.name.startswith(tuple(options.only))]
    if options.quick:
        chosen = [e for e in chosen if e.quick] or chosen
    if not chosen:
        known = ", ".join(e.name for e in episodes())
        print(f"same.py: no episode is called {' '.join(options.only)}; known: {known}", file=sys.stderr)
        return 2
    results = []
    for episode in chosen:
        more = ["--time", "2.5"] if options.quick else []
        found = compare(episode, *trees, options.tolerance, more)
        results.append(found)
        if not options.json:
            verdict = "same" if found.same(options.tolerance) else f"DIFFERS from {found.first:.3f} s on"
            ticks = f"{found.ticks[0]}" if found.ticks[0] == found.ticks[1] else f"{found.ticks[0]}/{found.ticks[1]}"
            times = f"tick {found.time[0]:.3f} -> {found.time[1]:.3f} ms, x {found.ratio:.3f}"
            print(f"{found.name:10} {ticks:>6} ticks  {found.difference:8.1e} rad  {times}  {verdict}", flush=True)
    ratio = float(np.median([r.ratio for r in results]))
    same = all(r.same(options.tolerance) for r in results)
    if options.json:
        rows = [vars(r) | {"same": r.same(options.tolerance)} for r in results]
        print(json.dumps({"same": same, "ratio": ratio, "tolerance": options.tolerance, "episodes": rows}))
    else:
        parts = [f"{stage} x {np.median([r.stages[stage] for r in results]):.3f}" for stage in STAGES]
        print(
            f"{'all the same' if same else 'NOT THE SAME'}; median of {len(results)} episodes: tick x {ratio:.3f}, ",
            end="",
        )
        print(", ".join(parts))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
