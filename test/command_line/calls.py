"""Commands called in this process or started as one of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

PUSH = ("push", "--force", "60", "--duration", "0.1", "--direction", "0")
SHORT = (*PUSH, "--at", "0.5", "--time", "1.5")


class Ended:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.code == 0, self.err
        assert self.out.endswith("\n") and self.out.count("\n") == 1
        return json.loads(self.out)


Call = Callable[..., Ended]


def start(*arguments: object) -> subprocess.Popen[str]:
    """The command in a process group of its own, as a terminal starts it."""
    command = [sys.executable, "-m", "humanoid_balance.cli", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
        # A test run in the background ignores the interrupt; the process under test must not inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
