"""The behaviour a board must have, as a plain class: modes, watchdog, emergency stop, torque law.

Firmware follows ``docs/protocol.md``; simulated boards use this. It knows no port and no clock: packets and the board's
time in µs come in, the mode and the torques of the drives come out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_balance.plants.protocol.command import EmergencyStop, WireCommand, WireReset
from humanoid_balance.plants.protocol.fault import BOARD, Fault
from humanoid_balance.plants.protocol.handshake import Configure, Joint, table_hash
from humanoid_balance.plants.protocol.stream import Packet
from humanoid_balance.plants.protocol.vocabulary import (
    ARMED_MODES,
    BRAKING_MODES,
    POWER_OFF,
    WATCHDOG,
    BoardFault,
    FaultCode,
    Mode,
)
from humanoid_balance.types import Array

_RUN = {mode: mode for mode in (Mode.DISARMED, Mode.DAMPING, Mode.TORQUE, Mode.IMPEDANCE)}
TRANSITIONS: dict[Mode, dict[Mode, Mode]] = {  # [present mode][mode of a valid command]; what is missing is refused
    Mode.UNCONFIGURED: {Mode.DISARMED: Mode.UNCONFIGURED},
    Mode.DISARMED: {Mode.DISARMED: Mode.DISARMED, Mode.DAMPING: Mode.DAMPING},
    Mode.DAMPING: _RUN,
    Mode.TORQUE: _RUN,
    Mode.IMPEDANCE: _RUN,
    Mode.LAPSED: {Mode.DISARMED: Mode.DISARMED, Mode.DAMPING: Mode.LAPSED},
    Mode.OFF: {Mode.DISARMED: Mode.DISARMED},
    Mode.STOPPING: {Mode.DISARMED: Mode.STOPPING, Mode.DAMPING: Mode.STOPPING},
    Mode.STOPPED: {Mode.DISARMED: Mode.STOPPED},
}

DERATING_KELVIN = 10.0  # torque falls to nothing over the last 10 K below the temperature limit
DERATING_VOLTAGE = 0.1  # and over the lowest tenth above the voltage limit


class BoardMachine:
    """Modes of one board with its joint table. Times are the board's clock [µs]."""

    def __init__(self, joints: Sequence[Joint], simulator: bool) -> None:
        self.n = len(joints)
        self.simulator = simulator
        self.table = table_hash(joints)
        self.limit = np.array([joint.torque_limit for joint in joints])
        self.mode = Mode.UNCONFIGURED
        self.faults = BoardFault(0)  # of the last stop or lapse, cleared by Reset and by arming
        self.configure: Configure | None = None
        self.echo = 0  # stamp of the last valid command [µs, host's clock]
        self._command = WireCommand.idle(Mode.DISARMED, 0, self.n)
        self._fed = 0  # arrival of the last valid command
        self._stopped = 0  # begin of the emergency stop
        self._blocked = False  # a cause to stop is present

    # ---- what comes in ----

    def receive(self, packet: Packet, now: int) -> Fault | None:
        """Act on a frame from the host; the fault to send back if it was not obeyed."""
        frame = packet.frame
        if isinstance(frame, EmergencyStop):
            self.stop(FaultCode.EMERGENCY_STOP, now)
        elif isinstance(frame, WireReset):
            self._reset()
        elif isinstance(frame, Configure):
            return self._take_configuration(frame)
        elif isinstance(frame, WireCommand):
            return self._take_command(frame, packet.stamp, now)
        return None

    def tick(self, now: int, severe: bool, line: bool) -> None:
        """Every control period: the watchdogs, a severe joint fault, the emergency stop line (True: pressed)."""
        self._blocked = severe or line
        if line:
            self.stop(FaultCode.EMERGENCY_STOP, now)
        elif severe and (self.mode in ARMED_MODES or self.mode is Mode.LAPSED):
            self.stop(FaultCode.JOINT_FAULT, now)
        if self.mode in ARMED_MODES and now - self._fed >= WATCHDOG:
            self.mode = Mode.LAPSED
            self.faults |= BoardFault.WATCHDOG
        if self.mode is Mode.LAPSED and now - self._fed >= POWER_OFF:
            self.mode = Mode.OFF
        if self.mode is Mode.STOPPING and now - self._stopped >= POWER_OFF:
            self.mode = Mode.STOPPED

    def lose_time(self, lost: int) -> None:
        """The board's clock missed so much of the wall's [µs], as in a simulator that is late; watchdogs count it."""
        self._fed -= lost
        self._stopped -= lost

    def stop(self, code: FaultCode, now: int) -> None:
        """Emergency stop: brake where the drives are on, then off; latched."""
        self.faults |= BoardFault[code.name]
        if self.mode in ARMED_MODES or self.mode is Mode.LAPSED:
            self.mode, self._stopped = Mode.STOPPING, now
        elif self.mode is not Mode.STOPPING:
            self.mode = Mode.STOPPED

    def port_closed(self, now: int) -> None:
        """The host is gone. Drives that are on brake, and the stop is latched; where they are off there is nothing to
        stop. Whoever comes next has to say what it wants."""
        if self.mode in ARMED_MODES or self.mode in BRAKING_MODES:
            self.stop(FaultCode.PORT_CLOSED, now)
            return
        self.configure = None
        if self.mode is Mode.DISARMED:
            self.mode = Mode.UNCONFIGURED

    def _reset(self) -> None:
        if self.mode is Mode.STOPPED and not self._blocked:
            if BoardFault.PORT_CLOSED in self.faults:
                self.configure = None  # it was needed to brake until now
            self.mode, self.faults = Mode.OFF, BoardFault(0)

    def _take_configuration(self, configure: Configure) -> Fault | None:
        if self.mode not in (Mode.UNCONFIGURED, Mode.DISARMED):
            return Fault(FaultCode.REFUSED, BOARD, Configure.TYPE, self.mode)
        self.mode, self.configure = Mode.UNCONFIGURED, None
        if configure.table != self.table or len(configure.torque_limit) != self.n:
            return Fault(FaultCode.WRONG_TABLE, BOARD, len(configure.torque_limit), self.n)
        if configure.lockstep and not self.simulator:
            return Fault(FaultCode.BAD_CONFIGURATION, BOARD, 1.0, 0.0)
        wanted, damping = configure.torque_limit, configure.damping
        for joint in range(self.n):
            if not 0.0 <= wanted[joint] <= np.float32(self.limit[joint]):
                return Fault(FaultCode.BAD_CONFIGURATION, joint, float(wanted[joint]), float(self.limit[joint]))
            if not 0.0 <= damping[joint] < np.inf:
                return Fault(FaultCode.BAD_CONFIGURATION, joint, float(damping[joint]), 0.0)
        self.mode, self.configure = Mode.DISARMED, configure
        return None

    def _take_command(self, command: WireCommand, stamp: int, now: int) -> Fault | None:
        if command.joints.shape[1] != self.n or not np.isfinite(command.joints).all():
            return Fault(FaultCode.BAD_COMMAND, BOARD, command.joints.shape[1], self.n)
        age = now - command.answers
        if not 0 <= age <= WATCHDOG:
            return Fault(FaultCode.STALE_COMMAND, BOARD, age * 1e-6, WATCHDOG * 1e-6)
        self._fed, self.echo = now, stamp
        mode = TRANSITIONS[self.mode].get(command.mode)
        arming = self.mode is Mode.DISARMED and mode is Mode.DAMPING
        if mode is None or (arming and self._blocked):
            return Fault(FaultCode.REFUSED, BOARD, WireCommand.TYPE, self.mode)
        if arming:
            self.faults = BoardFault(0)
        if mode is Mode.DISARMED and self.configure is None:
            mode = Mode.UNCONFIGURED
        self.mode, self._command = mode, command
        return None

    # ---- what goes out ----

    @property
    def configuration(self) -> int:
        """Check sum of the configuration in force, 0 without one."""
        return 0 if self.configure is None else self.configure.checksum

    def starved(self, now: int) -> int:
        """Time since the last valid command, or since the beginning [µs]."""
        return now - self._fed

    def echo_age(self, now: int) -> int:
        """Time since the last valid command arrived [µs]."""
        return min(self.starved(now), 0xFFFFFFFF) if self.echo else 0

    def torque(self, position: Array, velocity: Array, share: Array) -> Array:
        """Of every drive (n,) [N m]; ``share`` is the part of its torque limit that each joint may use (n,)."""
        if self.configure is None:
            return np.zeros(self.n)
        rows = self._command.joints
        if self.mode in BRAKING_MODES:
            wanted = -self.configure.damping * velocity
        elif self.mode is Mode.TORQUE:
            wanted = rows[0]
        elif self.mode is Mode.IMPEDANCE:
            wanted = rows[0] + rows[3] * (rows[1] - position) + rows[4] * (rows[2] - velocity)
        else:
            return np.zeros(self.n)
        limit = self.configure.torque_limit * share
        torque = np.minimum(np.maximum(wanted, -limit), limit)
        return torque if np.isfinite(torque.dot(torque)) else np.nan_to_num(torque, nan=0.0)


class Derating:
    """Less torque for joints that are hot or badly fed; the limits are those of a joint table."""

    def __init__(self, joints: Sequence[Joint]) -> None:
        self._hottest = np.array([joint.temperature_max for joint in joints])
        self._lowest = np.array([joint.voltage_min for joint in joints])
        self._voltage_scale = DERATING_VOLTAGE * self._lowest

    def share(self, temperature: Array, voltage: Array) -> Array:
        """Of the torque limit that each joint may use, 0 to 1 (n,); what is not measured does not derate."""
        cool = (self._hottest - temperature) / DERATING_KELVIN
        fed = (voltage - self._lowest) / self._voltage_scale
        share: Array = np.maximum(np.fmin(np.fmin(cool, fed), 1.0), 0.0)  # fmin ignores NaN
        return share
