"""A robot whose joints are Dynamixel servos and whose IMU and soles are on a board, as one plant."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import stack
from bench import LooseJoints

from humanoid_balance.plants.board import PtyEndpoint, VirtualBoard
from humanoid_balance.plants.dynamixel import HardwareError, Servo
from humanoid_balance.plants.dynamixel.virtual import VirtualServos
from humanoid_balance.plants.protocol import Mode, Sensors
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.serial.calibration import JointCalibration
from humanoid_balance.plants.serial.config import BusConfig, HardwareConfig
from humanoid_balance.robot import registry
from humanoid_balance.types import SensorFrame, TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
OFF, BRAKE = TorqueCommand.damp(0.0, ZERO), TorqueCommand.damp(0.0, ROBOT.brake)
SERVOS = {name: Servo(k, torque_constant=60.0, current_limit=5.0) for k, name in enumerate(ROBOT.joint_names)}
TURNED = ROBOT.joint_names[3]  # mounted the other way round, behind a gear, with an offset
CALIBRATION = {TURNED: JointCalibration(offset=0.2, sign=-1, ratio=2.0)}


@dataclass
class Workshop:
    """Servos and a sensor board on two pseudo-terminals, served by a thread with the wall's clock."""

    servos: VirtualServos
    board: VirtualBoard
    ends: tuple[PtyEndpoint, PtyEndpoint]

    def serve(self, done: threading.Event) -> None:
        start = time.monotonic()
        bus, line = self.ends
        while not done.is_set():
            files = [file for end in self.ends for file in end.files()]
            select.select(files, [], [], 0.001)
            now = round(1e6 * (time.monotonic() - start))
            self.servos.tick(now)
            bus.write(self.servos.receive(bus.read(), now))
            self.board.receive(line.read(), now)
            self.board.tick(now)
            if now - self.board.sampled >= self.board.period:
                self.board.sample(self.board.body.sense(), now)
            line.write(b"".join(self.board.out))
            self.board.out.clear()


@pytest.fixture
def workshop() -> Iterator[Workshop]:
    body = LooseJoints(ROBOT)
    every = Sensors.IMU | Sensors.LEFT_FOOT | Sensors.RIGHT_FOOT
    board = VirtualBoard("sensors", body, np.zeros(0, dtype=int), every)  # type: ignore[arg-type]
    servos = VirtualServos(list(SERVOS.values()))
    for servo, angle in zip(servos.servos.values(), ROBOT.posture, strict=True):
        servo.show(float(angle), 0.0, 0.0)
    servos.servos[3].show(-2.0 * (float(ROBOT.posture[3]) - 0.2), 0.0, 0.0)
    made = Workshop(servos, board, (PtyEndpoint(), PtyEndpoint()))
    done = threading.Event()
    thread = threading.Thread(target=made.serve, args=(done,))
    with stack.punctual():
        thread.start()
        yield made
    done.set()
    thread.join()
    for end in made.ends:
        end.close()


def config(workshop: Workshop) -> HardwareConfig:
    bus, line = workshop.ends
    return HardwareConfig((BusConfig(bus.url, "dynamixel", servos=SERVOS), BusConfig(line.url)), CALIBRATION)


def complete(plant: SerialPlant, seconds: float = 10.0) -> SensorFrame:
    """A frame in which nothing is too old, as happens on a busy machine."""
    until = time.monotonic() + seconds
    while True:
        frame = plant.read()
        plant.write(OFF)
        if all(np.isfinite(part).all() for part in (frame.position, frame.acceleration, frame.wrench)):
            return frame
        assert time.monotonic() < until, frame


def work(plant: SerialPlant, torque: TorqueCommand, seconds: float = 20.0) -> None:
    """Disarm, arm, torque, until ten ticks went well; a machine that stalls for 20 ms lapses, and starts again."""
    until, good = time.monotonic() + seconds, 0
    while good < 10:
        assert time.monotonic() < until, (plant.modes, plant.gate.reason)
        plant.read()
        modes = set(plant.modes)
        good = good + 1 if modes == {Mode.TORQUE} else 0
        if modes <= {Mode.DAMPING, Mode.TORQUE} and not plant.gate.latched:
            plant.write(torque)
        else:
            plant.write(BRAKE if modes <= {Mode.DISARMED, Mode.DAMPING} and not plant.gate.latched else OFF)


def test_servos_and_a_sensor_board_are_one_plant(workshop: Workshop) -> None:
    with SerialPlant(ROBOT, config(workshop), 0.005) as plant:
        frame = complete(plant)
        np.testing.assert_allclose(frame.position, ROBOT.posture, atol=2e-3)
        assert frame.acceleration[2] == pytest.approx(9.81, abs=1e-3)
        assert frame.wrench[:, 2].sum() == pytest.approx(ROBOT.weight, rel=1e-3)
        torque = 0.05 * ROBOT.torque_limit
        work(plant, TorqueCommand(0.0, torque, ZERO, ZERO, ZERO, ZERO))
        shafts = np.array([servo.torque() for servo in workshop.servos.servos.values()])
        expected = torque.copy()
        expected[3] /= -2.0  # through the gear, the other way round
        np.testing.assert_allclose(shafts, expected, atol=60.0 * 2.69e-3)
        workshop.servos.servos[5].fail(HardwareError.OVERHEATING)
        until = time.monotonic() + 2.0
        while (trouble := plant.trouble(armed=False)) is None or trouble.what != "over_temperature":
            assert time.monotonic() < until, trouble
            plant.read()
            plant.write(BRAKE)
        assert trouble.where == ROBOT.joint_names[5]
    assert not any(servo.torque() for servo in workshop.servos.servos.values())


def test_boards_set_the_pace_and_servos_that_do_not_answer_hold_up_nothing(workshop: Workshop) -> None:
    with SerialPlant(ROBOT, config(workshop), 0.005) as plant:
        complete(plant)
        for servo in workshop.servos.servos.values():
            servo.silent = True
        stamps = []
        for _ in range(40):
            stamps.append(plant.read().stamp)
            plant.write(OFF)
    assert np.diff(stamps).min() < 2 * plant.dt, "the loop waits up to three periods for boards"
