"""The whole stack over bytes: controller, serial plant, port, virtual board in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.loop import Loop, Tick
from humanoid_balance.nodes.realtime import RealTime
from humanoid_balance.nodes.rehearsal import rehearse
from humanoid_balance.plants.plant import Plant
from humanoid_balance.plants.protocol import Mode, WirePush, WireTruth
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.truth import has_fallen
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import Array, TorqueCommand
from humanoid_balance.wholebody.controller import WholeBody

CLI = (sys.executable, "-c", "import sys; from humanoid_balance.cli import main; sys.exit(main())")
STILL = 0.05  # CoM speed of a robot that has recovered [m/s]


@contextlib.contextmanager
def punctual() -> Iterator[None]:
    """Real-time rank for this thread and those it starts, where permitted: a busy machine makes no robot lapse."""
    RealTime(5).apply(lambda why: None)
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@dataclass
class BoardProcess:
    """A running ``humanoid-balance board``."""

    process: subprocess.Popen[str]
    ports: list[str]

    def finish(self) -> str:
        """End it; what it said on stderr."""
        self.process.terminate()
        return self.process.communicate(timeout=10)[1]


@contextlib.contextmanager
def board(*options: str) -> Iterator[BoardProcess]:
    command = [*CLI, "board", "--json", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield BoardProcess(process, json.loads(line)["ports"])
    finally:
        process.kill()
        process.communicate()


def reset(robot: Robot, ports: list[str], timeout: float = 10.0) -> None:
    """Take boards out of a stop, as an operator would."""
    off = TorqueCommand.damp(0.0, np.zeros(robot.n))
    with SerialPlant(robot, ports) as plant:
        until = time.monotonic() + timeout
        plant.read()
        assert plant.reset() is None
        while any(mode is not Mode.DISARMED for mode in plant.modes):
            assert time.monotonic() < until, plant.modes
            plant.write(off)
            plant.read()


@dataclass
class Story:
    """What a run looked like, from sensors, commands and the simulator's truth."""

    fell: bool = False
    stamps: list[float] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    torques: list[Array] = field(default_factory=list)
    com: list[Array] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def see(self, tick: Tick, com: Array, com_velocity: Array) -> None:
        self.stamps.append(tick.frame.stamp)
        self.positions.append(tick.frame.position)
        self.torques.append(tick.sent.torque)
        self.com.append(com)
        self.speed.append(float(np.linalg.norm(com_velocity)))
        if not self.modes or self.modes[-1] != tick.reference.mode:
            self.modes.append(tick.reference.mode)
        self.wall.append(time.monotonic())

    def recovered(self, quiet: float = 1.0) -> bool:
        """Not fallen, and still for the last second."""
        ended = self.stamps[-1]
        last = [v for t, v in zip(self.stamps, self.speed, strict=True) if t > ended - quiet]
        return not self.fell and max(last) < STILL


def controller(robot: Robot, plant: Plant, settings: BalanceSettings) -> Loop:
    """All boxes, armed; ``loop.safety.activate`` lets them through."""
    safety, wholebody = SafetyBox(robot), WholeBody(robot)
    safety.arm()
    rehearse(robot, settings, wholebody)  # as the nodes do it: a board waits for no first tick
    return Loop(plant, Estimator(robot), Supervisor(robot, settings), wholebody, safety)


def fell(robot: Robot, truth: WireTruth) -> bool:
    up = pin.Quaternion(truth.base_quaternion).toRotationMatrix()[2, 2]
    return has_fallen(truth.touching, up, float(truth.com[2]), robot.com_height)


def push_frame(robot: Robot, plant: SerialPlant, push: PushProfile) -> WirePush:
    """The protocol's frame for a constant push that begins now, through the CoM."""
    truth, frame = plant.truth(), plant.read()
    plant.unread()
    assert truth is not None and plant.buses[0].sample is not None
    data = robot.model.createData()
    q = np.concatenate([truth.base_position, truth.base_quaternion, frame.position])
    pin.framesForwardKinematics(robot.model, data, q)
    point = data.oMf[robot.torso_frame].actInv(truth.com)
    until = plant.buses[0].sample.stamp + round(1e6 * push.duration)
    return WirePush(robot.config.torso, until, point, push.force * push.axis, np.zeros(3))


def run(robot: Robot, plant: SerialPlant, push: PushProfile, settings: BalanceSettings, seconds: float) -> Story:
    """Arm, balance, push; times count from the first controlled tick."""
    loop = controller(robot, plant, settings)
    plant.arm()
    first = plant.read()
    plant.unread()
    loop.safety.activate(first.torque)
    story, pushed, now = Story(), False, 0.0
    while now < seconds - 0.5 * plant.dt and not story.fell:
        now = plant.read().stamp - first.stamp
        plant.unread()
        if not pushed and now >= push.start - 0.5 * plant.dt:
            plant.push(push_frame(robot, plant, push))
            pushed = True
        truth = plant.truth()
        assert truth is not None
        story.see(loop.tick(), truth.com, truth.com_velocity)
        story.fell = fell(robot, truth)
    return story
