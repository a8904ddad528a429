"""The safety box while a command gives way: a planned fall, or a body on the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from box_faults import STAMP, active, faulty, is_braking, torques, with_joint

from humanoid_balance import stack
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Arming
from humanoid_balance.types import RobotState, SensorFrame


@pytest.mark.parametrize("kind", ["fast", "above", "below"])
def test_a_joint_that_the_ground_throws_in_a_planned_fall_is_braked_but_does_not_trip(
    kind: str, robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    frame, calm = standing
    thrown, command, what, _ = faulty(kind, robot, *standing)
    thrown = replace(thrown, v=thrown.v + np.where(np.arange(6 + robot.n) == 6 + 4, -8.0, 0.0))
    box, ask = active(robot), replace(command, torque=0.1 * robot.torque_limit, yielding=True)
    for _ in range(20):
        sent = box.update(frame, thrown, ask)
    assert box.arming is Arming.ACTIVE and not sent.damped
    brake = np.clip(-robot.brake[4] * thrown.v[6 + 4], -robot.torque_limit[4], robot.torque_limit[4])
    assert brake != 0.0 and sent.torque[4] == pytest.approx(brake)
    assert sent.torque[5] == pytest.approx(0.1 * robot.torque_limit[5])  # the others go on
    for _ in range(20):
        sent = box.update(frame, calm, ask)
    assert sent.torque[4] == pytest.approx(0.1 * robot.torque_limit[4])  # and so does this one afterwards
    box.update(frame, thrown, replace(ask, yielding=False))
    assert box.trip is not None and box.trip.what.startswith(what)


def test_a_joint_that_runs_away_in_a_planned_fall_gets_no_torque_until_the_fall_is_over(
    robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    """The body rolls over a limb, or a motor is mad: the same to look at. Either way the motor no longer works."""
    asked = np.zeros(robot.n)
    asked[4], asked[5] = -0.5 * robot.torque_limit[4], 0.1 * robot.torque_limit[5]
    box = stack.active(robot, asked)
    for k, speed in enumerate(np.linspace(0.1, 1.2, 120) * robot.velocity_limit[4]):
        frame, state = with_joint(standing, STAMP + 0.001 * k, 4, float(speed), box.bounds.previous[4])
        sent = box.update(frame, state, replace(torques(robot, asked, frame.stamp), yielding=True))
    assert box.arming is Arming.ACTIVE
    assert sent.torque[4] == 0.0 and sent.torque[5] == pytest.approx(asked[5])
    for k in range(120, 140):
        frame, state = with_joint(standing, STAMP + 0.001 * k, 4, 0.0, box.bounds.previous[4])
        sent = box.update(frame, state, torques(robot, asked, frame.stamp))
    assert sent.torque[4] == pytest.approx(asked[4])


@pytest.mark.parametrize("kind", ["not a number", "infinite", "invalid state", "old command"])
def test_a_planned_fall_excuses_no_other_fault(
    kind: str, robot: Robot, standing: tuple[SensorFrame, RobotState]
) -> None:
    state, command, what, _ = faulty(kind, robot, *standing)
    box = active(robot)
    assert is_braking(robot, box.update(standing[0], state, replace(command, yielding=True)))
    assert box.trip is not None and box.trip.what.startswith(what)
