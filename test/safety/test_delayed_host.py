"""Impedance in the drives, feed-forward from a host whose view is 5 ms old: the robot stands and holds.

As over ROS in three processes: the host ticks at 500 Hz, sees the joints 3 ms late, its command arrives 2 ms later. The
drives run torque + stiffness · error + damping · speed error at 1 kHz. The bound on the total is kept by the
feed-forward and reckons with the old state; the gains stay in the drive, where there is no delay.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bringup import BringUp, Stage
from humanoid_balance.types import Array, TorqueCommand

HOST_TICKS = 2  # of the drives, per tick of the host


class DelayedHost:
    """A body with drives at 1 kHz, and bring-up behind two delays."""

    def __init__(self, robot: Robot, body: Body, sensor_delay: int, command_delay: int) -> None:
        """Delays [ms]."""
        self.robot, self.body = robot, body
        self.estimator, self.bringup = Estimator(robot), BringUp(robot)
        self._idle = TorqueCommand.damp(0.0, np.zeros(robot.n))
        self._seen = deque([body.sense()], maxlen=sensor_delay + 1)
        self._sent = deque([self._idle], maxlen=command_delay + 1)
        self._last, self._ticks = self._idle, 0
        self.speed = np.zeros(robot.n)  # mean of the joints' true speeds, of late

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.001)):
            self.tick()

    def tick(self) -> None:
        self._seen.append(self.body.sense())
        if self._ticks % HOST_TICKS == 0:
            frame = self._seen[0]
            state = self.estimator.update(frame)
            self._last = self.bringup.update(frame, state, replace(self._idle, stamp=frame.stamp))
        self._sent.append(self._last)
        self._ticks += 1
        command, limit = self._sent[0], self.robot.torque_limit
        if not command.damped:
            self.body.held = False

        def law(position: Array, velocity: Array) -> Array:
            spring = command.stiffness * (command.position - position)
            return np.clip(command.torque + spring + command.damping * (command.velocity - velocity), -limit, limit)

        self.body.step(law)
        self.speed += 0.002 * (np.abs(self.body.joints()[1]) - self.speed)


def stand(host: DelayedHost, seconds: float) -> None:
    host.run(0.05)
    assert host.bringup.arm() is None
    host.run(0.05)
    assert host.bringup.stand() is None
    host.run(seconds)
    assert host.bringup.stage is Stage.STAND, host.bringup.trip
    off = np.abs(host.body.joints()[0] - host.robot.posture)
    assert off.max() < 0.05, host.robot.joint_names[int(off.argmax())]
    assert host.speed.max() < 0.1  # nothing chatters [rad/s]
    assert host.bringup.activate() is None


def on_the_ground(spec: str, seconds: float) -> None:
    robot = registry.load(spec)
    host = DelayedHost(robot, Body(robot, PlantOptions(noise=1.0)), 3, 2)
    stand(host, seconds)
    assert not host.body.plant.fell()


def test_a_robot_goes_into_its_stance_although_the_host_is_5_ms_late() -> None:
    on_the_ground("g1", 5.0)


@pytest.mark.slow
@pytest.mark.guard
@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_every_robot_holds_its_stance_for_10_s_although_the_host_is_5_ms_late(spec: str) -> None:
    on_the_ground(spec, 10.0)


@pytest.mark.slow
@pytest.mark.guard
@pytest.mark.parametrize("delays", [(3, 2), (6, 4)])
@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_a_hanging_robot_goes_into_its_stance_although_the_host_is_late(spec: str, delays: tuple[int, int]) -> None:
    robot = registry.load(spec)
    turn = np.random.default_rng(0).uniform(-0.3, 0.3, robot.n)
    posture = np.clip(robot.posture + turn, robot.lower, robot.upper)
    host = DelayedHost(robot, Body(robot, PlantOptions(noise=1.0), posture, hoist=0.15), *delays)
    host.bringup.set_hoist(True)
    stand(host, 10.0)
