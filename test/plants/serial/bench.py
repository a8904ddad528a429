"""Serial plant and virtual boards in one thread, with virtual time and cables that can be pulled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from humanoid_balance.plants.board import Body, Disturbance, Line, VirtualBoard
from humanoid_balance.plants.port import Port, PortError
from humanoid_balance.plants.protocol import Sensors, WirePush, WireTruth
from humanoid_balance.plants.serial import SerialPlant, table
from humanoid_balance.plants.serial.bus import BoardBus
from humanoid_balance.plants.serial.calibration import JointCalibration
from humanoid_balance.plants.serial.config import BusConfig, HardwareConfig
from humanoid_balance.plants.serial.line import LineSettings
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, SensorFrame

INERTIA = 0.5  # of every joint [kg m²]
FRICTION = 1.0  # [N m s/rad]


class LooseJoints:
    """A body whose joints turn freely under their torques."""

    timestep = 1000  # [µs]

    def __init__(self, robot: Robot) -> None:
        self.robot, self.now = robot, 0
        self.position, self.velocity, self.torque = robot.posture.copy(), np.zeros(robot.n), np.zeros(robot.n)

    def joints(self) -> tuple[Array, Array]:
        return self.position, self.velocity

    def step(self, law: Callable[[Array, Array], Array]) -> None:
        self.torque = law(self.position, self.velocity).copy()
        self.velocity = self.velocity + 1e-3 * (self.torque - FRICTION * self.velocity) / INERTIA
        self.position = self.position + 1e-3 * self.velocity
        self.now += self.timestep

    def sense(self) -> SensorFrame:
        wrench = np.zeros((2, 6))
        wrench[:, 2] = self.robot.weight / 2
        return SensorFrame(
            1e-6 * self.now, self.position, self.velocity, self.torque, np.zeros(3),
            np.array([0.0, 0.0, GRAVITY]), wrench,
        )  # fmt: skip

    def push(self, push: WirePush) -> bool:
        return True

    def truth(self) -> WireTruth:
        zero = np.zeros(3)
        return WireTruth(False, zero, np.array([0.0, 0.0, 0.0, 1.0]), zero, zero, zero, zero)


class Cable(Port):
    """The host's end of a cable in memory."""

    def __init__(self, name: str, board: VirtualBoard, bench: Bench, disturbance: Disturbance, seed: int) -> None:
        super().__init__(name, 4_000_000)
        self.board, self.bench = board, bench
        self.down, self.up = Line(disturbance, 2 * seed), Line(disturbance, 2 * seed + 1)
        self.plugged, self.deaf = True, False  # deaf: bytes are lost both ways
        self.inbox = b""

    def receive(self, timeout: float) -> bytes:
        if not self.plugged:
            raise PortError(f"{self.url}: pulled")
        data, self.inbox = self.inbox, b""
        return data

    def send(self, data: bytes, urgent: bool = False) -> bool:
        if not self.plugged:
            raise PortError(f"{self.url}: pulled")
        if not self.deaf:
            self.down.send(data, 1e-6 * self.bench.body.now)
            self.arrive()
        return True

    def arrive(self) -> None:
        """What is due at the board."""
        data = self.down.due(1e-6 * self.bench.body.now)
        if data:
            self.board.receive(data, self.bench.body.now)


class Bench:
    """The world: advances boards and joints by a millisecond, and carries bytes."""

    def __init__(
        self,
        robot: Robot,
        boards: int = 2,
        body: Body | LooseJoints | None = None,
        disturbance: Disturbance | None = None,
        period: float = 0.001,
        seed: int = 0,
        calibration: Mapping[str, JointCalibration] | None = None,
        torque: float = 1.0,
    ) -> None:
        self.body = body or LooseJoints(robot)
        every = Sensors.IMU | Sensors.LEFT_FOOT | Sensors.RIGHT_FOOT
        known = calibration or {}
        parts = np.array_split(np.arange(robot.n), boards)
        self.boards = [
            VirtualBoard(
                f"board_{k}",
                self.body,  # type: ignore[arg-type]
                part,
                every if k == 0 else Sensors(0),
                table.calibration([robot.joint_names[i] for i in part], known),
            )
            for k, part in enumerate(parts)
        ]
        for board in self.boards:
            board.machine.simulator = False  # as strict as a real one
        bad = disturbance or Disturbance()
        self.cables = [Cable(board.name, board, self, bad, k + 10 * seed) for k, board in enumerate(self.boards)]
        self.after_step: Callable[[], None] = lambda: None
        self.plant = BenchPlant(robot, self, period, known, torque)

    def advance(self) -> None:
        """One millisecond."""
        for board, cable in zip(self.boards, self.cables, strict=True):
            cable.arrive()
            board.tick(self.body.now)
        if isinstance(self.body, Body) and any(board.following for board in self.boards):
            self.body.held = False
        self.body.step(self._law)
        self.after_step()
        sensed = self.body.sense()
        for board, cable in zip(self.boards, self.cables, strict=True):
            if self.body.now - board.sampled >= board.period:
                board.sample(sensed, self.body.now)
            if cable.plugged and not cable.deaf:
                cable.up.send(b"".join(board.out), 1e-6 * self.body.now)
                cable.inbox += cable.up.due(1e-6 * self.body.now)
            board.out.clear()
        for bus in self.plant.buses:
            if bus.connected:
                bus.pump(0.0)

    def _law(self, position: Array, velocity: Array) -> Array:
        torque = np.zeros(len(position))
        for board in self.boards:
            torque[board.index] = board.torque(position, velocity)
        return torque

    def pull(self, k: int) -> None:
        """Pull a plug; the board sees it."""
        if self.cables[k].plugged:
            self.cables[k].plugged = False
            self.boards[k].port_closed(self.body.now)

    def plug(self, k: int) -> None:
        """Put it back in, and let the plant find it, as its reader thread would."""
        if not self.cables[k].plugged:
            self.cables[k].plugged, self.cables[k].inbox = True, b""
            bus = self.plant.buses[k]
            bus.forget()
            bus.connected = True


class BenchPlant(SerialPlant):
    """Without threads: waiting means that the world goes on."""

    def __init__(
        self, robot: Robot, bench: Bench, period: float, known: Mapping[str, JointCalibration], torque: float
    ) -> None:
        self._bench = bench
        bench.plant = self
        self.buses = []
        config = HardwareConfig(tuple(BusConfig(cable.url) for cable in bench.cables), known, torque)
        super().__init__(robot, config, period)

    def _time(self) -> float:
        return 1e-6 * self._clock()

    def _clock(self) -> int:
        return self._bench.body.now + 7_000_000  # the host's clock began at another time

    def _wait(self, seconds: float) -> None:
        for _ in range(max(1, math.ceil(min(seconds, 0.001) / 0.001))):
            self._bench.advance()

    def _open_bus(self, config: BusConfig) -> BoardBus:
        cable = next(cable for cable in self._bench.cables if cable.url == config.port)
        wish = LineSettings(round(1e6 * self.dt), False, self.robot.torque_limit, self.robot.brake)
        bus = BoardBus(cable, self.robot, wish, self.config.calibration, self._news, self._clock)
        bus.connected = True
        return bus
