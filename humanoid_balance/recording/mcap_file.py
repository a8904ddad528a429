"""An MCAP file that is complete at every moment.

Every batch of messages is written together with a fresh summary behind it, which the next batch overwrites. Whatever
happens to the process, the file on disk opens and is indexed; at most the messages not yet handed over are missing.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import zstandard
from mcap import records
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from humanoid_balance import __version__
from humanoid_balance.recording import cdr
from humanoid_balance.types import Array

LEVEL = -1  # of zstd: nearly as small as 1, a third faster
PATIENT = 1000  # chunks up to which each gets a summary; longer files renew it ever more rarely

ABOUT = "humanoid_balance"  # name of the metadata record: robot, namespace, what the recorder lost

EVER = "{{sec: 9223372036, nsec: 854775807}}"
QOS = (  # of a topic, as rosbag2 writes it
    "- {{history: keep_last, depth: 1, reliability: reliable, durability: {}, "
    f"deadline: {EVER}, lifespan: {EVER}, liveliness: automatic, liveliness_lease_duration: {EVER}, "
    "avoid_ros_namespace_conventions: false}}\n"
)


@dataclass
class Batch:
    """Message records one behind the other, and where they are: channel -> (log time [ns], offset), a row each."""

    parts: list[Any] = field(default_factory=list)  # buffers of bytes; they must not change before they are written
    size: int = 0
    index: dict[int, list[Array]] = field(default_factory=dict)
    first: int = 2**63
    last: int = 0

    def put(self, data: Any) -> None:
        """Append whole records."""
        self.parts.append(data)
        self.size += memoryview(data).nbytes

    def mark(self, channel: int, times: Array, offsets: Array) -> None:
        """Note messages of a channel: log times, in order, and where their records begin."""
        if len(times):
            rows = np.empty((len(times), 2), dtype="<u8")
            rows[:, 0], rows[:, 1] = times, offsets
            self.index.setdefault(channel, []).append(rows)
            self.first, self.last = min(self.first, int(times[0])), max(self.last, int(times[-1]))


class McapFile:
    """Channels first, then batches. Topics and types are those of ROS 2."""

    def __init__(self, path: Path) -> None:
        self.about: dict[str, str] = {}  # told in the file as the metadata record ``ABOUT``; may change at any time
        self._file = path.open("wb", buffering=0)
        self._channels: list[records.Channel] = []
        self._schemas: dict[str, records.Schema] = {}
        self._counts: dict[int, int] = {}
        self._heading = b""  # records of schemas and channels
        self._chunks = 0
        self._chunk_indices = bytearray()
        self._first, self._last = 2**63, 0
        head = RecordBuilder()
        head.write(MCAP0_MAGIC)
        records.Header(profile="ros2", library=f"humanoid_balance {__version__}").write(head)
        self._end = self._write(0, head.end())
        self._finish(b"")

    def channel(self, topic: str, kind: str, latched: bool = False, schema: str | None = None) -> int:
        """Open a topic, before the first batch; the number of its channel. ``schema`` defines a kind unknown here."""
        if kind not in self._schemas:
            package, name = kind.split("/")
            text = (schema or cdr.schema(kind)).encode()
            self._schemas[kind] = records.Schema(
                id=len(self._schemas) + 1, name=f"{package}/msg/{name}", encoding="ros2msg", data=text
            )
        qos = QOS.format("transient_local" if latched else "volatile")
        number, of = len(self._channels) + 1, self._schemas[kind].id
        self._channels.append(
            records.Channel(
                id=number, topic=topic, message_encoding="cdr", metadata={"offered_qos_profiles": qos}, schema_id=of
            )
        )
        return number

    def write(self, batch: Batch) -> None:
        """Append a batch as one chunk with its index."""
        out = RecordBuilder()
        if not self._chunks:
            self._heading = self._channel_records()
            out.write(self._heading)
        squeeze = zstandard.ZstdCompressor(level=LEVEL).compressobj(size=batch.size)
        packed = b"".join([*(squeeze.compress(part) for part in batch.parts), squeeze.flush()])
        start = self._end + out.count
        records.Chunk(
            compression="zstd", data=packed, message_start_time=batch.first, message_end_time=batch.last,
            uncompressed_crc=0, uncompressed_size=batch.size,
        ).write(out)  # fmt: skip
        length, places = self._end + out.count - start, {}
        for channel, parts in batch.index.items():
            rows = np.concatenate(parts)
            places[channel] = self._end + out.count
            out.write(struct.pack("<BQHI", Opcode.MESSAGE_INDEX, 6 + rows.nbytes, channel, rows.nbytes))
            out.write(rows.tobytes())
            self._counts[channel] = self._counts.get(channel, 0) + len(rows)
        index = RecordBuilder()
        records.ChunkIndex(
            chunk_length=length, chunk_start_offset=start, compression="zstd", compressed_size=len(packed),
            message_start_time=batch.first, message_end_time=batch.last, message_index_offsets=places,
            message_index_length=self._end + out.count - start - length, uncompressed_size=batch.size,
        ).write(index)  # fmt: skip
        self._chunk_indices += index.end()
        self._chunks += 1
        self._first, self._last = min(self._first, batch.first), max(self._last, batch.last)
        self._finish(out.end(), summary=self._chunks % (1 + self._chunks // PATIENT) == 0)

    def _channel_records(self) -> bytes:
        out = RecordBuilder()
        for record in (*self._schemas.values(), *self._channels):
            record.write(out)
        return bytes(out.end())

    def _finish(self, data: bytes, summary: bool = True) -> None:
        """Write data behind the last, and in the same breath what closes the file."""
        tail = RecordBuilder()
        if summary:
            about = records.Metadata(name=ABOUT, metadata=self.about)
            about.write(tail)
            index = records.MetadataIndex(offset=self._end + len(data), length=tail.count, name=ABOUT)
            records.DataEnd(data_section_crc=0).write(tail)
            start = self._end + len(data) + tail.count
            tail.write(self._heading)
            records.Statistics(
                attachment_count=0, channel_count=len(self._channels), channel_message_counts=self._counts,
                chunk_count=self._chunks, message_count=sum(self._counts.values()), message_end_time=self._last,
                message_start_time=self._first if self._chunks else 0, metadata_count=1,
                schema_count=len(self._schemas),
            ).write(tail)  # fmt: skip
            tail.write(self._chunk_indices)
            index.write(tail)
            records.Footer(summary_start=start, summary_offset_start=0, summary_crc=0).write(tail)
            tail.write(MCAP0_MAGIC)
        end = self._end + len(data)
        self._file.truncate(self._write(self._end, data + tail.end()))
        self._end = end

    @property
    def size(self) -> int:
        """Of the messages on disk, compressed [B]."""
        return self._end

    def _write(self, at: int, data: bytes) -> int:
        self._file.seek(at)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        return at + len(data)

    def close(self) -> None:
        if not self._file.closed:
            self._finish(b"")
            self._file.close()

    def __enter__(self) -> McapFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
