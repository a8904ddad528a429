"""The envelope over worker processes: its result, and nothing left behind when it ends early."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line.calls import Call, start


@pytest.mark.slow
def test_envelope_tells_what_the_contract_promises(call: Call, tmp_path: Path) -> None:
    plot = tmp_path / "envelope.png"
    coarse = ("--directions", 2, "--resolution", 80, "--strategy", "in-place", "--workers", 2)
    result = call("envelope", *coarse, "--plot", plot, "--json").json
    assert set(result) == {"robot", "mass", "strategy", "duration", "directions"}
    assert (result["robot"], result["strategy"], result["duration"]) == ("human", "in-place", 0.1)
    assert [row["direction"] for row in result["directions"]] == [0.0, 180.0]
    for row in result["directions"]:
        assert set(row) == {"direction", "impulse", "dv", "steps"} and row["steps"] == 0
        assert row["dv"] == pytest.approx(row["impulse"] / result["mass"])
    assert plot.read_bytes().startswith(b"\x89PNG")


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
@pytest.mark.parametrize("after", [0.0, 3.0], ids=["starting", "working"])
def test_interrupted_envelope_ends_with_130_and_leaves_no_worker(after: float) -> None:
    """The terminal sends the interrupt to the whole group."""
    process = start("envelope", "--workers", 2, "--json")
    assert wait_until(lambda: len(children(process.pid)) >= 3, 60)  # two workers and Python's resource tracker
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err and "interrupted" in err.splitlines()[-1]
    assert wait_until(lambda: not group_lives(process.pid), 5)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
def test_killed_envelope_takes_its_workers_along() -> None:
    process = start("envelope", "--workers", 2)
    assert wait_until(lambda: len(children(process.pid)) >= 3, 60)
    process.kill()
    process.wait()
    assert wait_until(lambda: not group_lives(process.pid), 20)
    process.communicate()
