"""A recorded bag run again: its sensors go through estimator and controller, and what comes out is compared.

Commands go in as they came: a walk that was recorded walks again.
Works on what ``recorder``, ``push --log`` and ``walk --log`` write, and on any MCAP bag with the topics of docs/ros.md.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, Twist, TwistStamped, WrenchStamped
from nav_msgs.msg import Path as FootstepPlan
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String

from humanoid_balance import stack
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.errors import InputError
from humanoid_balance.estimation import Estimator, EstimatorSettings
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.loop import Tick
from humanoid_balance.plants.ros.commands import TOPIC, Label
from humanoid_balance.plants.ros.frames import FrameReader
from humanoid_balance.plants.ros.stamps import from_time, nanoseconds
from humanoid_balance.recording import state_row
from humanoid_balance.recording.bag_reading import LEAD, BagFacts, raw
from humanoid_balance.recording.state_row import StateRow
from humanoid_balance.recording.tick_row import verdict_words
from humanoid_balance.recording.wanted import Wanted
from humanoid_balance.recording.wish_notes import PLAN, SKILL, VELOCITY
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Command, SensorFrame, TorqueCommand

SENSORS: dict[str, type] = {
    LEAD: JointState, "imu": Imu, "left_foot/wrench": WrenchStamped, "right_foot/wrench": WrenchStamped,
}  # fmt: skip
POINTS = ("com", "dcm", "zmp")
WORDS = ("balance/mode", "solution/status", "solution/active")
WISHES: dict[str, type] = {VELOCITY: Twist, PLAN: FootstepPlan, SKILL: String}
STAMPED = "geometry_msgs/msg/TwistStamped"  # what VELOCITY may be instead
WINDOW = 2 * 10**9  # a sample is waited for so long: what publishers keep for those who ask again [ns]
KINDS: dict[str, type] = {
    **SENSORS, **dict.fromkeys(POINTS, PointStamped), **dict.fromkeys(WORDS, String), TOPIC: Float64MultiArray,
    state_row.TOPIC: Float64MultiArray, **WISHES,
}  # fmt: skip


def messages(facts: BagFacts) -> Iterator[tuple[str, Any, int]]:
    """Topic, without the namespace, message and time [ns], in the order of the log."""
    wanted = {facts.prefix + topic: kind for topic, kind in KINDS.items()}
    for topic, name, message in raw(facts.files, list(wanted)):
        kind = TwistStamped if name == STAMPED else wanted[topic]
        yield topic.removeprefix(facts.prefix), deserialize_message(message.data, kind), message.log_time


class InOrder:
    """Samples in the order of their stamps, joints last: one that was sent again arrives after its successors."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, bool, int, str, Any]] = []
        self._newest, self._count = 0, 0

    def put(self, topic: str, message: Any) -> Iterator[tuple[str, Any]]:
        """A sample; those for which nobody has to wait any more."""
        stamp = nanoseconds(from_time(message.header.stamp))
        if stamp < self._newest - WINDOW:  # the clock was set back
            yield from self.rest()
            self._newest = stamp
        self._newest, self._count = max(self._newest, stamp), self._count + 1
        heapq.heappush(self._heap, (stamp, topic == LEAD, self._count, topic, message))
        while self._heap[0][0] < self._newest - WINDOW:
            yield heapq.heappop(self._heap)[3:]

    def rest(self) -> Iterator[tuple[str, Any]]:
        while self._heap:
            yield heapq.heappop(self._heap)[3:]


class Recorded:
    """What the bag says: sensor frames in order, and by stamp [ns] what the system made of them."""

    def __init__(self, robot: Robot, facts: BagFacts, period: float, newest: bool) -> None:
        self.frames: list[SensorFrame] = []
        self.incomplete = 0  # joint samples behind the first frame to which another sensor is missing
        self.torques: dict[int, Array] = {}
        self.points: dict[str, dict[int, Array]] = {name: {} for name in POINTS}
        self.states: dict[int, Array] = {}  # rows of the layout ``row.state``
        self.words: dict[str, list[tuple[int, str]]] = {name: [] for name in WORDS}  # time [ns], from when on
        self.wishes: list[tuple[int, str, Any]] = []  # time [ns], topic and message of those who command the robot
        self.refused: dict[str, int] = {}
        self._why: dict[str, str] = {}  # the first time each was refused
        self.row = StateRow(robot.n)
        self._times: dict[int, int] = {}  # of the log when a frame was answered, by its stamp [ns]
        self._arrived: dict[int, int] = {}  # the same when its joint sample came
        self._robot, self._facts = robot, facts
        self._newest = -1  # stamp of the last joint sample; a command without a label answers it [ns]
        self._reader = reader = FrameReader(robot, period, 0.0 if newest else math.inf, self._refuse)
        self._handlers: dict[str, Callable[[Any], None]] = {
            LEAD: reader.on_joints, "imu": reader.on_imu, "left_foot/wrench": reader.on_wrench(0),
            "right_foot/wrench": reader.on_wrench(1),
        }  # fmt: skip
        self._read(newest)
        if not self.frames:
            raise InputError(self._nothing())

    def _read(self, newest: bool) -> None:
        order = InOrder()
        for topic, message, time in messages(self._facts):
            if topic not in self._handlers:
                self._see(topic, message, time)
                continue
            if topic == LEAD:
                self._newest = nanoseconds(from_time(message.header.stamp))
                self._arrived.setdefault(self._newest, time)
            if newest:
                self._sense(topic, message)
                continue
            for sample in order.put(topic, message):
                self._sense(*sample)
        for sample in order.rest():
            self._sense(*sample)

    def _sense(self, topic: str, message: Any) -> None:
        self._handlers[topic](message)
        self.incomplete += topic == LEAD and bool(self.frames)
        frame = self._reader.take()
        if frame is not None:
            self.incomplete -= bool(self.frames)
            self.frames.append(frame)

    def _nothing(self) -> str:
        """Why there is no frame."""
        name, spec = self._facts.files[0], self._robot.spec
        for kind, why in self._why.items():
            if kind.startswith(LEAD):
                known = f"; it was recorded from '{self._facts.robot}'" if self._facts.robot else ""
                return f"--robot '{spec}' does not fit {name}: {kind}: {why}{known}"
        return f"{name}: no frame with all four sensors at one stamp; --sync newest takes what is there"

    @property
    def modes(self) -> list[str]:
        return [text for _, text in self.words["balance/mode"]]

    def word(self, topic: str, stamp: int) -> str | None:
        """What a topic said when the frame of that stamp [ns] was answered; None where it is not known."""
        said, time = self.words[topic], self._times.get(stamp)
        number = 0 if time is None else bisect_right(said, time, key=itemgetter(0))
        return said[number - 1][1] if number else None

    def time(self, stamp: int) -> int | None:
        """Of the log when the frame of that stamp [ns] was there; None where it is not known."""
        return self._times.get(stamp, self._arrived.get(stamp))

    def _refuse(self, kind: str, detail: str) -> None:
        self.refused[kind] = self.refused.get(kind, 0) + 1
        self._why.setdefault(kind, detail)

    def _see(self, topic: str, message: Any, time: int) -> None:
        if topic == state_row.TOPIC:
            row = np.array(message.data)
            dims = message.layout.dim
            if dims and dims[0].label == state_row.FORM and row.size == self.row.width:
                stamp = nanoseconds(float(row[0]))  # of the frame, which comes first
                self.states[stamp], self._times[stamp] = row[self.row.frame.width :], time
            else:
                self._refuse(f"{state_row.TOPIC}: of another robot or version", "")
        elif topic == TOPIC:
            label = Label.of(message)
            stamp = label.answers if label.answers >= 0 else self._newest
            if len(message.data) == self._robot.n and not label.damped:
                self.torques[stamp] = np.array(message.data)
        elif topic in WISHES:
            self.wishes.append((time, topic, message))
        elif topic in WORDS:
            self.words[topic].append((time, message.data))
        else:
            where = message.point
            self.points[topic][nanoseconds(from_time(message.header.stamp))] = np.array((where.x, where.y, where.z))


class RecordedCommands:
    """Those who commanded the robot: the wishes of a record, each from the first frame on that came after it."""

    def __init__(self, record: Recorded) -> None:
        self._record, self._wanted, self._ahead = record, Wanted(), deque(record.wishes)
        self._time = 0  # of the log [ns]

    def command(self, stamp: float) -> Command:
        """``stamp``: of the sensor frame [s]."""
        self._time = self._record.time(nanoseconds(stamp)) or self._time
        while self._ahead and self._ahead[0][0] <= self._time:
            time, topic, message = self._ahead.popleft()
            self._wanted.hear[topic](message, 1e-9 * time)
        return self._wanted.command(stamp, 1e-9 * self._time)


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
    first = next((f for f in record.frames if nanoseconds(f.stamp) in record.torques), record.frames[0])
    begun = record.frames.index(first)  # from here on the controller acted
    frames = record.frames[begun:]
    safety = stack.active(robot, first.torque)
    estimator = Estimator(robot, EstimatorSettings(guard=GuardSettings(period=period)))
    for frame in record.frames[:begun]:
        estimator.update(frame)
    loop = stack.build(robot, BagPlant(frames, period), settings, estimator, safety)
    compared, operator = _Comparison(record), RecordedCommands(record)
    for frame in frames:
        compared.add(loop.tick(operator.command(frame.stamp)))
    span = record.frames[-1].stamp - record.frames[0].stamp
    return {
        "robot": robot.spec,
        "frames": len(record.frames),
        "begins": record.frames[0].stamp,
        "seconds": round(span, 3),
        "rate": round(1.0 / period, 3),
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
        self._largest = np.zeros(record.row.state.width)  # difference of each number of the state
        self._verdicts = {topic: [0, 0] for topic in verdict_words(None)}  # ticks compared, of these with another one
        self._modes: list[str] = []

    def add(self, tick: Tick) -> None:
        stamp = nanoseconds(tick.frame.stamp)
        for name, found in self._points.items():
            recorded = self._record.points[name].get(stamp)
            if recorded is not None:
                found.append(getattr(tick.state, name) - recorded)
        state = self._record.states.get(stamp)
        if state is not None:
            found_state = self._record.row.state.row(tick.state)
            apart = np.abs(found_state - state)
            apart[np.isnan(found_state) & np.isnan(state)] = 0.0
            self._largest = np.maximum(self._largest, np.where(np.isnan(apart), np.inf, apart))
        for topic, text in verdict_words(tick.solution).items():
            said = self._record.word(topic.strip("/"), stamp)
            if said is not None:
                self._verdicts[topic][0] += 1
                self._verdicts[topic][1] += said != text
        torque = self._record.torques.get(stamp)
        if torque is not None:
            self._torques.append(tick.sent.torque - torque)
        if not self._modes or self._modes[-1] != tick.reference.mode:
            self._modes.append(tick.reference.mode)

    def figures(self) -> dict[str, Any]:
        out: dict[str, Any] = {f"{name}_rms": _rms(found) for name, found in self._points.items()}
        largest = max((float(np.abs(t).max()) for t in self._torques), default=None)
        places = self._record.row.state.places if self._record.states else {}
        apart = {path: float(self._largest[place.columns].max()) for path, place in places.items()}
        status, active = (self._verdicts[topic] for topic in verdict_words(None))
        return {
            **out, "state_max": apart, "verdicts": status[0], "status_differs": status[1], "active_differs": active[1],
            "compared": len(self._torques), "torque_rms": _rms(self._torques), "torque_max": largest,
            "modes": self._modes,
        }  # fmt: skip


def _rms(differences: list[Array]) -> float | None:
    """Root mean square of the vectors' lengths; what is NaN is left out."""
    if not differences:
        return None
    return float(np.sqrt(np.nanmean(np.sum(np.square(differences), axis=1))))
