"""What all tests of the command line use."""

from __future__ import annotations

from typing import Any

import pytest
from command_line.calls import Call, Ended

from humanoid_balance import cli


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function: arguments -> exit code and output."""

    def run(*arguments: object) -> Ended:
        try:
            code: Any = cli.main([str(a) for a in arguments])
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run
