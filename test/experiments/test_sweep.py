"""Experiments that are interrupted: nothing that is done is lost or done twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_pair import DaskPair, dask_pair

from humanoid_balance import cluster
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import plan, sweep
from humanoid_balance.experiments.journal import Journal
from humanoid_balance.figures import summary

PLAN = """
pushes: [{force: 60, duration: 0.05, start: 0.05}, {force: 90, duration: 0.05, start: 0.05, direction: 90}]
seeds: [0, 1, 2, 3, 4]
settings: {time: 0.15}
"""


def write_plan(folder: Path) -> Path:
    file = folder / "plan.yaml"
    file.write_text(PLAN)
    return file


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an experiment that nobody disturbed."""
    file = write_plan(tmp_path_factory.mktemp("whole"))
    done = {run.key: json.loads(json.dumps(sweep.perform(run)[1])) for run in plan.load(file)}
    folder = file.with_suffix("")
    folder.mkdir()
    summary.save(summary.rows(plan.load(file), done), folder, "")
    return {name: (folder / name).read_bytes() for name in ("results.csv", "results.json", "outcome.png")}


def start(file: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "humanoid_balance.cli", "experiment", str(file), "--json", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    return dict(json.loads(out))


def keys(folder: Path) -> list[str]:
    """Runs in the journal, whole lines only."""
    file = folder / "runs.jsonl"
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [json.loads(line)["key"] for line in lines]


def check(folder: Path, uninterrupted: dict[str, bytes]) -> None:
    assert len(keys(folder)) == len(set(keys(folder))) == 10
    for name, data in uninterrupted.items():
        assert (folder / name).read_bytes() == data, name


def interrupt(file: Path, wait: float, how: signal.Signals) -> None:
    process = start(file, "--workers", "2")
    time.sleep(wait)
    if process.poll() is None:
        os.killpg(process.pid, how)
    process.communicate(timeout=60)
    assert process.returncode in (0, 130, -how)


def test_an_interrupted_experiment_is_resumed(tmp_path: Path, uninterrupted: dict[str, bytes]) -> None:
    file, folder = write_plan(tmp_path), tmp_path / "plan"
    process = start(file, "--workers", "1")
    wait_until(lambda: len(keys(folder)) >= 2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    before = keys(folder)
    assert 2 <= len(before) < 10
    assert finish(start(file))["runs"] == 10
    assert keys(folder)[: len(before)] == before
    check(folder, uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_an_interrupt_at_any_moment_loses_nothing(tmp_path: Path, uninterrupted: dict[str, bytes], seed: int) -> None:
    dice, file, folder = random.Random(seed), write_plan(tmp_path), tmp_path / "plan"
    before: list[str] = []
    for _ in range(dice.randint(1, 3)):
        interrupt(file, dice.uniform(0.2, 8.0), dice.choice([signal.SIGINT, signal.SIGKILL]))
        now = keys(folder)
        assert now[: len(before)] == before
        before = now
    finish(start(file))
    assert keys(folder)[: len(before)] == before
    check(folder, uninterrupted)


def test_a_finished_experiment_makes_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = plan.load(write_plan(tmp_path))
    with Journal(tmp_path / "runs.jsonl") as journal:
        for run in runs:
            journal.add(run.key, {"error": "none"})
        monkeypatch.setattr(sweep, "_here", lambda *_: pytest.fail("made a run"))
        sweep.complete(runs, journal, 2, None, None)


# ---- the journal ----


def test_half_a_line_at_the_end_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    with Journal(file) as journal:
        journal.add("a", {"x": 1})
        journal.add("b", {"x": 2})
    file.write_bytes(file.read_bytes()[:-5])
    with Journal(file) as journal:
        assert journal.done == {"a": {"x": 1}}
        journal.add("c", {"x": 3})
    with Journal(file) as journal:
        assert journal.done == {"a": {"x": 1}, "c": {"x": 3}}


@pytest.mark.parametrize("line", [b"rubbish", b"{}", b"[1]", b'{"key": "a", "result": 5}', b"\xff\xfe", b""])
def test_a_broken_journal_is_told_with_its_line(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "runs.jsonl"
    with Journal(file) as journal:
        journal.add("a", {"x": 1})
    file.write_bytes(file.read_bytes() + line + b"\n")
    with pytest.raises(InputError, match=r"runs.jsonl: line 2 is no result"):
        Journal(file)


def test_two_processes_do_not_share_an_experiment(tmp_path: Path) -> None:
    with Journal(tmp_path / "runs.jsonl"), pytest.raises(InputError, match="another process"):
        Journal(tmp_path / "runs.jsonl")
    Journal(tmp_path / "runs.jsonl").close()


# ---- Dask ----


def wait_until(true: Callable[[], bool], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[DaskPair]:
    with dask_pair(tmp_path) as found:
        yield found


def test_a_cluster_loses_a_worker_and_no_run(tmp_path: Path, pair: DaskPair, uninterrupted: dict[str, bytes]) -> None:
    address, crew = pair
    folder = tmp_path / "plan"
    process = start(write_plan(tmp_path), "--cluster", address)
    wait_until(lambda: len(keys(folder)) >= 1)
    crew[0].kill()
    result = finish(process)
    assert (result["runs"], result["error"]) == (10, 0)
    check(folder, uninterrupted)


def test_a_scheduler_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs Dask, which the extra 'dask' brings")
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    runs = plan.load(write_plan(tmp_path))
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        with Journal(tmp_path / "runs.jsonl") as journal, pytest.raises(InputError, match="--cluster"):
            sweep.complete(runs, journal, 1, address, None)
