"""Every box's data at the full rate in one MCAP file, as standard ROS 2 messages.

The topics have the names of the running system, so the log reads like a recorded bag: in Foxglove, with ``ros2 bag``,
``rosbags`` or ``mcap``. What the live system does not publish stands under ``/estimate``, ``/reference``,
``/solution`` (the verdict of the whole-body QP), ``/command`` and ``/truth``. Times are those of the run, from 0.
"""

from __future__ import annotations

import struct
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from mcap.opcode import Opcode

from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.recording import log_topics
from humanoid_balance.recording.cdr import STAMP, Slot, Template
from humanoid_balance.recording.link_tree import LinkTree
from humanoid_balance.recording.mcap_file import Batch, McapFile
from humanoid_balance.recording.tick_row import TickRow, verdict_words
from humanoid_balance.recording.wish_notes import KINDS, WishNotes
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

CHUNK = 100  # ticks written at once; two such batches are lost when the process is killed
ORDER = 11  # where in a message record sequence, log time and publish time stand, together 20 bytes
TF_EVERY = 20  # transforms are for the eye: one in so many ticks

Note = tuple[str, float, bytes]  # a message of changing length: topic, stamp [s], data


class LogWriter:
    """Takes every tick of a run at little cost; a thread writes them in batches. Close it, or use it in ``with``."""

    def __init__(self, robot: Robot, path: Path) -> None:
        self.robot = robot
        self._file, self._tree = McapFile(path), LinkTree(robot)
        self._file.about["robot"] = robot.spec
        self._filled, self._ticks = 0, 0
        self._tick = TickRow(robot.n)
        self._lay_out()
        self._texts: dict[str, str] = {}  # the last one of each topic
        self._channels = {f"/{topic}": self._file.channel(f"/{topic}", kind) for topic, kind in KINDS.items()}
        self._wishes = WishNotes()
        self._notes: list[Note] = []
        self._thread = ThreadPoolExecutor(1, "log")
        self._pending: Future[None] | None = None

    def add(self, tick: Tick, truth: Truth) -> None:
        """``truth`` belongs to the moment the sensor frame was read."""
        if not self._texts:
            self._note(*log_topics.fixed(self.robot, self._tree), truth.stamp)
            self._note("/robot_description", "std_msgs/String", {"data": self.robot.urdf}, truth.stamp)
        self._tick.put(tick, truth, self._rows[self._filled, : self._tick.width])
        words = {"/balance/mode": tick.reference.mode, "/estimate/faults": ", ".join(tick.state.faults)}
        for topic, text in (words | verdict_words(tick.solution)).items():
            self._tell(topic, text, truth.stamp)
        for topic, value in self._wishes.of(tick.command, truth.stamp):
            self._note(f"/{topic}", KINDS[topic], value, truth.stamp)
        self._filled += 1
        if self._filled == CHUNK:
            self._hand_over()

    def _tell(self, topic: str, text: str, stamp: float) -> None:
        """A text, when it changes."""
        if self._texts.get(topic) != text:
            self._texts[topic] = text
            self._note(topic, "std_msgs/String", {"data": text}, stamp)

    def _note(self, topic: str, kind: str, value: Any, stamp: float) -> None:
        if topic not in self._channels:
            self._channels[topic] = self._file.channel(topic, kind, latched=True)
        self._notes.append((topic, stamp, bytes(Template(kind, value).bytes)))

    def _lay_out(self) -> None:
        """A row: the tick's numbers, then what follows from them, the stamp at the end."""
        self._columns, width = dict(self._tick.columns), self._tick.width

        def reserve(name: str, count: int) -> slice:
            nonlocal width
            self._columns[name] = np.arange(width, width + count)
            width += count
            return slice(width - count, width)

        turns = {name: columns for name, columns in self._tick.columns.items() if name.endswith("rotation")}
        self._turns = np.concatenate(list(turns.values()))
        made = [reserve(f"{name}.quaternion", 4 * columns.size // 9) for name, columns in turns.items()]
        self._quaternions = slice(made[0].start, made[-1].stop)
        self._support = reserve("support", self._columns["state.support"].size // 2 * 3)
        reserve("links", 4 * len(self._tree.moving))
        self._columns["state.q.joints"] = self._columns["state.q"][7:]
        self._columns["state.v.joints"] = self._columns["state.v"][6:]
        self._rows, self._other = np.zeros((2, CHUNK, width + len(STAMP)))
        topics = log_topics.every_tick(self.robot, self._columns, self._tree.root)
        self._every_tick = _Table(self._file, topics, CHUNK)
        self._transforms = _Table(self._file, [log_topics.moving(self._tree, self._columns)], CHUNK // TF_EVERY)

    def flush(self) -> None:
        """Have all that was added on disk."""
        self._hand_over()
        if self._pending is not None:
            self._pending.result()
            self._pending = None

    def _hand_over(self) -> None:
        """Give the filled rows to the writing thread, as soon as it has finished those before."""
        if not self._filled:
            return
        if self._pending is not None:
            self._pending.result()
        self._pending = self._thread.submit(self._write, self._rows[: self._filled], self._notes, self._ticks)
        self._ticks += self._filled
        self._rows, self._other = self._other, self._rows
        self._filled, self._notes = 0, []

    def _write(self, rows: Array, notes: list[Note], ticks: int) -> None:
        batch, columns = Batch(), self._columns
        for topic, stamp, data in notes:
            time = round(1e9 * stamp)
            batch.mark(self._channels[topic], np.array([time]), np.array([batch.size]))
            batch.put(_record(self._channels[topic], time, len(data)) + data)
        times = np.round(1e9 * rows[:, columns["truth.stamp"][0]]).astype(np.int64)
        rows[:, STAMP] = np.column_stack(np.divmod(times, 10**9))
        turns = log_topics.quaternions(rows[:, self._turns].reshape(-1, 3, 3))
        rows[:, self._quaternions] = turns.reshape(len(rows), -1)
        rows[:, self._support] = log_topics.polygons(rows[:, columns["state.support"]]).reshape(len(rows), -1)
        self._every_tick.fill(batch, rows, times, ticks)
        seen = slice(-ticks % TF_EVERY, None, TF_EVERY)
        shown = rows[seen]
        shown[:, columns["links"]] = self._tree.quaternions(shown[:, columns["state.q.joints"]]).reshape(len(shown), -1)
        self._transforms.fill(batch, shown, times[seen], -(-ticks // TF_EVERY))
        self._file.write(batch)

    def close(self) -> None:
        """Write the rest."""
        try:
            self.flush()
        finally:
            self._thread.shutdown()
            self._file.close()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Table:
    """Topics with one message a tick: a tick is a row of bytes that only differs in its numbers."""

    def __init__(self, file: McapFile, topics: list[log_topics.Topic], capacity: int) -> None:
        row = bytearray()
        self.starts: list[tuple[int, int]] = []  # channel, offset of its record
        self.slots: list[Slot] = []
        for name, kind, value in topics:
            channel, template = file.channel(name, kind), Template(kind, value)
            self.starts.append((channel, len(row)))
            row += _record(channel, 0, len(template.bytes))
            self.slots += [replace(slot, offset=slot.offset + len(row)) for slot in template.slots]
            row += template.bytes
        self.table = np.tile(np.frombuffer(row, dtype=np.uint8), (capacity, 1))

    def fill(self, batch: Batch, rows: Array, times: Any, sequence: int) -> None:
        """Append the messages of ``rows`` (k, columns) to a batch."""
        table = self.table[: len(rows)]
        order = np.empty(len(rows), dtype=[("sequence", "<u4"), ("log", "<u8"), ("publish", "<u8")])
        order["sequence"], order["log"], order["publish"] = sequence + np.arange(len(rows)), times, times
        order_bytes, row_bytes = _bytes(order), _bytes(rows)
        offsets = batch.size + table.shape[1] * np.arange(len(rows))
        for channel, start in self.starts:
            table[:, start + ORDER : start + ORDER + 20] = order_bytes
            batch.mark(channel, times, offsets + start)
        for slot in self.slots:
            values = row_bytes[:, 8 * slot.first : 8 * (slot.first + slot.count)]
            if slot.number != "<f8":
                last = slot.first + slot.count
                values = _bytes(rows[:, slot.first : last or None].astype(slot.number))
            table[:, slot.offset : slot.offset + values.shape[1]] = values
        batch.put(table)


def _bytes(values: Any) -> Any:
    """Each row of numbers as a row of bytes."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)


def _record(channel: int, time: int, length: int) -> bytes:
    """Head of an MCAP message record: opcode, length, channel, sequence, log and publish time [ns]."""
    return struct.pack("<BQHIQQ", Opcode.MESSAGE, 22 + length, channel, 0, time, time)
