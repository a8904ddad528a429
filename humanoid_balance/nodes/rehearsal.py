"""Once through the boxes before it counts: what is used for the first time takes milliseconds, and a tick has one.

A robot that stands still is made up, the boxes answer it for a few ticks, and the whole-body controller gets its
solvers for standing and for a step with either foot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_balance import stack
from humanoid_balance.balance.reference import SWING
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, BodyReference, FootReference, RobotState, SensorFrame, TorqueCommand
from humanoid_balance.wholebody.controller import WholeBody

TICKS = 20
PERIOD = 0.001  # [s]
LIFT = 0.05  # of a swinging sole [m]


def standing_still(robot: Robot, stamp: float) -> SensorFrame:
    """What the sensors of a robot in its nominal stance say, on level ground."""
    pin.framesForwardKinematics(robot.model, robot.data, robot.q_nominal)
    up = robot.data.oMf[robot.imu_frame].rotation[2]
    zero, wrench = np.zeros(robot.n), np.zeros((2, 6))
    wrench[:, 2] = robot.weight / 2
    return SensorFrame(stamp, robot.posture, zero, zero, np.zeros(3), GRAVITY * up, wrench)


def usual_problems(state: RobotState, standing: BodyReference) -> Iterator[tuple[RobotState, BodyReference]]:
    """What the whole-body controller is asked while the robot stands and steps, one problem of each shape."""
    yield state, standing
    for side in range(2):
        contact, place = np.array([True, True]), state.sole_position.copy()
        contact[side] = False
        place[side] += LIFT * state.ground_normal
        lifted = replace(state, contact=contact, sole_position=place)
        foot = FootReference(place[side], state.sole_rotation[side], np.zeros(6), np.zeros(6))
        swing = replace(standing, stack=SWING, contact=contact, feet=(None, foot) if side else (foot, None))
        yield state, swing  # the foot is about to leave
        yield lifted, swing
        yield lifted, standing  # it should be down, and is not


class StillPlant:
    """A robot that stands still whatever it is told."""

    dt = PERIOD

    def __init__(self, robot: Robot) -> None:
        self._robot, self._ticks = robot, 0

    def read(self) -> SensorFrame:
        self._ticks += 1
        return standing_still(self._robot, self._ticks * PERIOD)

    def write(self, command: TorqueCommand) -> None:
        """It moves nothing."""


def rehearse(robot: Robot, settings: BalanceSettings, wholebody: WholeBody) -> None:
    """Prepare ``wholebody``; all boxes would remember what was made up, so a loop of others stands in."""
    loop = stack.build(robot, StillPlant(robot), settings, safety=stack.active(robot, np.zeros(robot.n)))
    for _ in range(TICKS):
        tick = loop.tick()
    assert isinstance(tick.reference, BodyReference)  # a robot that stands still
    for seen, wanted in usual_problems(tick.state, tick.reference):
        loop.wholebody.update(seen, wanted)
        wholebody.prepare(seen, wanted)
