"""One virtual board: frames in, frames out, drives that follow the protocol's rules. No port, no clock of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.board.condition import TEMPERATURE, VOLTAGE, Condition
from humanoid_balance.plants.board.faults import PlannedFault
from humanoid_balance.plants.protocol import (
    BOARD,
    FROM_HOST,
    BoardFault,
    BoardMachine,
    Configure,
    Decoder,
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
    Sensors,
    State,
    WireCommand,
    WireFrame,
    WirePush,
    fault_names,
)
from humanoid_balance.plants.protocol.vocabulary import MAX_JOINTS
from humanoid_balance.plants.serial.calibration import Calibration, JointCalibration
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import LEFT, RIGHT, Array, SensorFrame

FIRMWARE = b"virtual board".ljust(20, b"\0")
UNCONFIGURED_PERIOD = 10_000  # between states [µs]
FIRST_OF_BOARDS = 16  # of the codes of boards; those of joints are smaller
OF_JOINTS = tuple(int(code) for code in FaultCode if code < FIRST_OF_BOARDS)
OF_BOARDS = tuple(int(code) for code in FaultCode if code >= FIRST_OF_BOARDS)
REPEAT = 100_000  # of faults that last, and least time between equal refusals [µs]
DRIVE_SPEED = (1.5, 3.0)  # a drive's speed limit: so many times the joint's, and this much more [rad/s]
TEMPERATURE_MAX, VOLTAGE_MIN, VOLTAGE_MAX = TEMPERATURE + 55.0, 0.75 * VOLTAGE, 1.2 * VOLTAGE
ENCODER_COUNT, TORQUE_COUNT = 2.0**-17, 2.0**-8  # one count [rad], as a share of 1 N m


class VirtualBoard:
    """Part of the joints of a body, and which of its sensors.

    ``gauge`` is the calibration that leads from the board's numbers to the joints', as a host would have it; all that
    the board measures, limits and drives is in its own numbers.
    """

    def __init__(
        self, name: str, body: Body, joints: Array, sensors: Sensors, gauge: Calibration | None = None
    ) -> None:
        self.name, self.body = name, body
        self.index = joints  # of the body's joints (n,)
        self.sensors = sensors
        self.gauge = gauge or Calibration([JointCalibration()] * len(joints))
        self.table = joint_table(body.robot, joints, self.gauge)
        self.decoder = Decoder(FROM_HOST)
        self.half_duplex = False  # it speaks only when it is spoken to
        self.line_pressed = False  # the emergency stop line
        self.out: list[bytes] = []  # wire bytes of the frames that wait to be sent
        self.power_up()

    def power_up(self) -> None:
        """As after a reboot: nothing configured, drives off."""
        self.machine = BoardMachine(self.table, simulator=True)
        self.condition = Condition(self.table)
        self.sender = Sender()
        self.lockstep = False
        self.answered = False  # lock-step: the present sample has its command
        self.sampled = 0  # stamp of the last sample [µs]
        self._frames: list[WireFrame] = []  # of the last sample
        self._told: dict[tuple[int, int], int] = {}  # when a fault was sent last, by code and joint
        self._refused: dict[BoardFault, int] = {}  # when it happened last

    # ---- from the host ----

    def receive(self, data: bytes, now: int) -> bool:
        """Bytes from the line; True if a Command was among them."""
        commanded = False
        for packet in self.decoder.feed(data):
            commanded |= self._take(packet, now)
        return commanded

    def _take(self, packet: Packet, now: int) -> bool:
        frame = packet.frame
        if isinstance(frame, Identify):
            self._introduce(now)
            return False
        if isinstance(frame, WirePush):
            if not self.body.push(frame):
                self._refuse(Fault(FaultCode.REFUSED, BOARD, WirePush.TYPE, self.machine.mode), now)
            return False
        if isinstance(frame, WireCommand) and self.lockstep:
            if frame.answers != self.sampled or self.answered:
                return False  # of another sample: ignored, not refused
            self.answered = True
        fault = self.machine.receive(packet, now)
        if isinstance(frame, Configure):
            self.lockstep = self.machine.configure is not None and self.machine.configure.lockstep
            self.answered = False
        if fault is not None:
            self._refuse(fault, now)
        return isinstance(frame, WireCommand)

    def _introduce(self, now: int) -> None:
        n = len(self.table)
        period = self.body.timestep
        who = Identity(self.name, FIRMWARE, n, self.sensors, True, self.machine.table, period)
        self._send(who, now)
        for joint in self.table:
            self._send(joint, now)

    def _refuse(self, fault: Fault, now: int) -> None:
        self._refused[BoardFault[FaultCode(fault.code).name]] = now
        self._tell(fault, now)

    def _due(self, code: int, joint: int, now: int) -> bool:
        """Asked a thousand times a second for each fault that lasts: a robot that lies has many."""
        return now - self._told.get((code, joint), -REPEAT) >= REPEAT

    def _tell(self, fault: Fault, now: int) -> None:
        if self._due(fault.code, fault.joint, now):
            self._told[fault.code, fault.joint] = now
            self._send(fault, now)

    def port_closed(self, now: int) -> None:
        """The host is gone: what is armed stops, and time runs free."""
        self.machine.port_closed(now)
        self.decoder.restart()
        self.lockstep = False

    # ---- time passes ----

    @property
    def period(self) -> int:
        """Between samples [µs]; 0: one after each Command."""
        configure = self.machine.configure
        if self.half_duplex:
            return 0
        return UNCONFIGURED_PERIOD if configure is None else configure.period

    def tick(self, now: int) -> None:
        """Watchdogs and faults, once a physics step."""
        position, velocity = self._joints(*self.body.joints())
        severe = self.condition.update(position, velocity)
        self.machine.tick(now, severe, self.line_pressed)
        if np.count_nonzero(self.condition.faults):
            for index in np.flatnonzero(self.condition.faults).tolist():
                bits = int(self.condition.faults[index])
                for code in OF_JOINTS:
                    if bits >> code & 1 and self._due(code, index, now):
                        evidence = self.condition.evidence(FaultCode(code), index, velocity, position)
                        self._tell(Fault(FaultCode(code), index, *map(float, evidence)), now)
        if self.machine.faults:
            bits = int(self.machine.faults)
            for code in OF_BOARDS:
                if bits >> code - FIRST_OF_BOARDS & 1 and self._due(code, BOARD, now):
                    self._tell(Fault(FaultCode(code), BOARD, 1.0, 0.0), now)

    def lose_time(self, lost: int) -> None:
        self.machine.lose_time(lost)

    def starved(self, now: int) -> int:
        return self.machine.starved(now)

    def torque(self, position: Array, velocity: Array) -> Array:
        """Of the joints (n,), from the true joint positions and velocities of the whole body."""
        measured = self._joints(position, velocity)
        return self.gauge.torque(self.machine.torque(*measured, self.condition.share))

    def _joints(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """What the board believes of its joints, in its own numbers."""
        i, gauge = self.index, self.gauge
        speed = gauge.raw_velocity(velocity[i])
        q, v, _ = self.condition.measured(gauge.raw_position(position[i]), speed, speed)
        return q, v

    def ail(self, faults: Sequence[PlannedFault]) -> None:
        """Put the drives into the condition that the faults mean."""
        condition, names = self.condition, self.body.robot.joint_names
        position = self.gauge.raw_position(self.body.joints()[0][self.index])
        stuck = np.zeros(len(self.index), dtype=bool)
        condition.heal()
        self.line_pressed = any(fault.kind == "e-stop-line" for fault in faults)
        for fault in faults:
            for row, joint in enumerate(self.index):
                if fault.joint is not None and fault.joint != names[joint]:
                    continue
                if fault.kind == "stuck-encoder":
                    stuck[row] = True
                    condition.stick(row, float(position[row]))
                elif fault.kind == "over-temperature":
                    condition.heat(row)
                elif fault.kind == "brown-out":
                    condition.starve(row)
                elif fault.kind == "silent":
                    condition.silent[row] = True
        condition.release(stuck)

    @property
    def mode(self) -> Mode:
        return self.machine.mode

    @property
    def why(self) -> str:
        """Faults of the board."""
        return ", ".join(fault_names(self.machine.faults, 16)).lower()

    @property
    def following(self) -> bool:
        """The drives run the host's torques."""
        return self.machine.mode in (Mode.TORQUE, Mode.IMPEDANCE)

    # ---- to the host ----

    def sample(self, sensed: SensorFrame, now: int) -> None:
        """Send one sample; the State comes last."""
        self.sampled, self.answered = now, False
        self._frames = self._sample(sensed, now)
        self.repeat_sample()

    def repeat_sample(self) -> None:
        """Send the last sample again, with the same stamps."""
        for frame in self._frames:
            self._send(frame, self.sampled)

    def _sample(self, sensed: SensorFrame, now: int) -> list[WireFrame]:
        frames: list[WireFrame] = []
        if Sensors.IMU in self.sensors:
            frames.append(Imu(sensed.gyro, sensed.acceleration))
        for side, flag in ((LEFT, Sensors.LEFT_FOOT), (RIGHT, Sensors.RIGHT_FOOT)):
            if flag in self.sensors:
                frames.append(FootWrench(side, sensed.wrench[side]))
        if Sensors.IMU in self.sensors:
            frames.append(self.body.truth())
        machine, i, condition, gauge = self.machine, self.index, self.condition, self.gauge
        joints = condition.measured(
            gauge.raw_position(sensed.position[i]),
            gauge.raw_velocity(sensed.velocity[i]),
            gauge.raw_torque(sensed.torque[i]),
        )
        faults = machine.faults
        for bit, when in self._refused.items():
            if now - when < REPEAT:
                faults |= bit
        frames.append(
            State(
                machine.mode, faults, machine.configuration, machine.echo, machine.echo_age(now),
                *joints, condition.temperature, condition.voltage, condition.faults,
            )
        )  # fmt: skip
        return frames

    def _send(self, frame: WireFrame, now: int) -> None:
        self.out.append(self.sender.encode(frame, now))


def joint_table(robot: Robot, joints: Array, gauge: Calibration | None = None) -> list[Joint]:
    """What the board tells about its joints, in its own numbers."""
    gauge = gauge or Calibration([JointCalibration()] * len(joints))
    factor, margin = DRIVE_SPEED
    ends = gauge.raw_position(robot.lower[joints]), gauge.raw_position(robot.upper[joints])
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    speed = np.abs(gauge.raw_velocity(factor * robot.velocity_limit[joints] + margin))
    torque = gauge.limit(robot.torque_limit[joints])
    table: list[Joint] = []
    for row, i in enumerate(joints):
        values: Array = np.array([
            lower[row], upper[row], speed[row], torque[row],
            TEMPERATURE_MAX, VOLTAGE_MIN, VOLTAGE_MAX, ENCODER_COUNT, TORQUE_COUNT,
        ])  # fmt: skip
        exact = values.astype(np.float32).astype(float)  # the host sees single precision, and so does the board
        table.append(Joint(row, len(joints), robot.joint_names[i], *exact.tolist()))
    return table


def boards_of(body: Body, count: int) -> list[VirtualBoard]:
    """``count`` boards that share the joints of a body in order; the first has the IMU, the last the feet."""
    n = body.robot.n
    if not -(-n // MAX_JOINTS) <= count <= n:
        raise InputError(f"boards is {count}; allowed: {-(-n // MAX_JOINTS)} to {n} for {n} joints")
    boards: list[VirtualBoard] = []
    for k, joints in enumerate(np.array_split(np.arange(n), count)):
        sensors = Sensors.IMU if k == 0 else Sensors(0)
        if k == count - 1:
            sensors |= Sensors.LEFT_FOOT | Sensors.RIGHT_FOOT
        boards.append(VirtualBoard(f"board_{k}", body, joints, sensors))
    return boards
