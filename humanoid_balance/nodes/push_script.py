"""A push experiment: a list of pushes in a YAML file, and what came of each."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from humanoid_balance import yaml_file
from humanoid_balance.errors import InputError
from humanoid_balance.plants import push_file
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.ros.push import HOLD
from humanoid_balance.types import Array

SAMPLE = 0.01  # between two messages of a force that changes [s]
QUIET = 0.05  # CoM speed of a robot that recovered [m/s]
REST = 4.0  # [s]


@dataclass(frozen=True)
class PushScript:
    """``rest`` passes after each push before the next one begins [s]."""

    pushes: tuple[PushProfile, ...]
    rest: float = REST


def load(file: Path) -> PushScript:
    """Read and check a list of pushes."""
    reader = yaml_file.read(file)
    pushes = tuple(push_file.read(entry, start=0.0) for entry in reader.sections("pushes"))
    rest = reader.number("rest", REST, 0.5, 600.0)
    reader.done("pushes, rest")
    return PushScript(pushes, rest)


def samples(push: PushProfile) -> Iterator[tuple[float, Array]]:
    """Time after the beginning [s] and force [N] of the messages that make up a push; the last one ends it."""
    step = HOLD if push.profile == "constant" else SAMPLE
    for k in range(math.ceil(push.duration / step - 1e-9)):
        yield k * step, push.force_at(push.start + k * step) * push.axis
    yield push.duration, 0.0 * push.axis


@dataclass
class PushOutcome:
    """What came of one push. Times are of the robot's clock; CoM and speed as estimated."""

    number: int
    force: float  # [N]
    duration: float  # [s]
    direction: float  # [deg]
    impulse: float  # [N s]
    dv: float  # impulse over mass [m/s]
    start: float  # [s]
    fell: bool = False
    modes: str = ""
    recovery_time: float | None = None  # after the push ended [s]; empty when not recovered
    com_moved: float = 0.0  # farthest from where it stood [m]


@dataclass
class Watcher:
    """Follows the robot from a push to the next."""

    outcome: PushOutcome
    from_com: Array
    modes: list[str] = field(default_factory=list)
    _quiet_since: float | None = None

    def see_mode(self, mode: str) -> None:
        if not self.modes or self.modes[-1] != mode:
            self.modes.append(mode)

    def see_com(self, stamp: float, com: Array, velocity: Array) -> None:
        out = self.outcome
        if stamp < out.start:
            return
        out.com_moved = max(out.com_moved, math.hypot(*(com - self.from_com)[:2]))
        if stamp < out.start + out.duration or math.hypot(*velocity) >= QUIET:
            self._quiet_since = None
        elif self._quiet_since is None:
            self._quiet_since = stamp

    def done(self, fell: bool) -> PushOutcome:
        out = self.outcome
        out.fell, out.modes = fell, " > ".join(self.modes)
        if not fell and self._quiet_since is not None:
            out.recovery_time = round(max(0.0, self._quiet_since - out.start - out.duration), 3)
        return out


class CsvFile:
    """A row for each push, on disk as soon as it is known."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise InputError(f"parameter 'csv': {path} cannot be written: {error.strerror}") from None
        self._writer = csv.DictWriter(self._file, [f.name for f in fields(PushOutcome)])
        self._writer.writeheader()

    def add(self, outcome: PushOutcome) -> None:
        row = {key: round(v, 4) if isinstance(v, float) else v for key, v in vars(outcome).items()}
        self._writer.writerow(row)
        self._file.flush()

    def close(self) -> None:
        self._file.close()
