"""Habits of a real-time loop: absolute deadlines, no garbage collector, and, where permitted, a thread of its own rank.

Nothing here is needed to run; what the system does not permit is told once as a warning, and the loop goes on without.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_balance.types import Array

SPIN = 150_000  # the last bit of a wait is spun: a sleep ends late by about this much [ns]
KEPT = 5000  # ticks of which the times are kept for the percentiles
PAUSE = 20  # periods; whoever is later than that is not running late but was stopped
MCL_CURRENT, MCL_FUTURE = 1, 2  # sys/mman.h


@dataclass(frozen=True)
class RealTime:
    """What a loop asks of the system; zero, empty or False asks for nothing."""

    priority: int = 0  # SCHED_FIFO, 1 to 99
    cpus: tuple[int, ...] = ()
    lock_memory: bool = False

    def apply(self, warn: Callable[[str], None]) -> None:
        """To be called by the thread that runs the loop."""
        if self.priority:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(self.priority))
            except (OSError, AttributeError) as error:
                warn(f"SCHED_FIFO priority {self.priority} not permitted ({error}); see docs/ros.md, real-time set-up")
        if self.cpus:
            try:
                os.sched_setaffinity(0, self.cpus)
            except (OSError, AttributeError, ValueError) as error:
                warn(f"CPU affinity {list(self.cpus)} not possible ({error})")
        if self.lock_memory and ctypes.CDLL(None, use_errno=True).mlockall(MCL_CURRENT | MCL_FUTURE):
            reason = os.strerror(ctypes.get_errno())
            warn(f"locking memory not permitted ({reason}); raise the limit 'memlock', see docs/ros.md")


class QuietCollector:
    """No garbage collection while a loop runs; what exists by then is never looked at again. Use it in ``with``.

    Objects that refer to themselves would still pile up over hours; ``sweep`` collects those made of late, in 0.1 ms.
    """

    def __enter__(self) -> QuietCollector:
        gc.collect()
        gc.freeze()
        gc.disable()
        return self

    @staticmethod
    def sweep() -> None:
        gc.collect(0)

    def __exit__(self, *_: object) -> None:
        gc.enable()
        gc.unfreeze()


class Pace:
    """Absolute deadlines on the steady clock, a period apart. Late ticks are caught up, a pause is not."""

    def __init__(self, period: float) -> None:
        self.period = round(1e9 * period)  # [ns]
        self.deadline = time.monotonic_ns()

    def wait(self) -> bool:
        """Sleep until the next deadline; False if it has passed already."""
        self.deadline += self.period
        now = time.monotonic_ns()
        if now >= self.deadline:
            if now - self.deadline > PAUSE * self.period:
                self.deadline = now
            return False
        if self.deadline - now > SPIN:
            time.sleep(1e-9 * (self.deadline - now - SPIN))
        while time.monotonic_ns() < self.deadline:
            pass
        return True


class Stopwatch:
    """How long the last ticks took, and how many were late."""

    def __init__(self) -> None:
        self._times = np.zeros(KEPT)
        self.ticks, self.overruns = 0, 0

    def add(self, seconds: float, late: bool) -> None:
        self._times[self.ticks % KEPT] = seconds
        self.ticks += 1
        self.overruns += late

    @property
    def times(self) -> Array:
        """Of the last ticks, in no order [s]."""
        return self._times[: min(self.ticks, KEPT)].copy()

    def percentile(self, share: float) -> float:
        """[µs]"""
        return 1e6 * float(np.percentile(self.times, share)) if self.ticks else 0.0
