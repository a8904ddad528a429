"""What a bag says about itself before anybody replays it: namespace, robot, rate, and what is missing.

The publishers' numbers of the messages (MCAP's sequence) tell what our recorder lost; a bag without them, as
``ros2 bag`` writes it, is judged by the stamps of its joint samples.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcap.exceptions import McapError
from mcap.reader import McapReader, make_reader

from humanoid_balance.errors import InputError
from humanoid_balance.recording.bag import NUMBERED
from humanoid_balance.recording.mcap_file import ABOUT
from humanoid_balance.types import Array

LEAD = "joint_states"  # its samples make the frames
STAMP = struct.Struct("<iI")  # of a header at the beginning of a message: seconds, nanoseconds
STAMP_AT = 4  # behind the encapsulation of CDR
GAP = 1.5  # periods between two stamps from which on a sample is missing between them
WHOLE = 0.01  # share by which a measured rate may be off a whole number of Hz to be taken for it


@contextmanager
def reading(file: Path) -> Iterator[McapReader]:
    """A reader of the file; what is wrong with it in one line."""
    try:
        with file.open("rb") as stream:
            yield make_reader(stream)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except McapError as error:
        raise InputError(f"{file}: not an MCAP file ({error or type(error).__name__})") from None


def raw(files: list[Path], topics: list[str]) -> Iterator[tuple[str, str, Any]]:
    """Topic, type and MCAP message, file by file, in the order of the log."""
    for file in files:
        with reading(file) as reader:
            for schema, channel, message in reader.iter_messages(topics=topics):
                yield channel.topic, schema.name if schema else "", message


def stamp(data: bytes) -> int:
    """Of a message that begins with a header [ns]."""
    seconds, rest = STAMP.unpack_from(data, STAMP_AT)
    return int(10**9 * seconds + rest)


@dataclass(frozen=True)
class Gaps:
    """Joint samples that are not in the bag."""

    missing: int  # between the first and the last one
    longest: float  # without a sample [s]
    at: float  # stamp at which that begins [s]
    before: int  # that were sent before the recording began


class BagFacts:
    """See the module."""

    def __init__(self, files: list[Path], namespace: str | None) -> None:
        self.files, self.about = files, self._about(files[0])
        self.prefix = self._prefix(namespace)
        self.robot = self.about.get("robot")
        numbers, stamps = [], []
        for _, _, message in raw(files, [self.prefix + LEAD]):
            stamps.append(1e-9 * stamp(message.data))
            numbers.append(message.sequence)
        if len(stamps) < 2:
            raise InputError(f"{files[0]}: {self.prefix}{LEAD} has {len(stamps)} messages; a replay needs more")
        self._stamps: Array = np.array(stamps)
        steps = np.diff(np.array(numbers, dtype=np.int64))
        self._numbered = self.about.get(NUMBERED) == "yes"
        self._steps: Array = steps.astype(float)  # whole numbers
        self._first = int(numbers[0])

    @staticmethod
    def _about(file: Path) -> dict[str, str]:
        with reading(file) as reader:
            told = [m.metadata for m in reader.iter_metadata() if m.name == ABOUT]
        return dict(told[-1]) if told else {}

    def _prefix(self, namespace: str | None) -> str:
        """Of the robot's topics: the namespace that was given, or the only one with joint samples."""
        topics: set[str] = set()
        for file in self.files:
            with reading(file) as reader:
                summary = reader.get_summary()
                topics |= {channel.topic for channel in summary.channels.values()} if summary else set()
        found = sorted(topic.removesuffix(LEAD) for topic in topics if topic.endswith(f"/{LEAD}"))
        found = [prefix for prefix in found if f"{prefix}imu" in topics] or found  # not those of an estimate
        if not found:
            raise InputError(f"{self.files[0]}: no topic {LEAD} in any namespace; allowed: a bag of a robot's sensors")
        words = ", ".join(f"'{prefix.strip('/')}'" for prefix in found)
        if namespace is None:
            if len(found) > 1:
                raise InputError(f"{self.files[0]}: has {len(found)} robots; --namespace: allowed: {words}")
            return found[0]
        wanted = f"/{namespace.strip('/')}/" if namespace.strip("/") else "/"
        if wanted not in found:
            raise InputError(
                f"--namespace '{namespace}': {self.files[0]} has no topic {wanted}{LEAD}; allowed: {words}"
            )
        return wanted

    @property
    def rate(self) -> float:
        """Of the sensors [Hz]; also where samples are missing, if the messages are numbered."""
        spans = np.diff(self._stamps)
        if self._numbered:
            forward = (self._steps > 0) & (spans > 0.0)
            spans = spans[forward] / self._steps[forward]
        spans = spans[spans > 0.0]
        if not spans.size:
            raise InputError(f"{self.files[0]}: the stamps of {self.prefix}{LEAD} stand still; give --rate")
        rate = 1.0 / float(np.median(spans))
        return float(round(rate)) if abs(rate - round(rate)) < WHOLE * rate else rate

    def gaps(self, period: float) -> Gaps:
        """What is missing. With numbers only what was sent counts: the controller did not have more than that."""
        spans = np.diff(self._stamps)
        if self._numbered:
            lost = np.where(self._steps > 1, self._steps - 1, 0)
        else:
            lost = np.where(spans > GAP * period, np.round(spans / period) - 1, 0)
        missing = int(lost.sum())
        where = int(np.argmax(np.where(lost > 0, spans, -1.0)))
        longest = float(spans[where]) if missing else 0.0
        before = self._first - 1 if self._numbered else 0
        return Gaps(missing, longest, float(self._stamps[where]), before)
