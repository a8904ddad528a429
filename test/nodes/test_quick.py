"""Messages as bytes: what others make of ours, and what we make of theirs, is the message."""

from __future__ import annotations

from array import array
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String

from humanoid_balance.nodes import quick

CHANCE = np.random.default_rng(7)
NAMES = ["a", "left_knee_joint", "", "größe"]


def numbers(count: int) -> array[float]:
    return array("d", CHANCE.normal(size=count).tobytes())


def joints(named: int, *counts: int, frame: str = "") -> JointState:
    position, velocity, effort = (numbers(count) for count in counts)
    message = JointState(name=(NAMES * 8)[:named], position=position, velocity=velocity, effort=effort)
    message.header.stamp.sec, message.header.stamp.nanosec, message.header.frame_id = 12, 345, frame
    return message


def vector(to: Any) -> None:
    to.x, to.y, to.z = CHANCE.normal(size=3).tolist()


def imu(frame: str) -> Imu:
    message = Imu(orientation_covariance=CHANCE.normal(size=9), linear_acceleration_covariance=CHANCE.normal(size=9))
    message.header.stamp.sec, message.header.frame_id, message.orientation.x = -3, frame, 0.5
    vector(message.angular_velocity)
    vector(message.linear_acceleration)
    return message


def wrench(frame: str) -> WrenchStamped:
    message = WrenchStamped()
    message.header.stamp.nanosec, message.header.frame_id = 999_999_999, frame
    vector(message.wrench.force)
    vector(message.wrench.torque)
    return message


def rows(count: int, *labels: str) -> Float64MultiArray:
    message = Float64MultiArray(data=numbers(count))
    message.layout.dim = [MultiArrayDimension(label=label, size=3, stride=k) for k, label in enumerate(labels)]
    message.layout.data_offset = 9
    return message


FRAMES = ["", "a", "ab", "abc", "abcd", "l_sole", "imu_in_pelvis"]  # every alignment of what follows
COUNTS = [(29, 29, 29, 29), (3, 3, 0, 3), (3, 3, 3, 0), (2, 0, 0, 5), (0, 0, 0, 0)]
MESSAGES = [
    *(make(frame) for make in (imu, wrench) for frame in FRAMES),
    *(joints(*counts, frame=frame) for counts in COUNTS for frame in FRAMES[:3]),
    *(rows(count, *labels) for count in (0, 1, 300) for labels in ((), ("x",), ("/node#1 2.000000003 damp", "ab"))),
]


def same(heard: Any, message: Any) -> None:
    """All that was read is as the message has it."""
    if isinstance(heard, SimpleNamespace):
        for name, value in vars(heard).items():
            same(value, getattr(message, name))
    elif isinstance(heard, list):
        assert len(heard) == len(message)
        for one, other in zip(heard, message, strict=True):
            same(one, other)
    elif isinstance(heard, np.ndarray):
        assert heard.tolist() == list(message)
    else:
        assert heard == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_bytes_are_the_message_both_ways(message: Any) -> None:
    assert deserialize_message(quick.encode(message), type(message)) == message
    decode = quick.decoder(type(message))
    assert decode is not None
    for data in (serialize_message(message), quick.encode(message), serialize_message(message)):
        same(decode(data), message)


def test_joint_names_that_change_are_read_again() -> None:
    decode = quick.decoder(JointState)
    assert decode is not None
    for message in (joints(3, 3, 3, 3), joints(4, 4, 4, 4), joints(3, 3, 3, 3, frame="world"), joints(2, 2, 2, 2)):
        same(decode(serialize_message(message)), message)


def test_other_encodings_go_the_long_way_and_rubbish_is_named() -> None:
    message = imu("imu")
    decode = quick.decoder(Imu)
    assert decode is not None
    little = serialize_message(message)
    for data in (b"", little[:3], little[:40], b"\x00\x01\x00\x00" + b"\xff" * 40, b"\x07" * 400):
        with pytest.raises(quick.UNREADABLE):
            decode(data)
    for kind, data in ((JointState, b"\x00\x01\x00\x00" + b"\xff" * 90), (Float64MultiArray, little)):
        other = quick.decoder(kind)
        assert other is not None
        with pytest.raises(quick.UNREADABLE):
            other(data)


def test_seldom_kinds_are_left_to_rclpy() -> None:
    assert quick.decoder(String) is None
