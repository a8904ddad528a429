"""A recording of many topics: messages as they came, what was lost on the way, and a new file when one is full.

Losses are known from the publishers' own numbers: each message carries its place in its publisher's sequence, which
also stands in the file, so that anybody can count again. The totals are in the metadata of every file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mcap.opcode import Opcode

from humanoid_balance.recording.mcap_file import Batch, McapFile

HEAD = struct.Struct("<BQHIQQ")  # of a message record: opcode, length, channel, sequence, log and publish time [ns]
NUMBERED = "numbered by the publishers"  # key of the metadata: the middleware told the numbers
REST = 22  # bytes of the head behind the length
WAITING = 8  # batches that may wait for the disk before the recorder waits for it, too


@dataclass
class RecordedTopic:
    """One topic of the bag."""

    topic: str
    kind: str
    schema: str
    latched: bool  # its last message stands at the beginning of every file
    counted: bool  # it has one publisher, whose numbers tell what was lost
    count: int = 0
    lost: int = 0
    before: int = 0  # messages that were sent before the first one came
    number: int | None = None  # of the last message, by its publisher
    last: bytes = b""  # a latched message

    def note(self, data: bytes, number: int | None) -> None:
        """Count a message; a number that goes back is that of a publisher started anew."""
        self.count += 1
        if self.latched:
            self.last = data
        if number is None or not self.counted:
            return
        if self.number is None:
            self.before = number - 1
        elif number > self.number:
            self.lost += number - self.number - 1
        self.number = number


Message = tuple[int, int, int, bytes]  # arrival [ns], index of the stream, number, data


class Bag:
    """Takes messages at little cost; a thread packs and writes them. Close it."""

    def __init__(self, path: Path, about: dict[str, str], limit: int = 0, keep: int = 0) -> None:
        """A file that has reached ``limit`` [B] is followed by the next; the newest ``keep`` stay, 0: all of them."""
        self.streams: list[RecordedTopic] = []
        self.files = [path]
        self._path, self._about, self._limit, self._keep = path, about, limit, keep
        self._file = McapFile(path)  # it shows at once whether it can be written
        self._part, self._begun = 1, False
        self._messages: list[Message] = []
        self._thread = ThreadPoolExecutor(1, "bag")
        self._pending: list[Future[None]] = []

    def stream(self, topic: str, kind: str, schema: str, latched: bool, counted: bool) -> Callable[..., None]:
        """Open a topic, before the first message; what takes its messages: data, arrival [ns], number."""
        stream, index = RecordedTopic(topic, kind, schema, latched, counted), len(self.streams)
        self.streams.append(stream)

        def take(data: bytes, arrived: int, number: int | None) -> None:
            stream.note(data, number)
            self._messages.append((arrived, index, number or 0, data))

        return take

    @property
    def count(self) -> int:
        return sum(stream.count for stream in self.streams)

    @property
    def lost(self) -> dict[str, int]:
        """Topic -> messages that were published while the recorder listened, and never came."""
        return {stream.topic: stream.lost for stream in self.streams if stream.lost}

    def flush(self) -> None:
        """Hand over what came, in the order of arrival; raises what went wrong with the disk."""
        while self._pending and (self._pending[0].done() or len(self._pending) > WAITING):
            self._pending.pop(0).result()
        messages, self._messages = sorted(self._messages), []
        if messages:
            self._pending.append(self._thread.submit(self._write, messages, self._told()))

    def _told(self) -> dict[str, str]:
        lost, before = self.lost, {s.topic: s.before for s in self.streams if s.before and not s.latched}
        return {
            **self._about, NUMBERED: "yes" if any(s.number is not None for s in self.streams) else "no",
            "messages": str(self.count), "lost": str(sum(lost.values())),
            **{f"lost {topic}": str(count) for topic, count in lost.items()},
            **{f"before {topic}": str(count) for topic, count in before.items()},
        }  # fmt: skip

    def _write(self, messages: list[Message], told: dict[str, str]) -> None:
        if self._limit and self._file.size >= self._limit:
            self._next()
        if not self._begun:
            self._begin(messages[0][0])
        self._file.about = {**told, "part": str(self._part)}
        self._file.write(self._batch(messages))

    def _begin(self, time: int) -> None:
        for stream in self.streams:
            self._file.channel(stream.topic, stream.kind, latched=stream.latched, schema=stream.schema)
        self._begun = True
        known = [(time, k, s.number or 0, s.last) for k, s in enumerate(self.streams) if s.last]
        if self._part > 1 and known:
            self._file.write(self._batch(known))

    def _next(self) -> None:
        self._file.close()
        self._part += 1
        self.files.append(self._path.with_stem(f"{self._path.stem}_{self._part}"))
        self._file, self._begun = McapFile(self.files[-1]), False
        if self._keep and len(self.files) > self._keep:
            self.files.pop(0).unlink(missing_ok=True)

    @staticmethod
    def _batch(messages: list[Message]) -> Batch:
        batch, offset = Batch(), 0
        places: dict[int, tuple[list[int], list[int]]] = {}
        for arrived, stream, _, data in messages:
            times, offsets = places.setdefault(stream + 1, ([], []))
            times.append(arrived)
            offsets.append(offset)
            offset += HEAD.size + len(data)
        for channel, (times, offsets) in places.items():
            batch.mark(channel, np.array(times), np.array(offsets))
        pack, opcode = HEAD.pack, Opcode.MESSAGE
        parts = [
            part
            for arrived, stream, number, data in messages
            for part in (pack(opcode, REST + len(data), stream + 1, number & 0xFFFFFFFF, arrived, arrived), data)
        ]
        batch.put(b"".join(parts))
        return batch

    def close(self) -> None:
        """Write the rest, and the last word about what was lost."""
        try:
            self.flush()
            for pending in self._pending:
                pending.result()
            self._file.about = {**self._told(), "part": str(self._part)}
        finally:
            self._thread.shutdown()
            self._file.close()
