"""What every bus of the serial plant has, whatever is at its other end."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from humanoid_balance.plants.port import Port
from humanoid_balance.plants.protocol import (
    Configure,
    Derating,
    Fault,
    Identity,
    Imu,
    Joint,
    Mode,
    State,
    WireFrame,
    WireTruth,
    fault_names,
)
from humanoid_balance.plants.protocol.vocabulary import JOINT_WARNINGS
from humanoid_balance.plants.serial.calibration import Calibration
from humanoid_balance.plants.serial.clock import ClockMap
from humanoid_balance.plants.serial.events import EventLog
from humanoid_balance.types import Array, TorqueCommand

HISTORY = 200  # arrivals that rate and jitter are taken from
TOO_LATE = 0.2  # share of late cycles with which nothing is armed: joints would be without a reading for too long
STOPPED_MODES = (Mode.STOPPING, Mode.STOPPED)  # an emergency stop has arrived
SWITCHED_OFF = (Mode.OFF, Mode.STOPPING, Mode.STOPPED)  # modes in which a board takes no configuration

Clock = Callable[[], int]  # [µs]


def microseconds() -> int:
    """The host's clock [µs]."""
    return time.monotonic_ns() // 1000


@dataclass(frozen=True, slots=True)
class LineSettings:
    """How the host wants its boards to work."""

    period: int  # between samples [µs]; 0: the board speaks only when spoken to
    lockstep: bool
    torque: Array  # largest torque of each joint of the robot (robot.n,) [N m]
    brake: Array  # damping of each joint (robot.n,) [N m s/rad]


@dataclass(frozen=True, slots=True)
class Sample:
    """Everything a board measured at one time, in the units of the robot's joints."""

    stamp: int  # board's clock [µs]
    time: float  # host's clock [s]
    arrival: int  # host's clock [µs]
    state: State
    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    torque: Array  # (n,) [N m]
    imu: Imu | None
    feet: Mapping[int, Array]  # wrench by side
    truth: WireTruth | None


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault of a joint that stops its board, with the board's own evidence."""

    what: str
    joint: str
    value: float
    limit: float

    def __str__(self) -> str:
        return f"{self.what} at {self.joint}: {self.value:.4g}, limit {self.limit:.4g}"


class Bus(ABC):
    """One port. ``news`` is the plant's lock; all that is shared with a reader thread is touched under it only."""

    identity: Identity | None
    configure: Configure | None
    connected: bool
    problem: str  # why this bus cannot be used
    paces = True  # the loop waits for its samples
    late = 0.0  # share of its cycles that took longer than they should, of late

    def __init__(self, port: Port, news: threading.Condition, now: Clock) -> None:
        self.port, self.news, self.url = port, news, port.url
        self._now = now
        self.clock = ClockMap()
        self.sample: Sample | None = None
        self.faults: dict[tuple[str, int], tuple[Fault, int]] = {}  # by name and joint, with the time it came [µs]
        self.cause: Cause | None = None  # of the stop that the board is in
        self.log = EventLog(port.url)
        self.reopened = 0
        self.arrivals: deque[int] = deque(maxlen=HISTORY)
        self.index = np.zeros(0, dtype=int)  # of its joints among the robot's
        self.gauge = Calibration([])
        self.derating = Derating([])

    @abstractmethod
    def open(self) -> None: ...  # raises PortError if there is no such port

    @abstractmethod
    def close(self) -> None: ...

    @property
    @abstractmethod
    def joints(self) -> list[Joint]: ...  # the table

    @abstractmethod
    def command(self, mode: Mode, command: TorqueCommand) -> None: ...  # this bus's part of it

    @abstractmethod
    def idle(self, mode: Mode) -> None: ...  # ask for DISARMED or DAMPING

    @abstractmethod
    def stop(self) -> None: ...  # emergency stop, insisted on until the board confirms it

    @abstractmethod
    def unstop(self) -> None: ...  # the host no longer wants an emergency stop

    @abstractmethod
    def reset(self) -> None: ...  # leave STOPPED

    @abstractmethod
    def send(self, frame: WireFrame) -> None: ...  # for simulators

    @abstractmethod
    def line_counts(self) -> tuple[int, int, int]: ...  # frames that came whole, were missing, came damaged

    @property
    def name(self) -> str:
        return self.identity.name if self.identity else self.url

    @property
    def mode(self) -> Mode:
        """As last reported; UNCONFIGURED while nothing is known."""
        known = self.connected and self.sample is not None and self.configure is not None
        return self.sample.state.mode if known and self.sample is not None else Mode.UNCONFIGURED

    @property
    def configured(self) -> bool:
        """The board works as the host wants it."""
        wanted = self.configure
        return wanted is not None and self.sample is not None and self.sample.state.configuration == wanted.checksum

    @property
    def settled(self) -> bool:
        """Nothing more can be done but by the operator: configured, or stopped."""
        return self.configured or (self.configure is not None and self.mode in SWITCHED_OFF)

    def joint_cause(self) -> Cause | None:
        """The first joint with a fault that stops the board, as the newest sample has it."""
        if self.sample is None:
            return None
        bits = self.sample.state.joint_faults & ~np.uint16(JOINT_WARNINGS)
        if not bits.any():
            return None
        k = int(np.argmax(bits != 0))
        name = fault_names(int(bits[k]), 0)[0]
        fault, _ = self.faults.get((name, k), (None, 0))
        value, limit = (fault.value, fault.limit) if fault is not None else (1.0, 0.0)
        return Cause(name, self.joint_name(k), value, limit)

    def joint_name(self, k: int) -> str:
        """Of row ``k``; a board that was plugged in again may not have introduced it yet."""
        return next((joint.name for joint in self.joints if joint.index == k), f"joint {k}")

    def note_state(self) -> None:
        """Keep the log and the cause of a stop, after each new sample."""
        assert self.sample is not None
        state = self.sample.state
        if state.mode not in STOPPED_MODES:
            self.cause = None
        if self.cause is None:
            self.cause = self.joint_cause()
        stamp = 1e-6 * self.sample.arrival
        if state.mode is not self.log.last_mode:
            self.log.board = self.name
            faults = ", ".join(fault_names(state.faults, 16))
            why = f"{faults}: {self.cause}" if self.cause is not None and state.mode in STOPPED_MODES else faults
            self.log.mode(stamp, state.mode, why)
        self.log.frames(stamp, *self.line_counts()[1:])

    def age(self) -> float:
        """Of the newest sample [s]."""
        return 1e-6 * (self._now() - self.sample.arrival) if self.sample else float("inf")
