"""Prints the verdict of every episode of a benchmark as it comes, and how many were good."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def report(episodes: list[Any], attempt: Callable[[Any], tuple[bool, str]], workers: int) -> None:
    """``attempt`` runs in worker processes; an episode has a ``name``."""
    good = 0
    with ProcessPoolExecutor(workers) as pool:
        for episode, (ok, text) in zip(episodes, pool.map(attempt, episodes), strict=True):
            print(f"{'ok  ' if ok else 'FAIL'} {episode.name:40} {text}", flush=True)
            good += ok
    print(f"{good} of {len(episodes)}")
