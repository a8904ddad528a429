"""Habits of a real-time loop: absolute deadlines, no garbage collector, and, where permitted, a real-time rank.

Nothing here is needed to run; what the system does not permit is told once as a warning, and the loop goes on without.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_balance.nodes import rank
from humanoid_balance.types import Array

REST = 1 / 16  # share of its time that even a late loop sleeps: Linux stops a SCHED_FIFO thread that takes 95 %
TURN = 40_000_000  # other threads get their turn so often [ns]
HAND_OVER = 1e-3  # a loop waits so long for a thread that could not finish its turn in the breaks since [s]
KEPT = 2000  # ticks of which the times are kept for the percentiles
PAUSE = 20  # periods; whoever is later than that is not running late but was stopped
MCL_CURRENT, MCL_FUTURE = 1, 2  # sys/mman.h
PR_SET_TIMERSLACK = 29  # sys/prctl.h
LATENCY = "/dev/cpu_dma_latency"  # longest time a CPU may take to wake up, as long as somebody holds the file open


@dataclass(frozen=True)
class RealTime:
    """What a loop asks of the system; zero, empty or False asks for nothing."""

    priority: int = 0  # SCHED_FIFO, 1 to 99, see ``rank.give``; the CPUs do not go to sleep between ticks then
    cpus: tuple[int, ...] = ()
    lock_memory: bool = False

    def apply(self, warn: Callable[[str], None]) -> None:
        """To be called by the thread that runs the loop."""
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)  # [ns]; by default a sleep may end 50 µs late
        if self.priority:
            try:
                rank.give(self.priority)
            except (OSError, AttributeError) as error:
                warn(f"SCHED_FIFO priority {self.priority} not permitted ({error}); see docs/ros.md, real-time set-up")
            _keep_awake(warn)
        if self.cpus:
            try:
                os.sched_setaffinity(0, self.cpus)
            except (OSError, AttributeError, ValueError) as error:
                warn(f"CPU affinity {list(self.cpus)} not possible ({error})")
        if self.lock_memory and ctypes.CDLL(None, use_errno=True).mlockall(MCL_CURRENT | MCL_FUTURE):
            reason = os.strerror(ctypes.get_errno())
            warn(f"locking memory not permitted ({reason}); raise the limit 'memlock', see docs/ros.md")


_awake: list[int] = []  # open file of the request; it ends with the process


def _keep_awake(warn: Callable[[str], None]) -> None:
    """Ask Linux for CPUs that answer at once: one that slept begins its tick slower, with cold caches."""
    if _awake:
        return
    try:
        _awake.append(os.open(LATENCY, os.O_WRONLY))
        os.write(_awake[0], bytes(4))  # 0 us
    except OSError as error:
        warn(f"CPUs may sleep between ticks: {LATENCY} not permitted ({error.strerror})")


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


class Breaks:
    """Where a loop waits for its deadline, other threads may run: in a tick they would take the interpreter away.

    The loop holds it in ``with``; the other thread asks whether it is ``held``, then waits for the next break and says
    when its turn is over. A loop and its reader can leave breaks so short that a thread which is woken in one finds the
    interpreter taken again, for seconds: so a turn that is not over when the next one is due is waited for.
    """

    def __init__(self) -> None:
        self.held = False
        self._begun, self._over = threading.Event(), threading.Event()
        self._over.set()
        self._next = 0  # [ns]

    def __enter__(self) -> Breaks:
        self.held = True
        return self

    def __exit__(self, *_: object) -> None:
        self.held = False
        self._begun.set()

    def begin(self, now: int) -> None:
        """The loop is done with a tick; ``now`` on the steady clock [ns]."""
        if now < self._next:
            return
        self._next = now + TURN
        if self._over.is_set():
            self._over.clear()
            self._begun.set()
        else:
            self._over.wait(HAND_OVER)

    def wait(self, seconds: float) -> None:
        """Until a break begins, or the time is over."""
        self._begun.wait(seconds)
        self._begun.clear()

    def end(self) -> None:
        """The other thread has done what it had to do in its turn."""
        self._over.set()


class TickPace:
    """Absolute deadlines on the steady clock, a period apart. Late ticks are caught up, a pause is not."""

    def __init__(self, period: float, breaks: Breaks | None = None) -> None:
        self.period = round(1e9 * period)  # [ns]
        self.deadline = self._woke = time.monotonic_ns()
        self._breaks = breaks

    def wait(self) -> bool:
        """Sleep until the next deadline; False if it has passed already. Never spins: others need the interpreter."""
        self.deadline += self.period
        now = time.monotonic_ns()
        if self._breaks is not None:
            self._breaks.begin(now)
        left, pause = self.deadline - now, PAUSE * self.period
        if left < -pause:
            self.deadline = now
        time.sleep(1e-9 * max(left, REST * min(now - self._woke, pause)))
        self._woke = time.monotonic_ns()
        return left > 0


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
        if not self.ticks:
            return 0.0
        times = self.times
        k = min(int(share / 100 * times.size), times.size - 1)
        return 1e6 * float(np.partition(times, k)[k])  # a fifth of the time of np.percentile
