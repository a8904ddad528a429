"""A process that was given a real-time rank loads without it, and works with it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

WORK = """
import os, threading
from humanoid_balance.nodes import rank
done = threading.Event()
def threads():
    threading.Thread(target=done.wait, daemon=True).start()
    all = map(int, os.listdir("/proc/self/task"))
    return sorted({(os.sched_getscheduler(t), os.sched_getparam(t).sched_priority) for t in all})
rank.put_off()
print(threads())
rank.take_up()
print(threads())
"""


def ranks(policy: int, priority: int) -> list[str]:
    """Of all threads: while the process loads, and while it works."""

    def prepare() -> None:
        os.sched_setscheduler(0, policy, os.sched_param(priority))

    try:
        done = subprocess.run([sys.executable, "-c", WORK], preexec_fn=prepare, capture_output=True, text=True)
    except subprocess.SubprocessError:
        pytest.skip("real-time priority is not permitted here")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_rank_is_put_off_while_a_process_loads_and_then_all_its_threads_have_it() -> None:
    assert ranks(os.SCHED_FIFO, 7) == [str([(os.SCHED_OTHER, 0)]), str([(os.SCHED_FIFO, 7)])]


def test_a_process_without_a_rank_gets_none() -> None:
    assert ranks(os.SCHED_OTHER, 0) == [str([(os.SCHED_OTHER, 0)])] * 2


GIVE = """
import os, threading
from humanoid_balance.nodes import rank
given, done = threading.Event(), threading.Event()
threading.Thread(target=done.wait, daemon=True).start()
thread = threading.Thread(target=lambda: (rank.give(5), given.set(), done.wait()), daemon=True)
thread.start()
given.wait()
all = {int(t): os.sched_getparam(int(t)).sched_priority for t in os.listdir("/proc/self/task")}
print(all.pop(thread.native_id), sorted(set(all.values())))
"""


@pytest.mark.parametrize(("had", "then"), [(0, "5 [4]"), (7, "7 [7]")])
def test_a_loop_gets_a_rank_and_its_process_the_one_below_unless_they_have_a_higher_one(had: int, then: str) -> None:
    first = f"import os; os.sched_setscheduler(0, {int(had > 0)}, os.sched_param({had}))\n"  # 1 is SCHED_FIFO
    done = subprocess.run([sys.executable, "-c", first + GIVE], capture_output=True, text=True)
    if "PermissionError" in done.stderr:
        pytest.skip("real-time priority is not permitted here")
    assert done.stdout.strip() == then, done.stderr


def test_a_rank_that_would_not_come_back_is_kept() -> None:
    keep = WORK.replace("rank.put_off()", "rank._comes_back = lambda *_: False; rank.put_off()")
    done = subprocess.run(
        [sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(7))\n" + keep],
        capture_output=True, text=True,
    )  # fmt: skip
    if "PermissionError" in done.stderr:
        pytest.skip("real-time priority is not permitted here")
    assert done.stdout.splitlines() == [str([(os.SCHED_FIFO, 7)])] * 2, done.stderr
