"""The figures of a run, from records that are written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_balance.experiments import metrics
from humanoid_balance.experiments.contact_delay import LONGEST, ContactDelays, contact_delays
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.record import Record
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import LEFT, RIGHT

DT = 0.001


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("human")


def standing(robot: Robot, seconds: float = 3.0) -> Record:
    """A record of a robot that stands still, its weight shared by both soles."""
    record = Record(robot, round(seconds / DT))
    record.length = round(seconds / DT)
    record["time"][:] = DT * np.arange(record.length)
    record["true_sole_force"][:, :, 2] = robot.weight / 2
    record["true_sole_position"][:, LEFT, 1], record["true_sole_position"][:, RIGHT, 1] = 0.15, -0.15
    record["true_sole_rotation"][:] = np.eye(3)
    record["true_com"][:] = [0.0, 0.0, robot.com_height]
    return record


def swing(record: Record, foot: int, start: float, end: float, way: tuple[float, float]) -> None:
    """Take a foot off the ground between two times and set it down elsewhere."""
    a, b = round(start / DT), round(end / DT)
    record["true_sole_force"][a:b, foot] = 0.0
    record["true_sole_position"][a:b, foot, :2] += np.linspace(0.0, 1.0, b - a)[:, None] * way
    record["true_sole_position"][b:, foot, :2] += way


def test_phases_are_half_open_and_short_ones_are_left_out() -> None:
    flags = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1], dtype=bool)
    assert metrics.phases(flags, 1) == [(0, 2), (3, 4), (6, 9)]
    assert metrics.phases(flags, 2) == [(0, 2), (6, 9)]
    assert metrics.phases(np.zeros(3, dtype=bool), 1) == []


def test_a_still_robot_took_no_step_and_did_not_slip(robot: Robot) -> None:
    record = standing(robot)
    assert metrics.steps(record) == 0
    assert metrics.slip(record) == 0.0
    assert metrics.com_error(record) == 0.0
    assert metrics.recovery_time(record, []) == 0.0


def test_every_landing_elsewhere_is_a_step(robot: Robot) -> None:
    record = standing(robot)
    swing(record, LEFT, 0.5, 0.8, (0.3, 0.0))
    swing(record, RIGHT, 1.0, 1.3, (0.3, 0.0))
    swing(record, LEFT, 1.5, 1.8, (-0.05, 0.05))
    assert metrics.steps(record) == 3


def test_tapping_bouncing_and_a_foot_that_never_lands_are_no_steps(robot: Robot) -> None:
    record = standing(robot)
    swing(record, LEFT, 0.5, 0.8, (0.005, 0.0))  # set down where it stood
    swing(record, RIGHT, 1.0, 1.04, (0.05, 0.0))  # off the ground for 40 ms only
    swing(record, LEFT, 2.5, 3.0, (0.3, 0.0))  # still in the air at the end
    assert metrics.steps(record) == 0


def test_slip_is_the_way_of_a_standing_sole_not_that_of_a_swinging_one(robot: Robot) -> None:
    record = standing(robot)
    swing(record, LEFT, 0.5, 0.8, (0.3, 0.0))
    assert metrics.slip(record) == pytest.approx(0.0, abs=1e-12)
    record["true_sole_position"][2000:, RIGHT, 0] += 0.004
    record["true_sole_position"][2000:, RIGHT, 1] -= 0.003
    assert metrics.slip(record) == pytest.approx(0.005)


def test_zmp_lies_between_the_soles_as_the_load_does(robot: Robot) -> None:
    record = standing(robot)
    record["true_sole_force"][:, :, 2] = 0.75 * robot.weight, 0.25 * robot.weight
    np.testing.assert_allclose(metrics.true_zmp(record)[:, :2], [[0.0, 0.075]] * record.length, atol=1e-12)


def test_zmp_moves_with_the_moment_of_the_soles(robot: Robot) -> None:
    record = standing(robot)
    record["true_sole_moment"][:, :, 1] = -0.02 * robot.weight / 2  # pressed at the toes
    np.testing.assert_allclose(metrics.true_zmp(record)[:, 0], 0.02, atol=1e-12)


def test_zmp_margin_is_the_way_to_the_nearest_edge_of_the_soles(robot: Robot) -> None:
    record = standing(robot)
    middle = metrics.zmp_margin(record)
    front, back = robot.soles[0][:, 0].max(), -robot.soles[0][:, 0].min()
    assert middle == pytest.approx(min(front, back))
    record["true_sole_moment"][1500:, :, 1] = -0.02 * robot.weight / 2
    assert metrics.zmp_margin(record) == pytest.approx(min(front - 0.02, back))


def test_zmp_in_flight_is_unknown_and_leaves_the_margin_alone(robot: Robot) -> None:
    record = standing(robot)
    before = metrics.zmp_margin(record)
    record["true_sole_force"][1000:1100] = 0.0
    assert np.isnan(metrics.true_zmp(record)[1000:1100]).all()
    assert metrics.zmp_margin(record) == before


def test_recovery_counts_from_the_end_of_the_push_to_the_last_motion(robot: Robot) -> None:
    record = standing(robot)
    record["true_com_velocity"][1000:1701, 0] = 0.3
    assert metrics.recovery_time(record, [PushProfile(100.0, 0.1)]) == pytest.approx(0.6)


def test_who_moves_in_the_last_second_is_not_recovered(robot: Robot) -> None:
    record = standing(robot)
    record["true_com_velocity"][2400, 1] = 0.06
    assert metrics.recovery_time(record, [PushProfile(100.0, 0.1)]) is None


def test_who_fell_is_not_recovered(robot: Robot) -> None:
    record = standing(robot)
    record["true_fell"][-1] = 1.0
    assert metrics.recovery_time(record, [PushProfile(100.0, 0.1)]) is None


def test_com_error_counts_from_the_soles_not_from_the_world(robot: Robot) -> None:
    record = standing(robot)
    record["true_com"][1500:, 0] += 0.3
    record["true_sole_position"][1500:, :, 0] += 0.28
    assert metrics.com_error(record) == pytest.approx(0.02)


def test_a_foot_that_is_told_late_is_scored_by_the_true_force(robot: Robot) -> None:
    record = standing(robot)
    record["contact"][:] = 1.0
    swing(record, LEFT, 0.5, 0.8, (0.1, 0.0))
    record["contact"][504:802, LEFT] = 0.0
    found = contact_delays(record)
    assert found.lift_offs == pytest.approx([0.004]) and found.landings == pytest.approx([0.002])
    assert found.chatter == 0


def test_a_bounce_is_not_scored_but_a_change_without_cause_is_chatter(robot: Robot) -> None:
    record = standing(robot)
    record["contact"][:] = 1.0
    swing(record, LEFT, 0.5, 0.508, (0.0, 0.0))  # told or not, it is a bounce
    record["contact"][504:510, LEFT] = 0.0
    assert contact_delays(record) == ContactDelays([], [], 0)
    record["contact"][1000:1010, RIGHT] = 0.0
    assert contact_delays(record).chatter == 2


def test_a_lift_off_that_is_never_told_is_the_latest_of_all(robot: Robot) -> None:
    record = standing(robot)
    record["contact"][:] = 1.0
    swing(record, RIGHT, 0.5, 0.8, (0.1, 0.0))
    assert contact_delays(record).lift_offs == [LONGEST]


def test_roughness_is_the_rate_of_the_torques_over_their_limits(robot: Robot) -> None:
    record = standing(robot)
    record["true_torque"][:] = robot.torque_limit * np.sin(2 * np.pi * 5.0 * record["time"])[:, None]
    assert metrics.torque_roughness(record) == pytest.approx(2 * np.pi * 5.0 / np.sqrt(2), rel=1e-3)
