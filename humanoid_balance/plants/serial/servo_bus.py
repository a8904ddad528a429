"""A Dynamixel bus among the buses of the serial plant: a thread runs its cycle, the plant sees a board."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel import Servo, timing
from humanoid_balance.plants.dynamixel.bus import ServoBus
from humanoid_balance.plants.port import Port, PortError
from humanoid_balance.plants.protocol import (
    Configure,
    Derating,
    EmergencyStop,
    Identity,
    Joint,
    Mode,
    Packet,
    Sensors,
    State,
    WireCommand,
    WireFrame,
    WireReset,
    table_hash,
)
from humanoid_balance.plants.serial import table
from humanoid_balance.plants.serial.calibration import JointCalibration
from humanoid_balance.plants.serial.events import Severity
from humanoid_balance.plants.serial.line import TOO_LATE, Bus, Clock, LineSettings, Sample, microseconds
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import TorqueCommand

REOPEN = 0.2  # how often a lost port is tried again [s]
WINDOW = 500  # cycles over which those are counted that come late


class DynamixelBus(Bus):
    """Servos by joint name. ``cycle`` is called by a thread of its own, as often as the line allows."""

    paces = False

    def __init__(
        self,
        port: Port,
        robot: Robot,
        wish: LineSettings,
        known: Mapping[str, JointCalibration],
        news: threading.Condition,
        servos: Mapping[str, Servo],
        now: Clock = microseconds,
    ) -> None:
        super().__init__(port, news, now)
        if wish.lockstep:
            raise InputError(f"port {self.url}: lock-step is for simulators; these are servos")
        self._period = timing.period(self.url, len(servos), port.baud, 1e-6 * wish.period)
        self.index = np.array([robot.joint_names.index(name) for name in servos], dtype=int)
        self.gauge = table.calibration(list(servos), known)
        ends = self.gauge.raw_position(robot.lower[self.index]), self.gauge.raw_position(robot.upper[self.index])
        lower, upper = np.minimum(*ends), np.maximum(*ends)
        ranges = {name: (float(lower[k]), float(upper[k])) for k, name in enumerate(servos)}
        self.servos = ServoBus(port, servos, ranges)
        rows = self.servos.table
        self.derating = Derating(rows)
        table.check_limits(robot, "dynamixel", rows, self.index, self.gauge, wish.torque)
        limit = np.minimum(self.gauge.limit(wish.torque[self.index]), [joint.torque_limit for joint in rows])
        brake = self.gauge.brake(wish.brake[self.index])
        self.configure = Configure(table_hash(rows), wish.period, False, limit, brake)
        self.identity = Identity("dynamixel", bytes(20), len(rows), Sensors(0), False, table_hash(rows), wish.period)
        self.connected, self.problem = False, ""
        self._closing = False
        self._cycles, self._late = 0, 0  # of the present window
        self._thread = threading.Thread(target=self._run, name=f"servos of {self.url}", daemon=True)

    def open(self) -> None:
        self.port.open()
        self.start()
        self._thread.start()

    def start(self) -> None:
        """Find the servos; they are without torque afterwards."""
        assert self.configure is not None
        self.servos.find()
        self.servos.configure(self.configure, self._now())
        self.connected = True

    def close(self) -> None:
        """The torque goes off first, as servos do not see the port closing."""
        self._closing = True
        if self._thread.is_alive():
            self._thread.join()
        if self.connected:
            self.stop()
            try:
                self.servos.release()
            except PortError:
                self.connected = False  # the servos' own watchdog has to do
        self.port.close()

    @property
    def joints(self) -> list[Joint]:
        return self.servos.table

    def line_counts(self) -> tuple[int, int, int]:
        counts = self.servos.decoder.counts
        return counts.packets, 0, counts.bad_crc

    # ---- what the plant asks ----

    def command(self, mode: Mode, command: TorqueCommand) -> None:
        if self.sample is not None:
            self.send(self.gauge.command(mode, self.sample.stamp, command, self.index))

    def idle(self, mode: Mode) -> None:
        if self.sample is not None:
            self.send(WireCommand.idle(mode, self.sample.stamp, len(self.index)))

    def stop(self) -> None:
        self.send(EmergencyStop())

    def unstop(self) -> None:
        """The modes of servos are kept in this process: a stop has always arrived."""

    def reset(self) -> None:
        self.send(WireReset())

    def send(self, frame: WireFrame) -> None:
        now = self._now()
        self.servos.machine.receive(Packet(frame, 0, now), now)

    # ---- the thread ----

    def _run(self) -> None:
        ahead = time.monotonic()
        while not self._closing:
            if not self.connected:
                self._reopen()
                continue
            self.cycle()
            ahead = max(ahead + self._period, time.monotonic() - self._period)
            left = ahead - time.monotonic()
            self._watch_pace(left < 0.0)
            time.sleep(max(0.0, left))

    def _watch_pace(self, late: bool) -> None:
        """Log when the servos take longer than their period again and again, and when they no longer do."""
        self._cycles, self._late = self._cycles + 1, self._late + late
        if self._cycles < WINDOW:
            return
        before, share = self.late, self._late / WINDOW
        self._cycles = self._late = 0
        with self.news:
            self.late = share
            if (share > TOO_LATE) != (before > TOO_LATE):
                severity = Severity.WARN if share > TOO_LATE else Severity.INFO
                told = f"{share:.0%} of the cycles took longer than their {1e3 * self._period:.1f} ms"
                self.log.add(1e-6 * self._now(), severity, told)

    def cycle(self) -> None:
        """One exchange with the servos, and the sample of it."""
        now = self._now()
        try:
            self.servos.cycle(now)
        except PortError as error:
            with self.news:
                self.connected, self.problem = False, str(error)
                self.log.port_lost(1e-6 * self._now(), self.problem)
                self.news.notify_all()
            return
        arrival = self._now()
        with self.news:
            self.sample = self._sampled(now, arrival)
            self.arrivals.append(arrival)
            self.note_state()
            self.news.notify_all()

    def _sampled(self, now: int, arrival: int) -> Sample:
        servos, machine, gauge = self.servos, self.servos.machine, self.gauge
        state = State(
            machine.mode, machine.faults, machine.configuration, machine.echo, machine.echo_age(now),
            servos.position.copy(), servos.velocity.copy(), servos.torque.copy(),
            servos.temperature.copy(), servos.voltage.copy(), servos.joint_faults.copy(),
        )  # fmt: skip
        return Sample(
            now, 1e-6 * now, arrival, state, gauge.position(state.position), gauge.velocity(state.velocity),
            gauge.torque(state.torque), None, {}, None,
        )  # fmt: skip

    def _reopen(self) -> None:
        """A lost port: the machine is stopped, as when a board's port closes, and needs a reset."""
        self.stop()
        self.port.close()
        time.sleep(REOPEN)
        try:
            self.port.open()
            self.start()
        except (PortError, InputError) as error:
            self.problem = str(error)
            return
        with self.news:
            self.problem = ""
            self.reopened += 1
            self.log.port_back(1e-6 * self._now())
