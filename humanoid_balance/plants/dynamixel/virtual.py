"""Virtual servos of the X series on one bus: control tables, current control, bus watchdog, faults. For tests.

Bytes come in with the time, bytes go out; what the shafts do is told from outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from humanoid_balance.plants.dynamixel import servo as registers
from humanoid_balance.plants.dynamixel.faults import ALERT, HardwareError, StatusError
from humanoid_balance.plants.dynamixel.instructions import (
    ServoStatus,
    fast_status,
    parse_range,
    parse_sync_write,
    status,
)
from humanoid_balance.plants.dynamixel.packet import BROADCAST, Instruction, Received, ServoDecoder
from humanoid_balance.plants.dynamixel.servo import Register, Servo

TABLE = 256  # bytes of a control table
FIRMWARE = 45
WATCHDOG_UNIT = 20_000  # [µs]
TRIPPED = 0xFF  # value of the bus watchdog after it has stopped the servo


@dataclass
class VirtualServo:
    """One servo and its control table."""

    servo: Servo
    model: int = 1020
    table: bytearray = field(default_factory=lambda: bytearray(TABLE))
    silent: bool = False  # it does not answer any more
    fed: int = 0  # when it was spoken to last [µs]

    def __post_init__(self) -> None:
        self.put(registers.MODEL_NUMBER, self.model)
        self.put(registers.RETURN_DELAY, 250)
        self.put(registers.OPERATING_MODE, 3)  # position control, as it leaves the factory
        self.put(registers.CURRENT_LIMIT, 2047)
        self.show(0.0, 0.0, 0.0)
        self.table[144:147] = (120).to_bytes(2, "little") + bytes((30,))  # 12 V, 30 °C

    def get(self, register: Register, signed: bool = False) -> int:
        data = self.table[register.address : register.address + register.size]
        return int.from_bytes(data, "little", signed=signed)

    def put(self, register: Register, value: int) -> None:
        data = value.to_bytes(register.size, "little", signed=value < 0)
        self.table[register.address : register.address + register.size] = data

    def fail(self, error: HardwareError) -> None:
        """A hardware error switches the torque off."""
        self.put(registers.HARDWARE_ERROR, self.get(registers.HARDWARE_ERROR) | error)
        self.put(registers.TORQUE_ENABLE, 0)

    def show(self, position: float, velocity: float, torque: float) -> None:
        """What the encoder and the current sensor see: rad, rad/s, N m at the shaft."""
        self.table[126:136] = self.servo.registers(position, velocity, torque)

    def torque(self) -> float:
        """At the shaft [N m]: current control, torque on, no watchdog tripped."""
        on = self.get(registers.TORQUE_ENABLE) == 1 and self.get(registers.OPERATING_MODE) == registers.CURRENT_CONTROL
        if not on or self.get(registers.BUS_WATCHDOG) == TRIPPED:
            return 0.0
        limit = self.get(registers.CURRENT_LIMIT)
        counts = max(-limit, min(limit, self.get(registers.GOAL_CURRENT, signed=True)))
        return counts * self.servo.current_unit * self.servo.torque_constant

    def tick(self, now: int) -> bool:
        """The bus watchdog runs while the torque is on; True when it trips."""
        if now - self.fed <= WATCHDOG_UNIT:  # the usual case, at once
            return False
        units = self.get(registers.BUS_WATCHDOG)
        on = self.get(registers.TORQUE_ENABLE)
        trips = bool(on) and units not in (0, TRIPPED) and now - self.fed > units * WATCHDOG_UNIT
        if trips:
            self.put(registers.BUS_WATCHDOG, TRIPPED)
        return trips

    @property
    def alert(self) -> int:
        return ALERT if self.get(registers.HARDWARE_ERROR) else 0

    def write(self, address: int, data: bytes) -> int:
        """The error number of the answer."""
        if address + len(data) > TABLE:
            return StatusError.DATA_RANGE
        on = self.get(registers.TORQUE_ENABLE)
        if on and address < registers.TORQUE_ENABLE.address:
            return StatusError.ACCESS  # the first part of the table is locked while the torque is on
        if address == registers.GOAL_CURRENT.address and self.get(registers.BUS_WATCHDOG) == TRIPPED:
            return StatusError.DATA_RANGE
        if address == registers.TORQUE_ENABLE.address and self.get(registers.HARDWARE_ERROR):
            return StatusError.RESULT_FAIL
        self.table[address : address + len(data)] = data
        return StatusError.NONE


class VirtualServos:
    """All servos of a bus."""

    def __init__(self, servos: Sequence[Servo]) -> None:
        self.servos: Mapping[int, VirtualServo] = {servo.identifier: VirtualServo(servo) for servo in servos}
        self._decoder = ServoDecoder()

    def receive(self, data: bytes, now: int) -> bytes:
        """Act on what the host sent; the answer. ``now`` in µs."""
        answer = b""
        for packet in self._decoder.feed(data):
            for servo in self.servos.values():
                servo.fed = now
            answer += self._answer(packet)
        return answer

    def tick(self, now: int) -> bool:
        """True when a watchdog trips."""
        return any([servo.tick(now) for servo in self.servos.values()])

    def _answer(self, packet: Received) -> bytes:
        parameters = packet.parameters
        if packet.instruction in (Instruction.SYNC_READ, Instruction.FAST_SYNC_READ):
            return self._group(packet.instruction, *parse_range(parameters))
        if packet.instruction == Instruction.SYNC_WRITE:
            address, values = parse_sync_write(parameters)
            for identifier, value in values.items():
                if identifier in self.servos and not self.servos[identifier].silent:
                    self.servos[identifier].write(address, value)
            return b""
        addressed = self.servos.values() if packet.identifier == BROADCAST else [self.servos.get(packet.identifier)]
        return b"".join(self._single(servo, packet) for servo in addressed if servo is not None and not servo.silent)

    def _group(self, instruction: int, address: int, length: int, identifiers: bytes) -> bytes:
        answers: list[ServoStatus] = []
        for identifier in identifiers:
            servo = self.servos.get(identifier)
            if servo is None or servo.silent:
                if instruction == Instruction.FAST_SYNC_READ:
                    break  # the next one waits for its turn in vain
                continue
            answers.append(ServoStatus(identifier, servo.alert, bytes(servo.table[address : address + length])))
        if instruction == Instruction.SYNC_READ:
            return b"".join(status(*answer) for answer in answers)
        whole = fast_status(
            [*answers, *(ServoStatus(0, 0, bytes(length)) for _ in range(len(identifiers) - len(answers)))]
        )
        return whole[: len(whole) - (len(identifiers) - len(answers)) * (length + 4)]

    def _single(self, servo: VirtualServo, packet: Received) -> bytes:
        identifier = servo.servo.identifier
        if packet.instruction == Instruction.PING:
            return status(identifier, servo.alert, servo.model.to_bytes(2, "little") + bytes((FIRMWARE,)))
        if packet.instruction == Instruction.READ:
            address, length, _ = parse_range(packet.parameters)
            return status(identifier, servo.alert, bytes(servo.table[address : address + length]))
        if packet.instruction == Instruction.WRITE:
            address = int.from_bytes(packet.parameters[:2], "little")
            return status(identifier, servo.write(address, packet.parameters[2:]) | servo.alert, b"")
        if packet.instruction == Instruction.REBOOT:
            servo.put(registers.HARDWARE_ERROR, 0)
            servo.put(registers.TORQUE_ENABLE, 0)
            servo.put(registers.BUS_WATCHDOG, 0)
            return status(identifier, 0, b"")
        return status(identifier, StatusError.INSTRUCTION | servo.alert, b"")
