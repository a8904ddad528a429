"""The nominal gait: it repeats itself on a pendulum, goes as fast as commanded and stays within what legs can do."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.balance.gait import Gait, Velocity
from humanoid_balance.balance.legs import Legs
from humanoid_balance.balance.pace import Pace
from humanoid_balance.balance.reach import Reach
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, LEFT, RIGHT


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


@pytest.fixture(scope="module")
def gait(robot: Robot) -> Gait:
    return Gait(robot, Reach.of(robot))


@pytest.mark.parametrize("velocity", [(0.4, 0.0, 0.0), (-0.2, 0.0, 0.0), (0.0, 0.15, 0.0), (0.3, -0.1, 0.0)])
def test_a_pendulum_that_steps_nominally_repeats_itself(robot: Robot, gait: Gait, velocity: Velocity) -> None:
    """DCM and feet after two steps are where they were, but for the distance that was commanded."""
    foot = np.zeros(2)
    dcm = foot + gait.step(velocity, RIGHT, robot.omega, 0.0).offset
    start = dcm - foot
    for side in (LEFT, RIGHT):
        step = gait.step(velocity, side, robot.omega, 0.0)
        dcm = foot + (dcm - foot) * math.exp(robot.omega * step.time)
        foot = foot + step.place
        np.testing.assert_allclose(dcm - foot, step.offset, atol=1e-12)
    np.testing.assert_allclose(dcm - foot, start, atol=1e-12)
    np.testing.assert_allclose(foot, 2 * gait.step_time(velocity) * np.array(velocity[:2]), atol=1e-12)


def test_feet_do_not_come_nearer_than_they_can_when_walking_sideways(robot: Robot, gait: Gait) -> None:
    _, aside, _ = gait.limited((0.0, 9.0, 0.0))
    for side, sign in ((LEFT, 1.0), (RIGHT, -1.0)):
        _, y = gait.step((0.0, aside, 0.0), side, robot.omega, 0.0).place
        assert gait.reach.near - 1e-9 <= sign * y <= gait.reach.far + 1e-9


def test_steps_become_quicker_before_they_become_too_long(gait: Gait) -> None:
    fastest = gait.longest / gait.quickest
    for speed in np.linspace(0.0, fastest, 20).tolist():
        assert speed * gait.step_time((speed, 0.0, 0.0)) <= gait.longest + 1e-9
    assert gait.step_time((fastest, 0.0, 0.0)) < gait.step_time((0.1, 0.0, 0.0))


def test_huge_commands_are_clamped_one_by_one_and_together(robot: Robot, gait: Gait) -> None:
    fastest, _, _ = gait.limited((9.0, 0.0, 0.0))
    assert fastest == pytest.approx(robot.config.steps.walk * math.sqrt(GRAVITY * robot.com_height))
    assert gait.limited((0.5 * fastest, 0.05, -0.2)) == pytest.approx((0.5 * fastest, 0.05, -0.2))
    _, widest, _ = gait.limited((0.0, 9.0, 0.0))
    _, _, quickest = gait.limited((0.0, 0.0, 9.0))
    together = gait.limited((9.0, 9.0, 9.0))
    assert together == pytest.approx((0.5 * fastest, 0.5 * widest, 0.5 * quickest))


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_is_no_speed(gait: Gait, wild: float) -> None:
    assert gait.limited((wild, wild, wild)) == (0.0, 0.0, 0.0)


def test_a_foot_turns_no_further_than_hips_and_ankles_let_it(robot: Robot, gait: Gait) -> None:
    for side, sign in ((LEFT, 1.0), (RIGHT, -1.0)):
        assert sign * gait.step((0.0, 0.0, 9.0), side, robot.omega, sign * 9.0).turn <= 2 * gait.legs.toes_out
        assert sign * gait.last_step(side, -sign * 9.0).turn >= -2 * gait.legs.toes_in


def test_the_last_step_leaves_the_feet_square_and_the_dcm_between_them(robot: Robot, gait: Gait) -> None:
    step = gait.last_step(LEFT, 0.0)
    assert step.place == pytest.approx((0.0, robot.stance_width))
    assert np.add(step.place, step.offset) == pytest.approx((0.0, robot.stance_width / 2))


def test_long_steps_take_the_body_down_so_that_the_leg_behind_still_reaches_the_ground(gait: Gait) -> None:
    legs, fast = gait.legs, (gait.limited((9.0, 0.0, 0.0))[0] * 0.6, 0.0, 0.0)
    drop = gait.robot.com_height - gait.height(fast)
    behind = fast[0] * (gait.step_time(fast) / 2 + gait.transfer)
    assert math.hypot(behind, legs.standing - drop) <= legs.longest
    assert gait.height((0.0, 0.0, 0.0)) == gait.robot.com_height


def test_a_leg_is_longer_than_it_stands_and_no_longer_than_the_body(robot: Robot) -> None:
    legs = Legs.of(robot)
    assert legs.standing < legs.longest < 1.2 * robot.com_height
    assert legs.toes_out > 0.2
    assert legs.toes_in > 0.2


def test_a_walk_that_is_five_per_cent_slow_is_brought_to_its_speed() -> None:
    pace, wanted, x, stamp = Pace(3.0), (0.8, 0.0, 0.0), 0.0, 0.0
    for k in range(30):
        x += 0.95 * (wanted[0] + pace.correction[0]) * 0.4
        stamp += 0.4
        pace.landed(k % 2, stamp, (x, 0.0), 0.0, wanted)
    assert 0.95 * (wanted[0] + pace.correction[0]) == pytest.approx(0.8, rel=0.005)


def test_a_stride_in_which_the_command_changed_says_nothing_about_the_pace() -> None:
    pace = Pace(3.0)
    for k, speed in enumerate((0.1, 0.2, 0.3, 0.4, 0.5)):
        pace.landed(k % 2, 0.4 * k, (0.0, 0.0), 0.0, (speed, 0.0, 0.0))
    assert pace.correction == (0.0, 0.0)


@pytest.mark.parametrize("aside", [0.2, -0.3])
def test_the_foot_that_follows_comes_no_nearer_than_the_hips_are_apart(gait: Gait, aside: float) -> None:
    """The human's thighs met above the knees with each step of a walk to the side."""
    for side in (LEFT, RIGHT):
        place = gait.step((0.0, aside, 0.0), side, gait.robot.omega, 0.0).place
        assert abs(place[1]) >= max(gait.reach.near, 2 * gait.legs.socket[1]) - 1e-9


@pytest.mark.parametrize("outward", [True, False])
def test_an_ankle_over_a_flat_sole_ends_where_its_roll_joint_does(robot: Robot, outward: bool) -> None:
    """The hip rolls the leg aside, the ankle rolls the sole back, as far as it can."""
    model, data, legs = robot.model, robot.model.createData(), Legs.of(robot)
    sole = robot.sole_frames[0]
    pin.computeJointJacobians(model, data, robot.q_nominal)
    jacobian = pin.getFrameJacobian(model, data, sole, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[3:, 6:]
    rolls = [joint for joint in range(robot.n) if abs(jacobian[0, joint]) > 0.9]
    hip, ankle = rolls[0], rolls[-1]
    q = robot.q_nominal.copy()
    back = -1.0 if outward else 1.0  # roll of the sole against the shank
    turns_up = back * jacobian[0, ankle] > 0.0
    q[7 + ankle] = robot.upper[ankle] if turns_up else robot.lower[ankle]
    rolled = abs(q[7 + ankle] - robot.posture[ankle])
    q[7 + hip] -= back * rolled / jacobian[0, hip]
    pitch = [joint for joint in range(robot.n) if abs(jacobian[1, joint]) > 0.7]
    pin.framesForwardKinematics(model, data, q)
    assert data.oMf[sole].rotation[2, 2] > math.cos(0.06)  # flat
    hip_at, ankle_at = (data.oMi[model.getJointId(robot.joint_names[pitch[k]])].translation for k in (0, -1))
    usual = (legs.outside if outward else legs.inside) + back * math.tan(rolled) * legs.standing
    lean = math.atan2(abs(ankle_at[1] - hip_at[1] - usual), hip_at[2] - ankle_at[2])
    end = math.atan2(abs((legs.outside if outward else legs.inside) - usual), legs.standing)
    assert lean == pytest.approx(end, abs=0.06)
