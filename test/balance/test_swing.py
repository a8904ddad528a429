"""The path of a swinging sole, sampled at the control rate."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_balance.balance.swing import LATEST_CHANGE, Pitch, Rolled, Swing
from humanoid_balance.robot import registry
from humanoid_balance.types import Array

DT = 0.001
START = 2.0
CLEARANCE = 0.04
ORIGIN = np.array([0.1, 0.12, 0.02])
LEVEL = np.eye(3)

few = settings(max_examples=25)  # a path has hundreds of samples
durations = st.floats(0.2, 0.7)
ways = st.builds(
    lambda x, y, z: np.array([x, y, z]), st.floats(-0.5, 0.6), st.floats(-0.3, 0.4), st.floats(-0.05, 0.05)
)


def swing_to(way: Array, duration: float, rotation: Array = LEVEL) -> Swing:
    swing = Swing(START, duration, ORIGIN, LEVEL, CLEARANCE)
    swing.retarget(ORIGIN + way, rotation, START + duration)
    return swing


def times(duration: float) -> Array:
    """Ticks from lift-off to just before the landing."""
    return START + DT * np.arange(round(duration / DT))


@few
@given(way=ways, duration=durations)
def test_the_foot_lands_on_its_target_and_at_rest_over_the_ground(way: Array, duration: float) -> None:
    swing = swing_to(way, duration)
    for time in times(duration):
        swing.sample(time)
    landed = swing.sample(START + duration)
    np.testing.assert_allclose(landed.position, ORIGIN + way, atol=1e-6)
    np.testing.assert_allclose(landed.velocity[:2], 0.0, atol=1e-3)


@few
@given(way=ways, duration=durations)
def test_the_foot_leaves_the_ground_from_where_it_stood(way: Array, duration: float) -> None:
    first = swing_to(way, duration).sample(START)
    np.testing.assert_allclose(first.position, ORIGIN, atol=1e-9)
    np.testing.assert_allclose(first.velocity[:2], 0.0, atol=1e-9)
    np.testing.assert_allclose(first.rotation, LEVEL, atol=1e-9)


@few
@given(way=ways, duration=durations)
def test_the_foot_clears_the_ground_from_lift_off_to_landing(way: Array, duration: float) -> None:
    way = np.array([way[0], way[1], 0.02 * way[2]])  # within a millimetre level
    swing = swing_to(way, duration)
    height = []
    for time in times(duration):
        line = ORIGIN[2] + way[2] * (time - START) / duration
        height.append(swing.sample(time).position[2] - line)
    assert min(height) >= -1e-5
    assert max(height) == pytest.approx(CLEARANCE, rel=0.02)
    middle = height[len(height) // 5 : 3 * len(height) // 5]
    assert min(middle) > 0.5 * CLEARANCE


@few
@given(way=ways, change=ways, duration=durations, share=st.floats(0.05, 0.6))
def test_a_moved_target_bends_the_path_without_a_jump(way: Array, change: Array, duration: float, share: float) -> None:
    """Position, speed and acceleration in the plane go on from where they were, and the new target is reached."""
    change = np.array([0.3 * change[0], 0.3 * change[1], 0.0])
    swing, moved = swing_to(way, duration), False
    before = swing.sample(START)
    for time in times(duration)[1:]:
        if not moved and time > START + share * duration:
            swing.retarget(ORIGIN + way + change, LEVEL, START + duration)
            moved = True
        now = swing.sample(time)
        # What is left of a quintic's jerk, at most 60 d / T³, in one tick.
        left = max(START + duration - time, DT)
        jerk = 60 * (np.linalg.norm(way) + np.linalg.norm(change)) / min(left, 0.4 * duration) ** 3
        if left > 0.02:
            assert np.abs(now.position - before.position - DT * before.velocity[:3])[:2].max() < 0.1 * DT
            assert np.abs(now.velocity - before.velocity - DT * before.acceleration)[:2].max() <= jerk * DT**2
        before = now
    np.testing.assert_allclose(swing.sample(START + duration).position, ORIGIN + way + change, atol=1e-6)


@few
@given(way=ways, duration=durations, sign=st.sampled_from([-1.0, 1.0]))
def test_a_landing_time_that_changes_by_little_does_not_make_the_foot_jump(
    way: Array, duration: float, sign: float
) -> None:
    """Two milliseconds a tick, as the planner does it, for a twentieth of the swing."""
    swing, end = swing_to(way, duration), START + duration
    before = swing.sample(START).position
    for time in times(duration)[1:-70]:
        if abs(time - START - 0.4 * duration) < 0.025 * duration:
            end += 0.002 * sign
            swing.retarget(ORIGIN + way, LEVEL, end)
        position = swing.sample(time).position
        fastest = 4.0 * (np.linalg.norm(way) + math.pi * CLEARANCE) / (0.5 * duration)
        assert np.linalg.norm(position - before) < fastest * DT
        before = position


def test_a_change_in_the_last_moment_is_left_out() -> None:
    swing = swing_to(np.array([0.3, 0.0, 0.0]), 0.4)
    late = START + 0.4 - 0.5 * LATEST_CHANGE
    for time in np.arange(START, late, DT):
        swing.sample(time)
    swing.retarget(ORIGIN + np.array([0.5, 0.2, 0.0]), LEVEL, START + 0.6)
    assert swing.end == pytest.approx(START + 0.4)
    np.testing.assert_allclose(swing.target, ORIGIN + np.array([0.3, 0.0, 0.0]))


def test_after_the_planned_landing_the_foot_seeks_the_ground_slowly() -> None:
    swing = swing_to(np.array([0.3, 0.0, 0.0]), 0.4)
    late = [swing.sample(time) for time in np.arange(START, START + 0.5, DT)][-1]
    assert late.position[2] < ORIGIN[2]
    assert late.velocity[2] < 0.0
    np.testing.assert_allclose(late.position[:2], ORIGIN[:2] + np.array([0.3, 0.0]), atol=1e-6)


@few
@given(yaw=st.floats(-0.8, 0.8), pitch=st.floats(-0.3, 0.3), duration=durations)
def test_the_sole_turns_to_its_target_and_its_spin_is_the_turn(yaw: float, pitch: float, duration: float) -> None:
    target = pin.rpy.rpyToMatrix(0.0, pitch, yaw)
    swing = swing_to(np.array([0.2, 0.0, 0.0]), duration, target)
    before = swing.sample(START)
    for time in times(duration)[1:]:
        now = swing.sample(time)
        spin = pin.log3(now.rotation @ before.rotation.T) / DT
        mean = (now.velocity[3:] + before.velocity[3:]) / 2
        np.testing.assert_allclose(spin, mean, atol=1e-2)
        before = now
    np.testing.assert_allclose(swing.sample(START + duration).rotation, target, atol=1e-6)


@few
@given(durations)
def test_a_foot_with_a_touchdown_speed_arrives_with_it_and_on_time(duration: float) -> None:
    swing = Swing(START, duration, ORIGIN, LEVEL, CLEARANCE, touchdown=0.2)
    swing.retarget(ORIGIN + np.array([0.3, 0.0, 0.0]), LEVEL, START + duration)
    heights = [swing.sample(t).position[2] for t in times(duration)]
    before = swing.sample(START + duration - DT)
    assert before.velocity[2] == pytest.approx(-0.2, abs=0.05)
    assert before.position[2] == pytest.approx(ORIGIN[2], abs=0.001)
    assert min(heights) >= ORIGIN[2] - 1e-9


STAIRS = [("human", 0.15), ("human", 0.10), ("talos", 0.10), ("g1", 0.08)]


@pytest.mark.parametrize("up", [1.0, -1.0])
@pytest.mark.parametrize(("name", "rise"), STAIRS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_foot_that_takes_two_stairs_at_once_touches_no_edge(name: str, rise: float, up: float, share: float) -> None:
    """From one tread past the next onto the one after it, with the sole anywhere on its tread."""
    robot, tread, duration = registry.load(name), 0.3, 0.4
    low, high = robot.soles[0][:, 0].min(), robot.soles[0][:, 0].max()
    start = share * (tread - (high - low)) - low  # treads begin at 0, 0.3, 0.6 m
    way = np.array([2 * tread, 0.0, 2 * rise * up])
    swing = Swing(START, duration, np.array([start, 0.0, 0.0]), LEVEL, robot.config.steps.clearance * robot.com_height)
    swing.front = float(high)
    swing.retarget(np.array([start, 0.0, 0.0]) + way, LEVEL, START + duration)
    for time in times(duration)[50:-50]:  # it leaves and comes down upright
        swing.pitch = Pitch(swing.tipped(time), 0.0, 0.0)
        reference = swing.sample(time)
        sole = reference.position + np.linspace(low, high, 50)[:, None] * reference.rotation[:, 0]
        assert (sole[:, 2] > np.floor(sole[:, 0] / tread) * rise * up + 0.003).all()


@few
@given(way=ways, duration=durations, heel=st.floats(0.1, 0.6))
def test_a_foot_whose_heel_is_up_leaves_with_its_front_edge_and_lands_flat(
    way: Array, duration: float, heel: float
) -> None:
    way = np.array([way[0], way[1], 0.1 * way[2]])  # no stair: there a foot stops and rises first
    toe, tilted = 0.13, pin.utils.rotate("y", heel)
    origin = ORIGIN + np.array([0.0, 0.0, toe * math.sin(heel)])  # the edge is on the ground
    swing = Swing(START, duration, origin, tilted, CLEARANCE, 0.0, Rolled(toe, (0.4, 0.0)))
    swing.retarget(ORIGIN + way, LEVEL, START + duration)
    first = swing.sample(START)
    np.testing.assert_allclose(first.position, origin, atol=1e-9)
    assert first.velocity[0] == pytest.approx(0.4)
    for time in times(duration):
        sample = swing.sample(time)
        edge = sample.position + toe * sample.rotation[:, 0]
        line = ORIGIN[2] + way[2] * (time - START) / duration
        assert edge[2] >= min(line, ORIGIN[2]) - 1e-9
    landed = swing.sample(START + duration)
    np.testing.assert_allclose(landed.position, ORIGIN + way, atol=1e-6)
    np.testing.assert_allclose(landed.rotation, LEVEL, atol=1e-6)


@pytest.mark.parametrize(("name", "rise"), STAIRS)
def test_a_foot_that_goes_down_a_stair_lifts_its_heel_over_the_edge(name: str, rise: float) -> None:
    """Also a foot that lags behind its path by a centimetre: the tread leaves the human two beside its sole."""
    robot, tread, duration = registry.load(name), 0.3, 0.5
    low, high = robot.soles[0][:, 0].min(), robot.soles[0][:, 0].max()
    centre = tread / 2 - (high + low) / 2
    way = np.array([tread, 0.0, -rise])
    swing = Swing(START, duration, np.array([centre, 0.0, 0.0]), LEVEL, CLEARANCE)
    swing.front = float(high)
    swing.retarget(np.array([centre, 0.0, 0.0]) + way, LEVEL, START + duration)
    for time in times(duration):
        angle = swing.tipped(time)
        swing.pitch = Pitch(angle, 0.0, 0.0)
        reference = swing.sample(time)
        heel = reference.position + low * reference.rotation[:, 0]
        if heel[0] - 0.01 < tread:
            assert heel[2] > -0.001
    assert swing.tipped(START + duration) == pytest.approx(0.0)


def test_a_place_that_moves_by_millimetres_until_the_end_does_not_throw_the_foot() -> None:
    """Going down, a foot is over its place before it lands; a path that ended in each tick anew ran away."""
    swing = Swing(START, 0.5, ORIGIN, LEVEL, CLEARANCE)
    for k, time in enumerate(times(0.5)):
        swing.retarget(ORIGIN + np.array([0.3 + 0.001 * (-1) ** k, 0.0, -0.15]), LEVEL, START + 0.5)
        position = swing.sample(time).position
        assert -0.01 < position[0] - ORIGIN[0] < 0.32
