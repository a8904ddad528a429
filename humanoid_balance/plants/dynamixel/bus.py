"""A Dynamixel bus as one board: each cycle writes goal currents and reads all servos; the host is the board's brain.

Modes, watchdog, emergency stop and torque law are those of every board (``BoardMachine``); braking and impedance are
computed here, as servos in current control know torque alone. If the host dies, the servos' own bus watchdog stops
them after 20 ms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel import servo as registers
from humanoid_balance.plants.dynamixel.faults import ALERT, joint_fault, status_faults
from humanoid_balance.plants.dynamixel.instructions import (
    ServoStatus,
    fast_blocks,
    fast_sync_read,
    parse_status,
    ping,
    read,
    reboot,
    sync_read,
    sync_write,
    write,
)
from humanoid_balance.plants.dynamixel.packet import BROADCAST, Received, ServoDecoder
from humanoid_balance.plants.dynamixel.servo import COUNTS_PER_TURN, Present, Register, Servo, goals
from humanoid_balance.plants.port import Port
from humanoid_balance.plants.protocol import BoardMachine, Configure, Derating, Joint, JointFault, Mode, Packet
from humanoid_balance.plants.protocol.vocabulary import JOINT_WARNINGS, WATCHDOG
from humanoid_balance.types import Array

ANSWER = 0.008  # a bus that has not answered by then is not going to [s]; well below the servos' watchdog
SILENT = 5_000  # a servo without an answer for so long, and in so many cycles, has the fault SILENT [µs]
MISSED = 3
FIND = 0.1  # patience with each servo at the start [s], ...
TRIES = 3  # ... so many times
HEALTH = 100_000  # between readings of voltage and temperature [µs]
TEMPERATURE_MAX, VOLTAGE_MIN, VOLTAGE_MAX = 80.0, 9.5, 16.0  # of the 12 V servos [°C, V]
SPEED = 50.0  # no such servo is faster [rad/s]


class ServoBus:
    """All servos of one port: ``cycle`` once a period. Angles and torques are those of the shafts."""

    def __init__(self, port: Port, servos: Mapping[str, Servo], ranges: Mapping[str, tuple[float, float]]) -> None:
        """``ranges``: lower and upper position of each shaft [rad]."""
        self.port = port
        self.servos = tuple(servos.values())
        n = len(self.servos)
        self.table = [
            Joint(
                k, n, name, *ranges[name], SPEED, servo.torque_limit, TEMPERATURE_MAX, VOLTAGE_MIN, VOLTAGE_MAX,
                2.0 * math.pi / COUNTS_PER_TURN, servo.current_unit * servo.torque_constant,
            )
            for k, (name, servo) in enumerate(servos.items())
        ]  # fmt: skip
        self.machine, self._derating = BoardMachine(self.table, simulator=False), Derating(self.table)
        self.position, self.velocity, self.torque = (np.full(n, np.nan) for _ in range(3))
        self.temperature, self.voltage = np.full(n, np.nan), np.full(n, np.nan)
        self.joint_faults = np.zeros(n, dtype=np.uint16)
        self.complaints: tuple[str, ...] = ()  # status errors of the last cycle, by servo
        self.decoder = ServoDecoder()
        self._row = {servo.identifier: k for k, servo in enumerate(self.servos)}
        self._heard = np.full(n, -SILENT)  # when each servo answered last [µs]
        self._missed = np.full(n, MISSED)  # cycles since then
        self._on = False  # torque enabled
        self._slow = False  # the last fast read was incomplete: ask each servo for itself
        self._checked = -HEALTH
        self._spoke = 0  # when goals were written last [µs]

    # ---- start ----

    def find(self) -> None:
        """Every servo must be there; it is without torque, in current control and quick to answer then.

        An InputError names the one that is not.
        """
        self._broadcast(registers.TORQUE_ENABLE, 0)
        for servo, joint in zip(self.servos, self.table, strict=True):
            what = f"servo {servo.identifier} of joint '{joint.name}' at {self.port.url}"
            if self._insist(ping(servo.identifier), servo.identifier) is None:
                raise InputError(f"{what}: does not answer")
            mode = bytes((registers.CURRENT_CONTROL,))
            counts = int(servo.current_limit / servo.current_unit).to_bytes(2, "little")
            wanted = (
                (registers.RETURN_DELAY, bytes(1)), (registers.OPERATING_MODE, mode), (registers.CURRENT_LIMIT, counts),
            )  # fmt: skip
            for register, data in wanted:
                answer = self._insist(write(servo.identifier, register.address, data), servo.identifier)
                complaints = status_faults(answer.error) if answer else ("servo_silent",)
                if complaints:
                    raise InputError(f"{what}: refuses register {register.address}: {', '.join(complaints)}")

    def configure(self, configure: Configure, now: int) -> None:
        self.machine.receive(Packet(configure, 0, now), now)

    def reboot(self, row: int) -> None:
        """The only way out of a hardware error; the shaft is without torque afterwards."""
        self._insist(reboot(self.servos[row].identifier), self.servos[row].identifier)
        self.find()

    def release(self) -> None:
        """Torque off at once."""
        self._broadcast(registers.TORQUE_ENABLE, 0)
        self._on = False

    # ---- each period ----

    def cycle(self, now: int) -> None:
        """Goals out, readings in. ``now`` is the host's clock [µs]."""
        self._drive(now)
        health = now - self._checked >= HEALTH
        register = registers.PRESENT_AND_HEALTH if health else registers.PRESENT
        answers = self._read_all(register)
        if health:
            self._checked = now
        complaints: list[str] = []
        self._missed += 1
        for answer in answers:
            self._take(answer, now, complaints)
        self.complaints = tuple(complaints)
        silent = (now - self._heard >= SILENT) & (self._missed >= MISSED)
        for values in (self.position, self.velocity, self.torque):
            values[silent] = np.nan
        self.joint_faults &= ~np.uint16(JointFault.SILENT | JointFault.DERATED)
        self.joint_faults[silent] |= np.uint16(JointFault.SILENT)
        share = self.share()
        self.joint_faults[share < 1.0] |= np.uint16(JointFault.DERATED)
        severe = bool((self.joint_faults & ~np.uint16(JOINT_WARNINGS)).any())
        self.machine.tick(now, severe, False)

    def share(self) -> Array:
        """Part of the torque limit that each servo may use, 0 to 1 (n,)."""
        share = self._derating.share(self.temperature, self.voltage)
        share[(self.joint_faults & np.uint16(JointFault.SILENT)) != 0] = 0.0
        return share

    def _drive(self, now: int) -> None:
        """Torque on and off with the mode; goals while it is on."""
        off = self.machine.mode in (Mode.UNCONFIGURED, Mode.DISARMED, Mode.OFF, Mode.STOPPED)
        if off:
            if self._on:
                self._broadcast(registers.TORQUE_ENABLE, 0)
            self._on = False
            return
        if not self._on:
            for register, value in (
                (registers.GOAL_CURRENT, 0),
                (registers.BUS_WATCHDOG, 0),  # clears one that has tripped
                (registers.TORQUE_ENABLE, 1),
                (registers.BUS_WATCHDOG, registers.WATCHDOG_20_MS),
            ):
                self._broadcast(register, value)
            self._on, self._spoke = True, now
        if now - self._spoke > WATCHDOG:  # the servos have stopped by themselves: nothing but arming brings them back
            self.machine.lose_time(now - self._spoke)
            self.machine.tick(now, False, False)
        self._spoke = now
        torque = self.machine.torque(self.position, self.velocity, self.share())
        address, size = registers.GOAL_CURRENT
        self.port.send(sync_write(address, size, goals(self.servos, torque)))

    def _take(self, answer: ServoStatus, now: int, complaints: list[str]) -> None:
        row = self._row.get(answer.identifier)
        if row is None:
            return
        present: Present = self.servos[row].present(answer.data)
        self._heard[row], self._missed[row] = now, 0
        self.position[row], self.velocity[row] = present.position, present.velocity
        self.torque[row] = present.torque
        if not math.isnan(present.voltage):
            self.temperature[row], self.voltage[row] = present.temperature, present.voltage
        bits = JointFault(0)
        if answer.error:
            complaints += [f"{name} of {self.table[row].name}" for name in status_faults(answer.error)]
        if answer.error & ALERT:
            register = registers.HARDWARE_ERROR
            told = self._ask(read(answer.identifier, *register), answer.identifier)
            bits = joint_fault(told.data[0]) if told and told.data else JointFault.DRIVE
        self.joint_faults[row] = np.uint16(bits)

    # ---- the wire ----

    def _read_all(self, register: Register) -> list[ServoStatus]:
        """Fast sync read; after an incomplete one, a plain one, in which each servo answers for itself."""
        identifiers = [servo.identifier for servo in self.servos]
        self._flush()
        if self._slow:
            self.port.send(sync_read(register.address, register.size, identifiers))
            answers = [status for packet in self._listen(len(identifiers)) if (status := parse_status(packet))]
        else:
            self.port.send(fast_sync_read(register.address, register.size, identifiers))
            packets = [packet for packet in self._listen(1) if packet.identifier == BROADCAST]
            answers = fast_blocks(packets[0].raw if packets else self.decoder.pending, register.size)
        answers = [answer for answer in answers if len(answer.data) == register.size]
        self._slow = len(answers) < len(identifiers)
        return answers

    def _insist(self, packet: bytes, identifier: int) -> ServoStatus | None:
        """Ask several times, with patience."""
        return next((a for _ in range(TRIES) if (a := self._ask(packet, identifier, FIND)) is not None), None)

    def _ask(self, packet: bytes, identifier: int, patience: float = ANSWER) -> ServoStatus | None:
        self._flush()
        self.port.send(packet)
        for answer in map(parse_status, self._listen(1, patience)):
            if answer is not None and answer.identifier == identifier:
                return answer
        return None

    def _broadcast(self, register: Register, value: int) -> None:
        data = value.to_bytes(register.size, "little")
        packet = sync_write(register.address, register.size, {servo.identifier: data for servo in self.servos})
        self.port.send(packet)

    def _flush(self) -> None:
        """What is still on the line answers an older question."""
        while self.port.receive(0.0):
            pass
        self.decoder.clear()

    def _listen(self, count: int, patience: float = ANSWER) -> list[Received]:
        """So many packets, or what came in time."""
        packets: list[Received] = []
        while len(packets) < count:
            data = self.port.receive(patience)
            if not data:
                break
            packets += self.decoder.feed(data)
        return packets
