"""How fast this machine is at the moment: the cost of a fixed piece of work, beside which other work is timed."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

VECTOR = np.ones(32)


def work() -> float:
    """Small arrays and Python around them, as in a tick; no linear algebra, whose threads depend on settings."""
    total = 0.0
    for _ in range(8):
        total += float((VECTOR * VECTOR).sum())
    return total


def ratio(call: Callable[[int], object], count: int) -> float:
    """Median time of ``call(k)``, k below ``count``, over that of ``work``: both in turns, on the same machine."""
    ours, theirs = [], []
    for k in range(count):
        start = time.perf_counter()
        call(k)
        middle = time.perf_counter()
        work()
        ours.append(middle - start)
        theirs.append(time.perf_counter() - middle)
    return float(np.median(ours) / np.median(theirs))
