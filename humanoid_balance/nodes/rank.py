"""Real-time ranks of a process: what its threads get, and when.

A process that starts is not urgent: the rank that it was given (``chrt -f 50 …``) waits until it works.

To load a node takes seconds of one core. With a real-time rank nobody else gets that core; after 0.95 s Linux lets the
others have it for 50 ms (docs/ros.md, real-time set-up), and takes it from every real-time thread there. So a node that
is started anew beside an armed robot would stop the loops of the others for longer than the boards wait.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

REAL_TIME = (getattr(os, "SCHED_FIFO", -1), getattr(os, "SCHED_RR", -1))
THREADS = Path("/proc/self/task")

PRIORITY = 50  # SCHED_FIFO, of what drives a real robot or stands in for it: boards wait 20 ms for a tick, not longer
NICE = -15  # of a process that loads: before those without a rank, behind those that work

_put_off: list[tuple[int, int, int]] = []  # policy, priority and niceness of the process, until it takes them up again


def put_off() -> None:
    """Go on without the rank, as far as it can be had back."""
    if not hasattr(os, "sched_getscheduler") or _put_off:
        return
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    if policy in REAL_TIME and _comes_back(policy, priority):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        _put_off.append((policy, priority, os.getpriority(os.PRIO_PROCESS, 0)))
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, NICE)


def take_up() -> None:
    """All threads get the rank of the process, but those that have one of their own."""
    if not _put_off:
        return
    policy, priority, nice = _put_off.pop()
    for thread in [int(entry.name) for entry in THREADS.iterdir()]:
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.setpriority(os.PRIO_PROCESS, thread, nice)
            if os.sched_getscheduler(thread) not in REAL_TIME:
                os.sched_setscheduler(thread, policy, os.sched_param(priority))


def give(priority: int) -> None:
    """The calling thread, a loop, gets this SCHED_FIFO rank, all other threads of the process the one below.

    The loop needs them: whoever holds the interpreter or sends its messages, and is kept from a core by other work,
    keeps the loop waiting. A higher rank stays. A PermissionError where the system does not allow it.
    """
    loop = threading.get_native_id()
    _at_least(loop, priority)
    for thread in [int(entry.name) for entry in THREADS.iterdir()]:
        if thread != loop:
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                _at_least(thread, max(1, priority - 1))


def _at_least(thread: int, priority: int) -> None:
    if os.sched_getscheduler(thread) not in REAL_TIME or os.sched_getparam(thread).sched_priority < priority:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))


def _comes_back(policy: int, priority: int) -> bool:
    """Tried on a thread that has nothing else to do: who started the process may have had more rights."""
    granted = []

    def try_it() -> None:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            os.sched_setscheduler(0, policy, os.sched_param(priority))
            granted.append(True)

    trial = threading.Thread(target=try_it)
    trial.start()
    trial.join()
    return bool(granted)
