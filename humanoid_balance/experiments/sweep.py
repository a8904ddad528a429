"""Runs of an experiment on many processes: of this machine, or of a Dask cluster. Each result is kept as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from humanoid_balance.cluster import connected
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import push, workers
from humanoid_balance.experiments.journal import Journal
from humanoid_balance.experiments.plan import PlannedRun

WALL_CLOCK = ("tick", "rtf", "rtf_cpu")  # figures of the machine, not of the run: they differ every time

Progress = Callable[[float], None]
Done = tuple[str, dict[str, Any]]  # key of a run, its result


def complete(
    runs: list[PlannedRun], journal: Journal, crew: int, cluster: str | None, progress: Progress | None
) -> None:
    """Do what the journal does not have yet."""
    missing = [run for run in runs if run.key not in journal.done]
    if not missing:
        return
    results = _on_cluster(missing, cluster) if cluster else _here(missing, crew)
    for number, (key, result) in enumerate(results, start=1):
        journal.add(key, result)
        if progress is not None:
            progress((len(runs) - len(missing) + number) / len(runs))


def perform(run: PlannedRun) -> Done:
    """One run, in a worker."""
    try:
        result = push.run(run.settings, [run.push], workers.check).result
    except InputError as error:  # a diverged simulation is a result, not the end of the experiment
        return run.key, {"error": str(error)}
    return run.key, {name: value for name, value in result.items() if name not in WALL_CLOCK}


def _here(runs: list[PlannedRun], count: int) -> Iterator[Done]:
    with workers.crew(min(count, len(runs))) as pool:
        with workers.quiet_start():
            waiting: set[Future[Done]] = {pool.submit(perform, run) for run in runs}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for task in done:
                yield task.result()


def _on_cluster(runs: list[PlannedRun], address: str) -> Iterator[Done]:
    with connected(address) as cluster:
        yield from cluster.done(perform, runs)
