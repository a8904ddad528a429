"""A chain of virtual Dynamixel servos that drive part of a body's joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.board.faults import PlannedFault
from humanoid_balance.plants.dynamixel import HardwareError, Servo
from humanoid_balance.plants.dynamixel import servo as registers
from humanoid_balance.plants.dynamixel.virtual import TRIPPED, VirtualServos
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.serial.calibration import Calibration
from humanoid_balance.types import Array, SensorFrame

ERRORS = {"over-temperature": HardwareError.OVERHEATING, "brown-out": HardwareError.INPUT_VOLTAGE}


class ServoChain:
    """Servos by joint name, on one half-duplex line; they answer what they are asked, and see no port closing."""

    half_duplex, lockstep, answered = True, False, False
    period, sampled = 0, 0

    def __init__(self, name: str, body: Body, servos: Mapping[str, Servo], gauge: Calibration) -> None:
        """``gauge`` is the calibration from the shafts to the joints."""
        self.name, self.body, self.gauge = name, body, gauge
        self.joints = tuple(servos)
        self.index = np.array([body.robot.joint_names.index(joint) for joint in servos], dtype=int)
        self._servos = tuple(servos.values())
        self.out: list[bytes] = []
        self.power_up()

    def power_up(self) -> None:
        self.chain = VirtualServos(self._servos)
        self._shafts = tuple(self.chain.servos.values())
        self._fed = 0
        self._look()

    def _look(self) -> None:
        """What the control tables say: they change with a packet, a watchdog or a fault, the body moves in between."""
        self._given = self.gauge.torque(np.array([shaft.torque() for shaft in self._shafts]))
        self._mode = Mode.DISARMED
        if any(shaft.get(registers.BUS_WATCHDOG) == TRIPPED for shaft in self._shafts):
            self._mode = Mode.LAPSED
        elif any(shaft.get(registers.TORQUE_ENABLE) for shaft in self._shafts):
            self._mode = Mode.TORQUE

    @property
    def mode(self) -> Mode:
        """In the words of the boards."""
        return self._mode

    @property
    def why(self) -> str:
        return "watchdog" if self.mode is Mode.LAPSED else ""

    @property
    def following(self) -> bool:
        """A goal current is not zero: servos that the host damps at rest do not let the body go."""
        return bool(self._given.any())

    def receive(self, data: bytes, now: int) -> bool:
        """Answer with what the shafts do now."""
        position, velocity = self.body.joints()
        shown = zip(
            self._shafts,
            self.gauge.raw_position(position[self.index]),
            self.gauge.raw_velocity(velocity[self.index]),
            strict=True,
        )
        for shaft, angle, speed in shown:
            shaft.show(float(angle), float(speed), shaft.torque())
        answer = self.chain.receive(data, now)
        self._fed = now
        self._look()
        if answer:
            self.out.append(answer)
        return False

    def sample(self, sensed: SensorFrame, now: int) -> None:
        """Servos send nothing unasked."""

    def repeat_sample(self) -> None:
        """Servos do not wait for a host."""

    def tick(self, now: int) -> None:
        if self.chain.tick(now):
            self._look()

    def lose_time(self, lost: int) -> None:
        for shaft in self._shafts:
            shaft.fed -= lost
        self._fed -= lost

    def starved(self, now: int) -> int:
        return now - self._fed

    def torque(self, position: Array, velocity: Array) -> Array:
        return self._given

    def ail(self, faults: Sequence[PlannedFault]) -> None:
        """Hardware errors stay until the host reboots the servo; a silent one speaks again when its fault is over."""
        for joint, shaft in zip(self.joints, self._shafts, strict=True):
            present = {fault.kind for fault in faults if fault.joint in (None, joint)}
            shaft.silent = "silent" in present
            for kind, error in ERRORS.items():
                if kind in present:
                    shaft.fail(error)
        if faults:
            self._look()

    def port_closed(self, now: int) -> None:
        """Their own watchdog has to notice."""
