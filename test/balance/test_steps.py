"""Where the planner puts a foot: within reach, beside the other leg, where the push demands it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.steps import HELD, STEP_POLICIES, UNLOAD, Plan, Planner
from humanoid_balance.geometry import Point, Polygon
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import LEFT, RIGHT, STILL


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def situation(
    robot: Robot,
    velocity: Point = (0.0, 0.0),
    feet: tuple[Point, Point] | None = None,
    com: Point = (0.0, 0.0),
    yaw: float = 0.0,
) -> Situation:
    """A tick of a robot that moves without turning; distances and speeds are in CoM heights and sqrt(g h)."""
    h, w = robot.com_height, robot.omega
    cos, sin = math.cos(yaw), math.sin(yaw)

    def turned(point: Point, scale: float = 1.0) -> Point:
        return scale * (cos * point[0] - sin * point[1]), scale * (sin * point[0] + cos * point[1])

    half = robot.stance_width / 2
    left, right = feet or ((0.0, half), (0.0, -half))
    place, speed = turned(com, h), turned(velocity, h * w)
    values: dict[str, Any] = {
        "state": None, "omega": w, "com": place, "com_velocity": speed, "lean": (0.0, 0.0), "spin": (0.0, 0.0),
        "dcm": (place[0] + speed[0] / w, place[1] + speed[1] / w), "centre": (turned(left), turned(right)),
        "yaw": yaw, "height": h, "ground": np.array([0.0, 0.0, 1.0]), "pushed": (0.0, 0.0), "lasting": 0.0,
        "command": STILL,
    }  # fmt: skip
    return Situation(**values)


def soles(robot: Robot, now: Situation) -> tuple[Polygon, Polygon]:
    cos, sin = math.cos(now.yaw), math.sin(now.yaw)

    def sole(side: int) -> Polygon:
        cx, cy = now.centre[side]
        corners = (robot.soles[side] - robot.sole_centres[side])[:, :2].tolist()
        return Polygon([(cx + cos * x - sin * y, cy + sin * x + cos * y) for x, y in corners])

    return sole(LEFT), sole(RIGHT)


def beside(now: Situation, plan: Plan) -> Point:
    """The planned place seen from the stance foot: forward, and away from it on the side of the swinging leg."""
    sx, sy = now.centre[1 - plan.side]
    dx, dy = plan.place[0] - sx, plan.place[1] - sy
    cos, sin = math.cos(now.yaw), math.sin(now.yaw)
    sign = 1.0 if plan.side == LEFT else -1.0
    return cos * dx + sin * dy, sign * (-sin * dx + cos * dy)


def choose(robot: Robot, now: Situation, policy: str = "capture") -> Plan:
    return Planner(robot, policy).choose(now, soles(robot, now))


def assert_reachable(planner: Planner, place: Point) -> None:
    reach, (x, y) = planner.reach, place
    assert -reach.backward - 1e-9 <= x <= reach.forward + 1e-9
    assert y <= reach.far + 1e-9
    near = reach.across if abs(x) > reach.past else reach.near
    assert y >= near - 1e-9, f"{x:.3f} m forward and {y:.3f} m aside: the legs touch"


unit = st.floats(-1.0, 1.0)


@given(velocity=st.tuples(unit, unit), yaw=st.floats(-3.0, 3.0), policy=st.sampled_from(STEP_POLICIES))
def test_from_the_nominal_stance_every_step_is_within_reach(
    robot: Robot, velocity: Point, yaw: float, policy: str
) -> None:
    now = situation(robot, velocity, yaw=yaw)
    plan = choose(robot, now, policy)
    assert_reachable(Planner(robot), beside(now, plan))


@given(velocity=st.tuples(unit, unit), ahead=unit, aside=st.floats(0.0, 1.0), side=st.sampled_from([LEFT, RIGHT]))
def test_from_any_stance_every_step_is_within_reach(
    robot: Robot, velocity: Point, ahead: float, aside: float, side: int
) -> None:
    """The swinging foot comes from anywhere it may stand uncrossed."""
    planner = Planner(robot)
    reach = planner.reach
    x = ahead * (reach.forward if ahead > 0 else reach.backward)
    y = reach.near + aside * (reach.far - reach.near)
    other = (x, y if side == LEFT else -y)
    feet = (other, (0.0, 0.0)) if side == LEFT else ((0.0, 0.0), other)
    now = situation(robot, velocity, feet)
    assert_reachable(planner, beside(now, planner.plan(side, now, soles(robot, now)[1 - side])))


@given(velocity=st.tuples(unit, unit), since=st.floats(0.0, 0.3), left=st.floats(0.0, 0.4))
def test_a_swing_under_way_changes_its_landing_time_by_little(
    robot: Robot, velocity: Point, since: float, left: float
) -> None:
    planner, now = Planner(robot), situation(robot, velocity)
    plan = planner.plan(LEFT, now, soles(robot, now)[RIGHT], under_way=(since, left))
    assert abs(plan.time - max(left, 0.005)) <= 0.002 + 1e-12


@given(velocity=st.tuples(unit, unit))
def test_a_new_swing_takes_the_time_a_leg_needs(robot: Robot, velocity: Point) -> None:
    planner = Planner(robot)
    plan = choose(robot, situation(robot, velocity))
    assert planner.reach.shortest - 1e-9 <= plan.time <= planner.reach.longest + 1e-9


@given(velocity=st.tuples(unit, unit))
def test_left_and_right_are_alike(robot: Robot, velocity: Point) -> None:
    vx, vy = velocity
    assume(abs(vy) > 0.02)
    plan, mirrored = choose(robot, situation(robot, (vx, vy))), choose(robot, situation(robot, (vx, -vy)))
    other = Planner(robot).plan(1 - plan.side, situation(robot, (vx, vy)), soles(robot, situation(robot))[plan.side])
    assume(abs(plan.miss + 0.15 * plan.time - other.miss - 0.15 * other.time) > 0.01)  # a tie may go either way
    assert mirrored.side == 1 - plan.side
    assert mirrored.place == pytest.approx((plan.place[0], -plan.place[1]), abs=0.01 * robot.com_height)


@pytest.mark.parametrize("strength", [0.12, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pushed_aside_the_better_leg_steps_toward_that_side(robot: Robot, strength: float, sign: float) -> None:
    """Either the near leg widens the stance or the far one, which carries nothing, comes after; never away from it."""
    now, planner = situation(robot, (0.0, sign * strength)), Planner(robot)
    both = soles(robot, now)
    plan = planner.choose(now, both)
    other = planner.plan(1 - plan.side, now, both[plan.side], lead=UNLOAD)
    assert sign * (plan.place[1] - now.centre[plan.side][1]) > 0.0
    assert plan.miss < HELD or other.miss > HELD  # a step that holds the DCM is not left for one that does not


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("policy", STEP_POLICIES)
def test_a_faster_push_gets_a_longer_step(robot: Robot, sign: float, policy: str) -> None:
    planner = Planner(robot, policy)
    lengths = []
    for strength in (0.1, 0.15, 0.2, 0.25, 0.3):
        now = situation(robot, (sign * strength, 0.0))
        lengths.append(sign * beside(now, choose(robot, now, policy))[0])
    limit = planner.reach.forward if sign > 0 else planner.reach.backward
    assert lengths[0] > 0.0
    for shorter, longer in itertools.pairwise(lengths):
        assert longer > shorter or longer == pytest.approx(limit)


def test_the_foot_lands_where_the_dcm_will_be(robot: Robot) -> None:
    """A push the leg can answer: the predicted DCM is on the landed sole."""
    now = situation(robot, (0.2, 0.0))
    plan = choose(robot, now)
    assert plan.miss == pytest.approx(0.0, abs=1e-9)


def test_what_is_out_of_reach_is_told_as_a_miss(robot: Robot) -> None:
    misses = [choose(robot, situation(robot, (strength, 0.0))).miss for strength in (0.6, 0.8, 1.0)]
    assert 0.0 < misses[0] < misses[1] < misses[2]


@pytest.mark.parametrize("yaw", [0.0, 1.2, -2.5])
@pytest.mark.parametrize(("velocity", "leg"), [((0.1, 0.2), RIGHT), ((-0.1, 0.2), RIGHT), ((0.3, -0.1), LEFT)])
def test_yin_steps_with_the_leg_that_the_push_unloads(robot: Robot, velocity: Point, leg: int, yaw: float) -> None:
    now = situation(robot, velocity, yaw=yaw)
    assert Planner(robot, "yin").choose(now, soles(robot, now)).side == leg
