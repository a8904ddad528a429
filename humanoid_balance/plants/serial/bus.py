"""The conversation with one board: who it is, how it is configured, its newest sample, commands to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.port import Port, PortError
from humanoid_balance.plants.protocol import (
    FROM_BOARD,
    Configure,
    Decoder,
    Derating,
    EmergencyStop,
    Fault,
    FaultCode,
    FootWrench,
    Identify,
    Identity,
    Imu,
    Joint,
    Mode,
    Packet,
    Sender,
    State,
    WireCommand,
    WireFrame,
    WireReset,
    WireTruth,
    table_hash,
)
from humanoid_balance.plants.protocol.fault import BOARD
from humanoid_balance.plants.protocol.vocabulary import VERSION
from humanoid_balance.plants.serial import table
from humanoid_balance.plants.serial.calibration import JointCalibration
from humanoid_balance.plants.serial.line import STOPPED_MODES, Bus, Clock, LineSettings, Sample, microseconds
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import TorqueCommand

COURT = 100_000  # how often a question is repeated [µs]
INSIST = 1_000  # between two emergency stops until the board confirms one [µs]
LISTEN = 0.05  # longest wait for bytes [s]
REOPEN = 0.2  # how often a lost port is tried again [s]
STOPS = (FaultCode.WATCHDOG, FaultCode.EMERGENCY_STOP, FaultCode.PORT_CLOSED, FaultCode.JOINT_FAULT)


class BoardBus(Bus):
    """One port and its reader thread. ``news`` is the plant's lock; all that is shared is touched under it only."""

    def __init__(
        self,
        port: Port,
        robot: Robot,
        wish: LineSettings,
        known: Mapping[str, JointCalibration],
        news: threading.Condition,
        now: Clock = microseconds,
    ) -> None:
        super().__init__(port, news, now)
        self.robot, self.wish, self._known = robot, wish, known
        self.decoder = Decoder(FROM_BOARD)
        self.truth: WireTruth | None = None
        self._table: int | None = None  # of the first board that fitted: nobody else may take its place
        self._sender = Sender()
        self._last_command: WireCommand | None = None
        self._stopping = False  # an emergency stop is wanted that the board has not confirmed
        self._stop_sent = 0  # [µs]
        self._closing = False
        self.forget()
        self._thread = threading.Thread(target=self._run, name=f"reader of {self.url}", daemon=True)

    def open(self) -> None:
        """Raises PortError if there is no such port."""
        self.port.open()
        self.connected = True
        self._thread.start()

    def close(self) -> None:
        self._closing = True
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        self.port.close()

    def forget(self) -> None:
        """Nothing is known of who is at the other end."""
        self.connected = False
        self.identity = None
        self.configure = None
        self.problem = ""
        self._rows: dict[int, Joint] = {}
        self._parts: dict[int, list[WireFrame]] = {}  # frames of a sample that is not complete, by stamp
        self._courted = -COURT

    # ---- what the plant asks ----

    @property
    def joints(self) -> list[Joint]:
        return [self._rows[i] for i in sorted(self._rows)]

    def command(self, mode: Mode, command: TorqueCommand) -> None:
        """Send this board's part of a command, in answer to its newest sample."""
        if self.sample is not None and self.configure is not None:
            self._last_command = self.gauge.command(mode, self.sample.stamp, command, self.index)
            self.send(self._last_command)

    def idle(self, mode: Mode) -> None:
        """Ask for DISARMED or DAMPING."""
        if self.configure is not None:
            answers = self.sample.stamp if self.sample else 0
            self._last_command = WireCommand.idle(mode, answers, len(self.index))
            self.send(self._last_command)

    def stop(self) -> None:
        """At once; the reader thread repeats it until the board says that it stops, whatever the loop does."""
        self._stopping, self._stop_sent = True, self._now()
        self._write(self._sender.encode(EmergencyStop(), self._stop_sent), urgent=True)

    def unstop(self) -> None:
        self._stopping = False

    def reset(self) -> None:
        self.send(WireReset())

    def send(self, frame: WireFrame) -> None:
        self._write(self._sender.encode(frame, self._now()), urgent=False)

    def _write(self, data: bytes, urgent: bool) -> None:
        if self.connected:
            try:
                self.port.send(data, urgent)
            except PortError as error:
                self._lose(str(error))

    def line_counts(self) -> tuple[int, int, int]:
        c = self.decoder.counts
        return c.frames, c.lost, c.bad_framing + c.bad_crc + c.bad_payload + c.wrong_version + c.wrong_way

    # ---- the reader thread ----

    def _run(self) -> None:
        while not self._closing:
            if self.connected:
                self.pump(LISTEN)
            else:
                self._reopen()

    def pump(self, timeout: float) -> None:
        """Wait up to ``timeout`` [s] for bytes, act on them, and ask what is still to be asked."""
        try:
            data = self.port.receive(timeout)
        except PortError as error:
            with self.news:
                self._lose(str(error))
                self.news.notify_all()
            return
        arrival = self._now()
        packets = self.decoder.feed(data) if data else []
        with self.news:
            self._court()
            news = self._take(packets, arrival)
            if self._stopping and arrival - self._stop_sent >= INSIST:
                self.stop()
            if news:
                self.news.notify_all()

    def _lose(self, why: str) -> None:
        if self.connected:
            self.log.port_lost(1e-6 * self._now(), why)
        self.forget()
        self.problem = why

    def _reopen(self) -> None:
        self.port.close()
        time.sleep(REOPEN)
        if self._closing:
            return
        try:
            self.port.open()
        except PortError:
            return
        with self.news:
            self.forget()
            self.clock.reset()
            self.connected = True
            self.reopened += 1
            self.log.port_back(1e-6 * self._now())

    def _court(self) -> None:
        """Ask what is not known yet, every tenth of a second."""
        now = self._now()
        if now - self._courted < COURT:
            return
        self._courted = now
        if self.decoder.other_version is not None and self.identity is None:
            self.problem = f"{self.url}: speaks protocol version {self.decoder.other_version}; this host: {VERSION}"
        if self.identity is None or len(self._rows) < self.identity.joints:
            self.send(Identify())
        elif self.configure is not None and not self.configured:
            if self.mode in (Mode.UNCONFIGURED, Mode.DISARMED):
                self.send(self.configure)
            if not self.wish.period:  # it does not speak unless it is spoken to
                self.idle(Mode.DISARMED)

    def _take(self, packets: list[Packet], arrival: int) -> bool:
        """Under the lock; True if a sample is complete or something else changed that others wait for."""
        news = False
        for packet in packets:
            frame = packet.frame
            if isinstance(frame, State):
                news |= self._take_state(frame, packet.stamp, arrival)
            elif isinstance(frame, Fault):
                self.faults[frame.name, frame.joint] = (frame, arrival)
                self._log_fault(frame, arrival)
            elif isinstance(frame, Identity):
                news |= self._meet(frame, None)
            elif isinstance(frame, Joint):
                news |= self._meet(None, frame)
            else:
                if packet.stamp not in self._parts:
                    self._parts = {packet.stamp: []}
                self._parts[packet.stamp].append(frame)
        return news

    def _meet(self, identity: Identity | None, joint: Joint | None) -> bool:
        """Part of an introduction; when it is complete the table is compared with the robot."""
        if identity is not None and (self.identity is None or identity.table != self.identity.table):
            self.identity, self._rows = identity, {}
        if joint is not None and self.identity is not None:
            self._rows[joint.index] = joint
        who = self.identity
        if who is None or len(self._rows) != who.joints or self.configure is not None or self.problem:
            return False
        joints = self.joints
        if [joint.index for joint in joints] != list(range(who.joints)) or table_hash(joints) != who.table:
            self._rows = {}  # some of it is from before a restart: ask again
            return False
        try:
            self._fit(who, joints)
        except InputError as error:
            self.problem = str(error)
        return True

    def _fit(self, who: Identity, joints: list[Joint]) -> None:
        wish = self.wish
        if self._table not in (None, who.table):
            raise InputError(f"board '{who.name}' at {self.url}: another board than before is plugged in")
        self.index = table.indices(self.robot, who.name, joints)
        self.gauge, self.derating = table.calibration([joint.name for joint in joints], self._known), Derating(joints)
        table.check_limits(self.robot, who.name, joints, self.index, self.gauge, wish.torque)
        if 0 < wish.period < who.period_min:
            raise InputError(
                f"board '{who.name}': period {wish.period} µs is too short; allowed: {who.period_min} or more"
            )
        if wish.lockstep and not who.simulator:
            raise InputError(f"board '{who.name}': lock-step is for simulators; this is a real board")
        limit = self.gauge.limit(wish.torque[self.index])
        own = np.array([joint.torque_limit for joint in joints])
        self.configure = Configure(
            who.table, wish.period, wish.lockstep, np.minimum(limit, own), self.gauge.brake(wish.brake[self.index])
        )
        self._table = who.table
        self._courted = -COURT  # configure at once

    def _take_state(self, state: State, stamp: int, arrival: int) -> bool:
        if len(state.position) != len(self.index):
            return False  # of a board that has not introduced itself
        last, sent = self.sample, self._last_command
        if self.wish.lockstep and last is not None and stamp == last.stamp and state.mode is last.state.mode:
            if sent is not None and sent.answers == stamp:
                self.send(sent)  # a simulator that repeats its sample has not heard the answer
            if state.configuration == last.state.configuration:
                return False
        self.clock.update(stamp, arrival, state.echo, state.echo_age)
        self.arrivals.append(arrival)
        imu, feet = None, {}
        for part in self._parts.pop(stamp, []):
            if isinstance(part, Imu):
                imu = part
            elif isinstance(part, FootWrench):
                feet[part.side] = part.wrench
            elif isinstance(part, WireTruth):
                self.truth = part
        gauge = self.gauge
        self.sample = Sample(
            stamp, self.clock.host_time(stamp), arrival, state, gauge.position(state.position),
            gauge.velocity(state.velocity), gauge.torque(state.torque), imu, feet, self.truth,
        )  # fmt: skip
        if state.mode in STOPPED_MODES:
            self._stopping = False
        self.note_state()
        return True

    def _log_fault(self, fault: Fault, arrival: int) -> None:
        """Faults of joints and refusals; why the board changed its mode is told with the mode."""
        if fault.joint != BOARD:
            self.log.fault(1e-6 * arrival, f"{fault.name} at {self.joint_name(fault.joint)}: {evidence(fault)}")
        elif fault.code not in STOPS:
            self.log.fault(1e-6 * arrival, f"{fault.name}: {evidence(fault)}")


def evidence(fault: Fault) -> str:
    return f"{fault.value:.4g}, limit {fault.limit:.4g}"
