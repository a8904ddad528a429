"""What an experiment has already done: a line of JSON for every finished run, on disk before the next is asked for.

A process that is killed while it writes leaves half a line at the end; that run is done again. Anything else that is no
result is an error: a journal is not repaired by guessing.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from humanoid_balance.errors import InputError


class Journal:
    """``done`` maps the key of a run to its result. One process at a time may hold it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise InputError(f"{file}: cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._handle)
            raise InputError(f"{file}: another process is running this experiment") from None
        try:
            self.done = self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> dict[str, dict[str, Any]]:
        data = self.file.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._handle, whole)
        done = {}
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                done[entry["key"]] = dict(entry["result"])
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{self.file}: line {number} is no result; mend or remove it") from None
        return done

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result, for good."""
        line = (json.dumps({"key": key, "result": result}) + "\n").encode()
        while line:
            line = line[os.write(self._handle, line) :]
        os.fsync(self._handle)
        self.done[key] = result

    def close(self) -> None:
        os.close(self._handle)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
