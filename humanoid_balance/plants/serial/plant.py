"""The serial plant: all boards of a robot as one Plant."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.port import Port, PortError
from humanoid_balance.plants.protocol import Mode, WirePush, WireTruth
from humanoid_balance.plants.protocol.vocabulary import ARMED_MODES, LOCKSTEP_TIMEOUT
from humanoid_balance.plants.pushes import ExternalForce
from humanoid_balance.plants.serial import health, table
from humanoid_balance.plants.serial.alignment import Alignment
from humanoid_balance.plants.serial.bus import BoardBus
from humanoid_balance.plants.serial.config import PERIOD, BusConfig, HardwareConfig
from humanoid_balance.plants.serial.events import BusEvent, Severity
from humanoid_balance.plants.serial.gate import Gate
from humanoid_balance.plants.serial.line import STOPPED_MODES, Bus, LineSettings
from humanoid_balance.plants.serial.pusher import Pusher
from humanoid_balance.plants.serial.resets import Resets
from humanoid_balance.plants.serial.servo_bus import DynamixelBus
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bounds import TorqueBounds
from humanoid_balance.safety.box import SafetyLimits, Trip
from humanoid_balance.types import Array, SensorFrame, TorqueCommand

PATIENCE = 3.0  # periods that ``read`` waits for a new sample at most


class SerialPlant:
    """Reads the boards' samples, aligned in time, and sends them their parts of a command.

    Stamps are seconds of the host's monotonic clock; in lock-step, of simulated time.
    """

    def __init__(
        self,
        robot: Robot,
        ports: Sequence[str] | HardwareConfig,
        dt: float | None = None,
        *,
        lockstep: bool = False,
        timeout: float = 5.0,
    ) -> None:
        """Opens the ports and waits up to ``timeout`` [s] until all boards are known and configured.

        ``dt`` [s] replaces the wiring file's period. ``plant.robot`` is the robot with the wiring file's share of
        torque: what bounds or plans torques has to use it.
        """
        self.config = ports if isinstance(ports, HardwareConfig) else HardwareConfig.of_ports(ports)
        self.config.check_joints(robot)
        self.robot, self.lockstep = robot.capped(self.config.torque), lockstep
        self._silence = (
            float("inf") if lockstep else health.SILENCE
        )  # in lock-step nobody speaks before he is spoken to
        self.dt = dt or self.config.period or PERIOD
        self._news = threading.Condition()  # its lock guards all that the reader threads share with the loop
        self.gate = Gate(TorqueBounds(self.robot.torque_limit, SafetyLimits().rate))
        self.buses: list[Bus] = []
        self._alignment = Alignment(robot.n, lockstep)
        self._polled = any(bus.half_duplex for bus in self.config.buses)
        self._frame: SensorFrame | None = None
        self._returned = self._time()  # when ``read`` returned last [s]
        self._resets = Resets()
        self._pushes: list[WirePush] = []  # that wait for the next command
        self._pusher = Pusher(robot)
        self._heard = [True] * len(self.config.buses)  # boards that answered when a command was written last
        try:
            for bus in self.config.buses:
                self.buses.append(self._open_bus(bus))
            # Those that set the pace; servos do where there is nothing else.
            self._pacing = [bus for bus in self.buses if bus.paces] or self.buses
            self._connect(timeout)
        except BaseException:
            self.close()
            raise

    def _time(self) -> float:
        return time.monotonic()

    def _wait(self, seconds: float) -> None:
        """Until a reader thread has news, or so long."""
        self._news.wait(seconds)

    def _open_bus(self, config: BusConfig) -> Bus:
        asked = config.half_duplex and not config.servos  # it speaks only when it is spoken to; servos have a cycle
        period = 0 if asked else round(1e6 * self.dt)
        wish = LineSettings(period, self.lockstep, self.robot.torque_limit, self.robot.brake)
        port, known = Port(config.port, config.baud), self.config.calibration
        bus: Bus
        if config.servos:
            bus = DynamixelBus(port, self.robot, wish, known, self._news, config.servos)
        else:
            bus = BoardBus(port, self.robot, wish, known, self._news)
        try:
            bus.open()
        except PortError as error:
            raise InputError(f"port {error}") from None
        return bus

    # ---- start and end ----

    def _connect(self, timeout: float) -> None:
        if not self.buses:
            raise InputError("no ports are given; allowed: one or more")
        deadline = self._time() + timeout
        with self._news:
            while not all(bus.settled for bus in self.buses):
                for bus in self.buses:
                    if bus.problem:
                        raise InputError(bus.problem)
                if self._time() > deadline:
                    raise InputError(self._why_not(timeout))
                self._wait(0.02)
            table.check_complete(
                self.robot, [(bus.name, [self.robot.joint_names[i] for i in bus.index]) for bus in self.buses]
            )

    def _why_not(self, timeout: float) -> str:
        bus = next(bus for bus in self.buses if not bus.settled)
        if bus.identity is None:
            heard = "{} frames came whole, {} were missing, {} damaged".format(*bus.line_counts())
            return f"port {bus.url}: no board introduced itself within {timeout:g} s; {heard}"
        told = ", ".join(
            f"{name} {fault.value:g}, limit {fault.limit:g}" for (name, _), (fault, _) in bus.faults.items()
        )
        return (
            f"board '{bus.name}' at {bus.url}: took no configuration within {timeout:g} s; it says: {told or 'nothing'}"
        )

    def close(self) -> None:
        """Closes the ports. Boards that are armed stop, those that cannot see the port by their watchdog."""
        for bus in self.buses:
            bus.close()

    def __enter__(self) -> SerialPlant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- the loop ----

    def read(self) -> SensorFrame:
        """The next sample of all boards; if none comes in time, the last one again, with its old stamp.

        Servos are not waited for beside boards: a line of them is slower, and the legs must not depend on the arms.
        """
        with self._news:
            if self.lockstep:
                self._await_lockstep()
            else:
                while self._polled and (left := self._returned + self.dt - self._time()) > 0.0:
                    self._wait(left)  # boards that answer at once do not set the pace
                # Also who comes late waits a moment: what came meanwhile is with a reader thread that had no turn.
                deadline = max(self._returned + PATIENCE * self.dt, self._time() + self.dt)
                while not all(map(self._alignment.fresh, self._pacing)):
                    left = deadline - self._time()
                    if left <= 0.0:
                        break
                    self._wait(left)
            if self._frame is None or any(map(self._alignment.fresh, self.buses)):
                self._frame = self._alignment.frame(self.buses, self._time())
        self._returned = self._time()
        return self._frame

    def _await_lockstep(self) -> None:
        deadline = self._time() + LOCKSTEP_TIMEOUT
        while not all(map(self._alignment.fresh, self.buses)):
            lost = next((bus for bus in self.buses if not bus.connected), None)
            if lost is not None:
                raise InputError(f"port {lost.problem or lost.url}: lost")
            left = deadline - self._time()
            if left <= 0.0:
                raise InputError(f"port {self.buses[0].url}: the simulator has stopped answering")
            self._wait(left)

    def write(self, command: TorqueCommand) -> None:
        """Send a command to all boards; the gate decides what of it."""
        if self._frame is None:
            raise RuntimeError("write before the first read")
        frame = self._frame
        with self._news:
            self._send_pushes()
            self._note_silence()
            modes = [Mode.LAPSED if self._silent(bus) else bus.mode for bus in self.buses]
            mode, bounded = self.gate.admit(command, modes, (frame.position, frame.velocity, frame.torque))
            for bus in self.buses:
                if self.gate.stopped and bus.mode not in STOPPED_MODES:
                    bus.stop()
                if mode in (Mode.TORQUE, Mode.IMPEDANCE):
                    bus.command(mode, bounded)
                else:
                    bus.idle(mode)
            self._resets.repeat(self._time())

    def _silent(self, bus: Bus) -> bool:
        """What a board last said of itself is no longer to be believed."""
        return bus.age() > self._silence

    def _note_silence(self) -> None:
        """Log when a board that is plugged in falls silent, and when it is heard again."""
        for k, bus in enumerate(self.buses):
            heard = not self._silent(bus)
            if heard != self._heard[k] and bus.connected:
                what = "answers again" if heard else f"does not answer for {health.SILENCE:g} s"
                bus.log.add(self._time(), Severity.WARN if heard else Severity.ERROR, what)
            self._heard[k] = heard

    # ---- arming and stopping ----

    @property
    def modes(self) -> tuple[Mode, ...]:
        """As the boards last reported them."""
        return tuple(bus.mode for bus in self.buses)

    def arm(self, timeout: float = 2.0) -> None:
        """Lead all boards to DAMPING by way of DISARMED, for programs without a bring-up; an InputError says why one
        does not arm."""
        deadline = self._time() + timeout
        brake = TorqueCommand.damp(0.0, self.robot.brake)
        off = replace(brake, damping=np.zeros(self.robot.n))
        self.read()
        self.write(off)
        wanted = off
        while True:
            modes = self.read_modes()
            if wanted is brake and all(mode in ARMED_MODES for mode in modes):
                break
            if all(mode is Mode.DISARMED for mode in modes):
                wanted = brake
            stopped = next((bus for bus in self.buses if bus.mode is Mode.STOPPED), None)
            if stopped is not None or self._time() > deadline:
                bus = stopped or next(bus for bus in self.buses if bus.mode not in ARMED_MODES)
                what = health.trouble([bus], False, self._silence) or f"it is {bus.mode.name}"
                raise InputError(f"board '{bus.name}' at {bus.url}: does not arm: {what}")
            self.write(wanted)
        self.unread()

    def unread(self) -> None:
        """The next ``read`` gives the last sample again, so that a loop can start with what was looked at here."""
        self._alignment.forget()

    def read_modes(self) -> tuple[Mode, ...]:
        """Modes of the boards in the next sample."""
        self.read()
        return self.modes

    def stop(self, reason: str = "emergency stop") -> None:
        """Emergency stop of all boards, latched; may be called from any thread."""
        with self._news:
            self.gate.stop(reason)
            self._resets.clear()
            for bus in self.buses:
                bus.stop()

    def reset(self) -> str | None:
        """Clear an emergency stop; the reason if that cannot be. Disarm and arm have to follow."""
        with self._news:
            for bus in self.buses:
                if not bus.connected:
                    return f"board '{bus.name}': port {bus.problem or 'lost'}"
                if self._silent(bus):
                    return f"board '{bus.name}' does not answer"
                if bus.mode is Mode.STOPPING:
                    return f"board '{bus.name}' is still stopping"
            self.gate.reset()
            for bus in self.buses:
                bus.unstop()
            self._resets.begin(self.buses, self._time())
        return None

    # ---- health ----

    def trouble(self, armed: bool) -> Trip | None:
        """What forbids to arm, or to stay armed."""
        with self._news:
            found = health.trouble(self.buses, armed, self._silence)
            if found is None and armed and self.gate.latched:
                found = Trip(self.gate.reason, "gate", 0.0, 1.0)
        return found

    def events(self) -> list[BusEvent]:
        """What happened on the lines since the last call, in order: lost and returned ports, changes of mode with
        their cause, faults with joint, value and limit, lost frames."""
        with self._news:
            found = [event for bus in self.buses for event in bus.log.fetch()]
        return sorted(found, key=lambda event: event.stamp)

    def torque_share(self) -> Array:
        """Part of each joint's torque limit that temperature and voltage allow (n,)."""
        with self._news:
            return health.torque_share(self.buses, self.robot.n)

    def bus_health(self) -> list[health.BusHealth]:
        with self._news:
            return [health.bus_health(bus) for bus in self.buses]

    def joint_health(self) -> list[health.JointHealth]:
        with self._news:
            return [joint for bus in self.buses for joint in health.joint_health(bus)]

    # ---- simulators ----

    def push(self, push: WirePush) -> None:
        """An external wrench on the simulated body; goes out in front of the next command."""
        self._simulator()
        with self._news:
            self._pushes.append(push)

    @property
    def time(self) -> float:
        """Stamp of the last frame [s]: the clock of the forces below."""
        return self._frame.stamp if self._frame is not None else 0.0

    def add_push(self, force: ExternalForce) -> None:
        """An external force that acts on the simulated body while it lasts, renewed with each command."""
        self._simulator()
        with self._news:
            self._pusher.add(force)

    def remove_push(self, force: ExternalForce) -> None:
        """Forget an external force, also one that acts now: it ends with the next command."""
        with self._news:
            self._pusher.remove(force)

    def _simulator(self) -> Bus:
        for bus in self.buses:
            if bus.identity is not None and bus.identity.simulator:
                return bus
        raise InputError("push: none of the boards is a simulator")

    @property
    def simulated(self) -> bool:
        """The robot can be pushed: a simulator is behind the boards."""
        return any(bus.identity is not None and bus.identity.simulator for bus in self.buses)

    def _send_pushes(self) -> None:
        if not self.simulated:
            return
        simulator, frame = self._simulator(), self._frame
        if simulator.sample is not None and frame is not None:
            stamp, truth = simulator.sample.stamp, self.truth()
            self._pushes += self._pusher.frames(frame.stamp, stamp, truth, frame.position)
        while self._pushes:
            simulator.send(self._pushes.pop(0))

    def truth(self) -> WireTruth | None:
        """What the simulator last told of the body, for recorders only; None from real boards."""
        return next((bus.sample.truth for bus in self.buses if bus.sample and bus.sample.truth), None)
