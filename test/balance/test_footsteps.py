"""Steps of a walk, adapted to a DCM that has gone astray."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.balance.footsteps import (
    CLEAR,
    HASTE,
    PASSED,
    QUICK,
    SURE,
    TRIES,
    Adapted,
    Adapter,
    Flying,
    Pendulum,
    Viable,
    landings,
)
from humanoid_balance.balance.gait import Gait, Step, Velocity
from humanoid_balance.balance.reach import Reach
from humanoid_balance.geometry import Point
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import LEFT

SPEED: Velocity = (0.4, 0.0, 0.0)


class Walker:
    """A robot on its right foot, the left one swings."""

    def __init__(self, robot: Robot) -> None:
        self.omega, self.height, self.reach = robot.omega, robot.com_height, Reach.of(robot)
        self.gait = Gait(robot, self.reach)
        length, width = np.ptp(robot.soles[0][:, :2], axis=0).tolist()
        self.half = 0.46 * length, 0.46 * width
        self.adapter = Adapter(self.reach, *self.half, self.gait.transfer, self.gait.legs, robot.omega)
        self.step: Step = self.gait.step(SPEED, LEFT, robot.omega, 0.0)
        self.swing = self.step.time - self.gait.transfer

    def dcm(self, time: float) -> Point:
        """Where it is in the nominal gait when the foot has this long to go [s]."""
        shrunk = math.exp(-self.omega * (time + self.gait.transfer / 2))
        return tuple((self.step.place[i] + self.step.offset[i]) * shrunk for i in range(2))  # type: ignore[return-value]

    def adapt(
        self, dcm: Point, left: float, times: list[float] | None = None, foot: Point | None = None, crossing: int = 0
    ) -> Adapted:
        flying = Flying(foot or (0.0, self.step.place[1]), (0.0, 0.0), SPEED[0], crossing)
        body = Pendulum(self.omega, (0.0, self.step.place[1] / 2), dcm, self.height)
        return self.adapter.adapt(body, flying, self.step, 1.0, times or [left], left)

    def landing(self, plan: Adapted, dcm: Point) -> Point:
        """Where the DCM really is when the weight comes onto the new foot, seen from it."""
        grown = math.exp(self.omega * (plan.time + self.gait.transfer / 2))
        return tuple(  # type: ignore[return-value]
            p + (c - p) * grown - u for p, c, u in zip(plan.pressure, dcm, plan.place, strict=True)
        )


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def walker(request: pytest.FixtureRequest) -> Walker:
    return Walker(registry.load(request.param))


def test_a_dcm_on_its_way_changes_nothing(walker: Walker) -> None:
    left = 0.5 * walker.swing
    plan = walker.adapt(walker.dcm(left), left, [left, left - 0.002, left + 0.002])
    assert plan.time == left
    np.testing.assert_allclose(plan.place, walker.step.place, atol=1e-9)
    np.testing.assert_allclose(plan.pressure, (0.0, 0.0), atol=1e-9)


@pytest.mark.parametrize("astray", [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.005), (0.0, -0.005)])
def test_the_centre_of_pressure_brings_a_small_error_back_within_the_step(walker: Walker, astray: Point) -> None:
    """And the foot need not move by more than a centimetre."""
    left = walker.swing
    dcm = tuple(np.add(walker.dcm(left), astray))
    plan = walker.adapt(dcm, left)
    np.testing.assert_allclose(walker.landing(plan, dcm), walker.step.offset, atol=2e-3)
    assert math.dist(plan.place, walker.step.place) < 0.01


def test_what_the_sole_cannot_bring_back_the_foot_makes_good(walker: Walker) -> None:
    left, error = 0.1, walker.half[0]
    x, y = walker.dcm(left)
    plan = walker.adapt((x + error, y), left, foot=walker.step.place)
    assert plan.place[0] > walker.step.place[0] + 0.1 * error
    assert walker.landing(plan, (x + error, y))[0] == pytest.approx(walker.step.offset[0], abs=0.02)


def test_pushed_over_the_stance_foot_the_step_comes_sooner_or_crosses(walker: Walker) -> None:
    left = 0.8 * walker.swing
    x, _ = walker.dcm(left)
    plan = walker.adapt((x, -walker.half[1] - 0.02), left, [left, left - 0.002, left + 0.002])
    assert plan.time < left or plan.place[1] < 0.0


@given(x=st.floats(-0.6, 0.6), y=st.floats(-0.5, 0.6), left=st.floats(0.01, 0.4))
def test_every_step_is_within_reach_and_every_pressure_within_the_sole(x: float, y: float, left: float) -> None:
    for name in ("human", "g1"):
        walker = WALKERS[name]
        start = walker.step.place
        plan = walker.adapt((x, y), left, foot=start)
        reach = walker.reach
        assert -reach.backward - 1e-9 <= plan.place[0] <= reach.forward + 1e-9
        assert min(reach.across, reach.near, start[1]) - 1e-9 <= plan.place[1] <= reach.far + 1e-9
        assert all(abs(p) <= half + 1e-12 for p, half in zip(plan.pressure, walker.half, strict=True))
        np.testing.assert_allclose(plan.offset, walker.landing(plan, (x, y)), atol=1e-9)


@given(y=st.floats(-0.5, 0.0), x=st.floats(0.0, 0.5), start=st.floats(-0.4, 0.3), left=st.floats(0.05, 0.4))
def test_a_foot_that_crosses_does_not_go_through_the_other_leg(y: float, x: float, start: float, left: float) -> None:
    """On the line to its place it is as far aside as legs need, until soles are no longer beside each other."""
    walker = WALKERS["g1"]
    foot = start, walker.step.place[1]
    plan = walker.adapt((x, y), left, foot=foot)
    sole = 2 * walker.half[0]
    for share in np.linspace(0.0, 1.0, 21).tolist():
        px, py = (a + share * (b - a) for a, b in zip(foot, plan.aim, strict=True))
        if abs(px) < sole:
            assert py >= walker.reach.near - 1e-9


WALKERS = {name: Walker(registry.load(name)) for name in ("human", "g1")}


def test_steps_without_end_hold_what_is_viable_and_no_more(walker: Walker) -> None:
    """Forward, pressure at the toes, each step the best of all times with a foot that flies as far as it can."""
    reach, w, transfer = walker.reach, walker.omega, walker.gait.transfer
    viable = Viable.of(reach, *walker.half, w, transfer)
    toe, steps = walker.half[0], []
    for time in np.linspace(reach.shortest, reach.longest, TRIES).tolist():
        steps.append((math.exp(w * (time + transfer)), min(reach.forward, QUICK * reach.flight(time))))
    for start, holds in ((viable.forward - 1e-6, True), (viable.forward + 1e-3, False)):
        offset = start
        for _ in range(30):
            offset = min(toe + (offset - toe) * grown - far for grown, far in steps)
        assert (offset < viable.forward) == holds


def test_over_the_stance_foot_a_foot_that_is_past_it_crosses() -> None:
    """The DCM runs out over the stance foot; without crossing it would be lost by a hand's width."""
    walker = WALKERS["g1"]
    ahead = walker.reach.past
    plan = walker.adapt((0.15, -0.12), 0.15, foot=(ahead, walker.step.place[1]))
    assert plan.place[1] < 0.0
    assert plan.place[0] >= walker.reach.passing(plan.place[1]) - 1e-9
    assert plan.aim == plan.place
    assert plan.crossing == 1


@given(y=st.floats(-0.5, 0.0), x=st.floats(-0.2, 0.5), start=st.floats(-0.3, 0.3), side=st.sampled_from([-1, 1]))
def test_a_foot_that_crosses_on_one_side_is_not_turned_round(y: float, x: float, start: float, side: int) -> None:
    """g1, pushed while it walked, sent a foot before the other and then behind it: it got to neither side."""
    walker = WALKERS["g1"]
    plan = walker.adapt((x, y), 0.2, foot=(start, walker.step.place[1]), crossing=side)
    assert plan.crossing != -side


@given(
    dcm=st.tuples(st.floats(-0.4, 0.5), st.floats(-0.5, 0.5)),
    foot=st.tuples(st.floats(-0.4, 0.4), st.floats(-0.1, 0.3)),
    crossing=st.sampled_from([-1, 0, 1]),
    left=st.floats(0.005, 0.4),
)
def test_no_step_lands_on_the_other_foot(dcm: Point, foot: Point, crossing: int, left: float) -> None:
    """Wherever the foot is, and however late: g1 set a foot that was too slow to cross down on the other one."""
    walker = WALKERS["g1"]
    x, y = walker.adapt(dcm, left, foot=foot, crossing=crossing).place
    assert y >= CLEAR * walker.reach.near - 1e-9 or abs(x) >= SURE * walker.reach.passing(y) - 1e-9


def test_a_foot_that_is_getting_across_is_not_turned_back() -> None:
    """As g1's was, behind the other foot and 8 cm from its line, at 2.6 m/s: it came back and landed there."""
    walker = WALKERS["g1"]
    foot = Flying((-0.232, 0.08), (-0.89, -2.64), 0.8, -1)
    body = Pendulum(walker.omega, (-0.057, 0.015), (0.087, -0.166), walker.height)
    plan = walker.adapter.adapt(body, foot, walker.step, 1.0, [0.111, 0.109, 0.113], 0.25)
    assert plan.crossing == -1
    assert plan.place[1] < 0.0


def test_a_step_aside_goes_no_further_than_the_ankle_can_bend() -> None:
    """g1's ankles roll by 15 degrees: beyond, the leg twists to keep the sole flat and throws the trunk."""
    walker = WALKERS["g1"]
    left, com = 0.15, (-0.04, 0.08)
    body = Pendulum(walker.omega, com, (0.08, 0.3), walker.height)
    foot = Flying((-0.06, 0.35), (2.0, 2.0), 0.8)
    plan = walker.adapter.adapt(body, foot, walker.step, 1.0, [left], left)
    legs = walker.gait.legs
    hip = body.com_after(left, plan.pressure)[1] + legs.hip[1]
    assert plan.place[1] < walker.reach.far - 0.02
    assert plan.place[1] - hip <= legs.outside + 0.01


def test_a_landing_is_put_off_only_while_there_is_time() -> None:
    close, later = landings(0.1, 0.2, 0.15, 0.37)
    assert close == [0.2, 0.2 - HASTE, 0.2 + HASTE]
    assert later
    assert all(0.2 < time < 0.27 for time in later)
    assert landings(0.3, 0.05, 0.15, 0.37)[0] == [0.05]
    assert landings(0.34, 0.01, 0.15, 0.5) == ([0.01], [])


@given(x=st.floats(-0.1, 0.2), y=st.floats(0.05, 0.4), left=st.floats(0.05, 0.4))
def test_a_foot_that_was_left_crossed_goes_to_its_own_side_first(x: float, y: float, left: float) -> None:
    walker = WALKERS["g1"]
    near, passed = walker.reach.near, PASSED * walker.reach.past
    foot = -walker.reach.past, walker.reach.across
    plan = walker.adapt((x, y), left, foot=foot)
    for share in np.linspace(0.0, 1.0, 21).tolist():
        px, py = (a + share * (b - a) for a, b in zip(foot, plan.aim, strict=True))
        if abs(px) < passed - 1e-9:
            assert py >= CLEAR * near - 1e-9


def test_a_foot_does_not_land_before_its_leg_reaches_the_ground(walker: Walker) -> None:
    """However well it would suit the DCM: until the hips have come along the foot would hang over its place."""
    soon = walker.reach.shortest
    com = walker.step.place[0] - 0.8 * walker.height, walker.step.place[1] / 2
    body = Pendulum(walker.omega, com, walker.dcm(soon), walker.height)
    foot = Flying(walker.step.place, (0.0, 0.0), SPEED[0])
    times = [soon + 0.01 * k for k in range(10)]
    plan = walker.adapter.adapt(body, foot, walker.step, 1.0, times, soon)
    strides = [body.strides(time, plan.pressure, plan.place, walker.gait.legs.hip)[1] for time in (times[0], plan.time)]
    assert plan.time > soon + 0.01
    assert strides[1] < strides[0] - 0.01 * walker.height


def test_hips_between_the_feet_are_as_far_from_either(walker: Walker) -> None:
    legs, length = walker.gait.legs, 0.3 * walker.height
    place = length, 2 * legs.hip[1]
    still = (length / 2 - legs.hip[0], legs.hip[1])
    rear, front = Pendulum(walker.omega, still, still, walker.height).strides(0.0, (0.0, 0.0), place, legs.hip)
    assert rear == pytest.approx(length / 2)
    assert front == pytest.approx(length / 2)
