"""The messages that come and go with every tick, as bytes: rclpy converts them field by field, which took longer than
the estimate that is made of them.

``encode`` gives what ``Publisher.publish`` sends as it is; ``decoder`` makes of what came an object with the fields
that our loops read, under the names that they have in the message. The encoding is CDR, little endian, as every ROS 2
middleware on a little-endian machine speaks it; what came otherwise goes the long way.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

LITTLE = b"\x00\x01\x00\x00"  # encapsulation: plain CDR, little endian
START = len(LITTLE)  # alignment counts from here [bytes]
COUNT, STAMP, SIZES = struct.Struct("<I"), struct.Struct("<iI"), struct.Struct("<II")
NUMBER = 8  # [bytes]

UNREADABLE = (struct.error, ValueError, RuntimeError)  # what bytes that are no such message raise

Decoder = Callable[[bytes], Any]


def _padding(at: int, size: int) -> int:
    return (START - at) % size


class _Reader:
    """Walks through a message."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, START

    def stamp(self) -> SimpleNamespace:
        sec, nanosec = STAMP.unpack_from(self.data, self.at)
        self.at += STAMP.size
        return SimpleNamespace(sec=sec, nanosec=nanosec)

    def count(self) -> int:
        self.at += _padding(self.at, COUNT.size)
        (count,) = COUNT.unpack_from(self.data, self.at)
        self.at += COUNT.size
        return int(count)

    def text(self) -> str:
        length = self.count()
        self.at += length
        return self.data[self.at - length : self.at - 1].decode()

    def header(self) -> SimpleNamespace:
        return SimpleNamespace(stamp=self.stamp(), frame_id=self.text())

    def numbers(self, count: int) -> Any:
        """They are not copied."""
        if count:
            self.at += _padding(self.at, NUMBER)
        self.at += count * NUMBER
        return np.frombuffer(self.data, "<f8", count, self.at - count * NUMBER)

    def vectors(self, count: int) -> list[SimpleNamespace]:
        numbers = self.numbers(3 * count).tolist()
        return [SimpleNamespace(x=x, y=y, z=z) for x, y, z in zip(*[iter(numbers)] * 3, strict=True)]


class JointNames:
    """The names of a JointState are the same in every message: they are read once."""

    def __init__(self) -> None:
        self._bytes, self._names, self._end = b"\xff", [""], START

    def __call__(self, data: bytes) -> SimpleNamespace:
        reader = _Reader(data)
        stamp, names_at = reader.stamp(), reader.at
        if data.startswith(self._bytes, names_at):
            reader.at = self._end
        else:
            reader.text()
            self._names = [reader.text() for _ in range(reader.count())]
            self._bytes, self._end = data[names_at : reader.at], reader.at
        position, velocity, effort = (reader.numbers(reader.count()) for _ in range(3))
        header = SimpleNamespace(stamp=stamp)
        return SimpleNamespace(header=header, name=self._names, position=position, velocity=velocity, effort=effort)


def _imu(data: bytes) -> SimpleNamespace:
    reader = _Reader(data)
    header = reader.header()
    reader.numbers(4 + 9)  # orientation
    (turn,) = reader.vectors(1)
    reader.numbers(9)
    (push,) = reader.vectors(1)
    return SimpleNamespace(header=header, angular_velocity=turn, linear_acceleration=push)


def _wrench(data: bytes) -> SimpleNamespace:
    reader = _Reader(data)
    header = reader.header()
    force, torque = reader.vectors(2)
    return SimpleNamespace(header=header, wrench=SimpleNamespace(force=force, torque=torque))


def _array(data: bytes) -> SimpleNamespace:
    reader, dim = _Reader(data), []
    for _ in range(reader.count()):
        label = reader.text()
        dim.append(SimpleNamespace(label=label, size=reader.count(), stride=reader.count()))
    layout = SimpleNamespace(dim=dim, data_offset=reader.count())
    return SimpleNamespace(layout=layout, data=reader.numbers(reader.count()))


def decoder(kind: type) -> Decoder | None:
    """For one subscription; None for a kind that does not come with every tick."""
    makers: dict[type, Callable[[], Decoder]] = {
        JointState: JointNames, Imu: lambda: _imu, WrenchStamped: lambda: _wrench, Float64MultiArray: lambda: _array,
    }  # fmt: skip
    if kind not in makers:
        return None
    quick = makers[kind]()

    def decode(data: bytes) -> Any:
        return quick(data) if data.startswith(LITTLE) else deserialize_message(data, kind)

    return decode


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray(LITTLE)

    def counts(self, *counts: int) -> None:
        self.data += bytes(_padding(len(self.data), COUNT.size))
        for count in counts:
            self.data += COUNT.pack(count)

    def text(self, text: str) -> None:
        coded = text.encode()
        self.counts(len(coded) + 1)
        self.data += coded + b"\x00"

    def header(self, header: Any) -> None:
        self.data += STAMP.pack(header.stamp.sec, header.stamp.nanosec)
        self.text(header.frame_id)

    def numbers(self, numbers: bytes) -> None:
        if numbers:
            self.data += bytes(_padding(len(self.data), NUMBER)) + numbers


def _vectors(*vectors: Any) -> bytes:
    return struct.pack(f"<{3 * len(vectors)}d", *(value for v in vectors for value in (v.x, v.y, v.z)))


def encode(message: Any) -> bytes:
    """One of the four kinds."""
    writer = _Writer()
    if isinstance(message, Float64MultiArray):
        writer.counts(len(message.layout.dim))
        for dimension in message.layout.dim:
            writer.text(dimension.label)
            writer.counts(dimension.size, dimension.stride)
        writer.counts(message.layout.data_offset, len(message.data))
        writer.numbers(message.data.tobytes())
        return bytes(writer.data)
    writer.header(message.header)
    if isinstance(message, JointState):
        writer.counts(len(message.name))
        for name in message.name:
            writer.text(name)
        for values in (message.position, message.velocity, message.effort):
            writer.counts(len(values))
            writer.numbers(values.tobytes())
    elif isinstance(message, Imu):
        turn = message.orientation
        writer.numbers(struct.pack("<4d", turn.x, turn.y, turn.z, turn.w))
        writer.numbers(message.orientation_covariance.tobytes())
        writer.numbers(_vectors(message.angular_velocity) + message.angular_velocity_covariance.tobytes())
        writer.numbers(_vectors(message.linear_acceleration) + message.linear_acceleration_covariance.tobytes())
    else:
        writer.numbers(_vectors(message.wrench.force, message.wrench.torque))
    return bytes(writer.data)
