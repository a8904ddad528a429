"""What the supervisor decides, from states made by hand: no simulation, no sensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance import stack
from humanoid_balance.balance.modes.falling import AT_REST
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import STILL, JointReference, RobotState
from humanoid_balance.wholebody.controller import WholeBody

DT = 0.001


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def moving(robot: Robot, forward: float, stamp: float = 0.0) -> RobotState:
    """Standing on both soles, the whole body moving forward at a speed in units of sqrt(g h)."""
    v = np.zeros(robot.model.nv)
    v[0] = forward * robot.com_height * robot.omega
    state = state_at(robot, robot.q_nominal, v, stamp)
    return replace(state, angular_momentum=np.zeros(3), sole_velocity=np.zeros((2, 6)))


def edge(robot: Robot) -> float:
    """Speed that takes the DCM to the front edge of the soles, in units of sqrt(g h)."""
    state = moving(robot, 0.0)
    return float(state.support[:, 0].max() - state.com[0]) / robot.com_height


def run(supervisor: Supervisor, robot: Robot, forward: float, feasible: bool, ticks: int) -> list[str]:
    for k in range(ticks):
        supervisor.update(moving(robot, forward, k * DT), STILL, feasible)
    return [name for _, name, _ in supervisor.changes]


def test_a_step_is_taken_when_the_whole_body_controller_finds_no_way(robot: Robot) -> None:
    speed = 1.02 * edge(robot)  # a little outside: turning the body could hold it
    able = Supervisor(robot)
    assert run(able, robot, speed, True, 60) == ["in place"]
    unable = Supervisor(robot)
    assert run(unable, robot, speed, False, 60)[:2] == ["in place", "stepping"]
    assert "infeasible" in unable.changes[1][2]


def test_an_infeasible_tick_or_two_changes_nothing(robot: Robot) -> None:
    supervisor = Supervisor(robot)
    for k in range(100):
        supervisor.update(moving(robot, 1.02 * edge(robot), k * DT), STILL, k % 8 != 0)
    assert [name for _, name, _ in supervisor.changes] == ["in place"]


def test_with_the_dcm_inside_infeasibility_is_no_reason_to_step(robot: Robot) -> None:
    assert "stepping" not in run(Supervisor(robot), robot, 0.3 * edge(robot), False, 60)


def test_kudoh_steps_on_infeasibility_alone(robot: Robot) -> None:
    far = 1.6 * edge(robot)
    settings = BalanceSettings(policy="kudoh")
    assert run(Supervisor(robot, settings), robot, far, True, 60) == ["in place"]
    assert "stepping" in run(Supervisor(robot, settings), robot, far, False, 60)


def test_in_place_never_steps(robot: Robot) -> None:
    settings = BalanceSettings(strategy="in-place")
    assert "stepping" not in run(Supervisor(robot, settings), robot, 1.6 * edge(robot), False, 60)


def test_a_capture_point_out_of_reach_is_a_fall(robot: Robot) -> None:
    supervisor = Supervisor(robot)
    assert run(supervisor, robot, 1.5, True, 1) == ["falling"]
    assert "out of reach" in supervisor.changes[0][2]


@pytest.mark.parametrize(("forward", "ticks", "falls"), [(0.4, 12, True), (0.4, 4, False), (0.0, 12, False)])
def test_a_body_beside_its_feet_whose_joints_are_thrown_falls_before_the_safety_box_trips(
    robot: Robot, forward: float, ticks: int, falls: bool
) -> None:
    """A trip would leave it lying for good. A landing is over sooner; over the feet it is for the box to judge."""
    supervisor, box = Supervisor(robot), stack.active(robot, np.zeros(robot.n))
    for k in range(60):
        state = moving(robot, forward, k * DT)
        if 20 <= k < 20 + ticks:
            state.v[6] = 0.99 * float(box.speed.limit[0])  # of the first joint
        supervisor.update(state)
    assert ("falling" in [name for _, name, _ in supervisor.changes]) == falls
    if falls:
        assert robot.joint_names[0] in supervisor.changes[-1][2]


def test_on_the_ground_the_torques_are_off_and_the_joints_are_damped(robot: Robot) -> None:
    supervisor, wholebody = stack.balance(robot), WholeBody(robot)
    for k in range(100):  # a fall begins where the joints are: there is nothing to pull them away at first
        falling = supervisor.update(moving(robot, 1.5, k * DT))
    assert isinstance(falling, JointReference) and falling.yielding
    assert np.abs(wholebody.update(moving(robot, 1.5, 99 * DT), falling).torque).max() > 0
    for k in range(100, 100 + round(AT_REST / DT) + 4):
        state = moving(robot, 0.0, k * DT)
        reference = supervisor.update(state)
    assert isinstance(reference, JointReference) and reference.mode == "lying"
    command = wholebody.update(state, reference)
    assert not command.torque.any() and not command.stiffness.any()
    supervisor.update(moving(robot, 0.0, 9.0))
    assert supervisor.mode.name == "lying"  # nobody asks for anything
