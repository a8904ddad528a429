"""A Dask scheduler and two workers, each a process of its own that a test may kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import humanoid_balance

PACKAGE = Path(humanoid_balance.__file__).parent

DaskPair = tuple[str, list["subprocess.Popen[bytes]"]]  # address of the scheduler, the workers


@contextmanager
def dask_pair(folder: Path) -> Iterator[DaskPair]:
    pytest.importorskip("distributed", reason="needs Dask, which the extra 'dask' brings")
    contact = folder / "scheduler.json"
    quiet = subprocess.DEVNULL

    def part(name: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", "--scheduler-file", str(contact), *options]
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=folder, env=os.environ | {"PYTHONPATH": "."})

    (folder / "humanoid_balance").symlink_to(PACKAGE)
    (folder / "config").symlink_to(PACKAGE.parent / "config")
    scheduler = part("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    local = ("--host", "127.0.0.1", "--no-dashboard", "--no-nanny", "--nthreads", "1")
    crew = [part("worker", *local), part("worker", *local)]
    try:
        end = time.monotonic() + 60.0
        while not contact.exists():
            assert time.monotonic() < end, "no scheduler came up"
            time.sleep(0.02)
        yield str(json.loads(contact.read_text())["address"]), crew
    finally:
        for process in (*crew, scheduler):
            process.kill()
            process.wait()
