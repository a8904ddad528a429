"""A recorded bag run again: its sensors go through estimator and controller, and what comes out is compared.

Works on what ``recorder`` and ``push --log`` write, and on any MCAP bag with the topics of docs/ros.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, WrenchStamped
from mcap.exceptions import McapError
from mcap.reader import make_reader
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String

from humanoid_balance.balance.supervisor import BalanceSettings, Supervisor
from humanoid_balance.errors import InputError
from humanoid_balance.estimation import Estimator, EstimatorSettings
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.loop import Loop, Tick
from humanoid_balance.plants.ros_commands import TOPIC, Label
from humanoid_balance.plants.ros_frames import FrameReader
from humanoid_balance.plants.ros_stamps import from_time, nanoseconds
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import Array, SensorFrame, TorqueCommand
from humanoid_balance.wholebody.controller import WholeBody

SENSORS: dict[str, type] = {
    "joint_states": JointState, "imu": Imu, "left_foot/wrench": WrenchStamped, "right_foot/wrench": WrenchStamped,
}  # fmt: skip
POINTS = ("com", "dcm", "zmp")
KINDS: dict[str, type] = {
    **SENSORS, **dict.fromkeys(POINTS, PointStamped), TOPIC: Float64MultiArray, "balance/mode": String,
}  # fmt: skip


def messages(file: Path, namespace: str) -> Iterator[tuple[str, Any]]:
    """Topic, without the namespace, and message, in the order of the log."""
    prefix = f"/{namespace.strip('/')}/" if namespace.strip("/") else "/"
    wanted = {prefix + topic: kind for topic, kind in KINDS.items()}
    try:
        with file.open("rb") as stream:
            for _, channel, message in make_reader(stream).iter_messages(topics=list(wanted)):
                yield channel.topic[len(prefix) :], deserialize_message(message.data, wanted[channel.topic])
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except McapError as error:
        raise InputError(f"{file}: not an MCAP file ({error or type(error).__name__})") from None


class Recorded:
    """What the bag says: sensor frames in order, and by stamp [ns] what the system made of them."""

    def __init__(self, robot: Robot, file: Path, namespace: str, period: float, newest: bool) -> None:
        self.frames: list[SensorFrame] = []
        self.torques: dict[int, Array] = {}
        self.points: dict[str, dict[int, Array]] = {name: {} for name in POINTS}
        self.modes: list[str] = []
        self.refused: dict[str, int] = {}
        self._robot = robot
        self._newest = -1  # stamp of the last joint sample; a command without a label answers it [ns]
        reader = FrameReader(robot, period, 0.0 if newest else math.inf, self._refuse)
        handlers: dict[str, Callable[[Any], None]] = {
            "joint_states": reader.on_joints, "imu": reader.on_imu, "left_foot/wrench": reader.on_wrench(0),
            "right_foot/wrench": reader.on_wrench(1),
        }  # fmt: skip
        for topic, message in messages(file, namespace):
            if topic in handlers:
                if topic == "joint_states":
                    self._newest = nanoseconds(from_time(message.header.stamp))
                handlers[topic](message)
                frame = reader.take()
                if frame is not None:
                    self.frames.append(frame)
            else:
                self._see(topic, message)

    def _refuse(self, kind: str, detail: str) -> None:
        self.refused[kind] = self.refused.get(kind, 0) + 1

    def _see(self, topic: str, message: Any) -> None:
        if topic == TOPIC:
            label = Label.of(message)
            stamp = label.answers if label.answers >= 0 else self._newest
            if len(message.data) == self._robot.n and not label.damped:
                self.torques[stamp] = np.array(message.data)
        elif topic == "balance/mode":
            self.modes.append(message.data)
        else:
            where = message.point
            self.points[topic][nanoseconds(from_time(message.header.stamp))] = np.array((where.x, where.y, where.z))


class BagPlant:
    """Frames of a bag as a plant; what is written to it moves nothing."""

    def __init__(self, frames: list[SensorFrame], dt: float) -> None:
        self.dt, self._frames = dt, iter(frames)

    def read(self) -> SensorFrame:
        return next(self._frames)

    def write(self, command: TorqueCommand) -> None:
        """The past cannot be changed."""


def replay(robot: Robot, record: Recorded, settings: BalanceSettings, period: float) -> dict[str, Any]:
    """Run the loop over the frames; figures of how far it is from the record."""
    if not record.frames:
        raise InputError("the bag has no frame with all four sensors at one stamp; --sync newest takes what is there")
    first = next((f for f in record.frames if nanoseconds(f.stamp) in record.torques), record.frames[0])
    frames = record.frames[record.frames.index(first) :]  # from where the controller acted
    safety = SafetyBox(robot)
    safety.arm()
    safety.activate(first.torque)
    estimator = Estimator(robot, EstimatorSettings(guard=GuardSettings(period=period)))
    loop = Loop(BagPlant(frames, period), estimator, Supervisor(robot, settings), WholeBody(robot), safety)
    compared = _Comparison(record)
    for _ in frames:
        compared.add(loop.tick())
    span = record.frames[-1].stamp - record.frames[0].stamp
    return {
        "robot": robot.spec,
        "frames": len(record.frames),
        "begins": record.frames[0].stamp,
        "seconds": round(span, 3),
        **compared.figures(),
        "modes_recorded": record.modes,
        "trip": None if safety.trip is None else str(safety.trip),
        "refused": record.refused,
    }


class _Comparison:
    """Collects differences between replay and record, tick by tick."""

    def __init__(self, record: Recorded) -> None:
        self._record = record
        self._points: dict[str, list[Array]] = {name: [] for name in POINTS}
        self._torques: list[Array] = []
        self._modes: list[str] = []

    def add(self, tick: Tick) -> None:
        stamp = nanoseconds(tick.frame.stamp)
        for name, found in self._points.items():
            recorded = self._record.points[name].get(stamp)
            if recorded is not None:
                found.append(getattr(tick.state, name) - recorded)
        torque = self._record.torques.get(stamp)
        if torque is not None:
            self._torques.append(tick.sent.torque - torque)
        if not self._modes or self._modes[-1] != tick.reference.mode:
            self._modes.append(tick.reference.mode)

    def figures(self) -> dict[str, Any]:
        out: dict[str, Any] = {f"{name}_rms": _rms(found) for name, found in self._points.items()}
        largest = max((float(np.abs(t).max()) for t in self._torques), default=None)
        return {
            **out, "compared": len(self._torques), "torque_rms": _rms(self._torques), "torque_max": largest,
            "modes": self._modes,
        }  # fmt: skip


def _rms(differences: list[Array]) -> float | None:
    """Root mean square of the vectors' lengths; what is NaN is left out."""
    if not differences:
        return None
    return float(np.sqrt(np.nanmean(np.sum(np.square(differences), axis=1))))
