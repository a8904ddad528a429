"""The CoM laws against the pendulum with a flywheel that they were derived from, integrated numerically."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance import laws
from humanoid_balance.balance.laws import BOW, CLOSER, KUDOH_STIFFNESS, Laws, Wish
from humanoid_balance.balance.situation import Situation, look
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.geometry import Point, Polygon
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Push

LEVEL = np.array([0.0, 0.0, 1.0])
SOLES = Polygon([(0.15, 0.2), (-0.07, 0.2), (-0.07, -0.2), (0.15, -0.2)])
ORIGIN = (0.0, 0.0)


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


@dataclass
class Flywheel:
    """A mass at constant height with a wheel at its CoM; s'' and L' as the ground force gives them."""

    robot: Robot
    com: Array  # x y [m]
    velocity: Array  # [m/s]
    momentum: Array  # about x and y [kg m²/s]
    lean: Point = (0.0, 0.0)
    push: Push | None = None

    def __post_init__(self) -> None:
        self.state = state_at(self.robot, self.robot.q_nominal, np.zeros(self.robot.model.nv))
        self.trunk = Trunk(self.robot)

    def look(self) -> Situation:
        """As the balance modes see it: the code under test, not a formula of this file."""
        state = replace(
            self.state, com=np.array([*self.com, self.state.com[2]]), com_velocity=np.array([*self.velocity, 0.0]),
            angular_momentum=np.array([*self.momentum, 0.0]), push=self.push or self.state.push,
        )  # fmt: skip
        return replace(look(self.robot, state, self.trunk, LEVEL), lean=self.lean)

    def step(self, wish: Wish, dt: float) -> None:
        """Exact for a constant centre of pressure and turn over ``dt``: a hyperbola, and a wheel at constant torque."""
        now = self.look()
        rate = np.array(laws.momentum_rate(self.robot, wish)[:2])
        acceleration = np.array(laws.acceleration(now, wish, 0.0)[:2])
        w = now.omega
        grow, swing = math.cosh(w * dt), math.sinh(w * dt)
        com, velocity = self.com, self.velocity
        self.com = com + velocity * swing / w + acceleration * (grow - 1) / w**2
        self.velocity = velocity * grow + acceleration * swing / w
        self.momentum = self.momentum + rate * dt


def forced(time: float) -> Wish:
    """Some centre of pressure and some turn, both restless."""
    return Wish(
        (0.03 * math.sin(7 * time), 0.02 * math.cos(5 * time)), (0.04 * math.cos(3 * time), -0.03 * math.sin(11 * time))
    )


def test_the_caught_dcm_moves_with_centre_of_pressure_and_spin_alone(robot: Robot) -> None:
    """c' = omega (c - spin - p), whatever the turn: the identity that all feedback rests on."""
    body = Flywheel(robot, np.array([0.02, -0.01]), np.array([0.1, 0.05]), np.array([-0.4, 0.7]))
    dt, time = 1e-4, 0.0
    for _ in range(300):
        now, wish = body.look(), forced(time)
        body.step(wish, dt)
        after = body.look()
        for axis in range(2):
            rate = (after.caught[axis] - now.caught[axis]) / dt
            middle = [(a.caught[axis] - a.spin[axis]) for a in (now, after)]
            expected = now.omega * (sum(middle) / 2 - wish.pressure[axis])
            assert rate == pytest.approx(expected, abs=1e-6)
        time += dt
    assert math.hypot(*body.look().spin) > 0.005  # the wheel has really turned


def test_the_caught_dcm_is_where_the_dcm_ends_up_when_the_wheel_is_stopped(robot: Robot) -> None:
    """Stop the wheel in an instant: the DCM jumps to the caught DCM."""
    body = Flywheel(robot, np.array([0.02, -0.01]), np.array([0.1, 0.05]), np.array([-0.4, 0.7]))
    caught, dt = body.look().caught, 1e-6
    spin = body.look().spin
    turn = -spin[0] / (body.look().omega * dt), -spin[1] / (body.look().omega * dt)
    body.step(Wish(ORIGIN, turn), dt)
    now = body.look()
    assert np.abs(body.momentum).max() < 1e-9
    assert now.dcm == pytest.approx(caught, abs=1e-5)
    assert now.spin == pytest.approx(ORIGIN, abs=1e-12)


def test_a_turn_forward_asks_for_a_positive_moment_about_y(robot: Robot) -> None:
    x, y, z = laws.momentum_rate(robot, Wish(ORIGIN, (0.01, 0.0)))
    assert (x, z) == (0.0, 0.0) and y == pytest.approx(0.01 * robot.weight)


def run(
    body: Flywheel, law: Callable[[Situation], Wish], seconds: float, each: Callable[[Situation, Wish], None]
) -> Situation:
    dt = 0.004  # a law at 250 Hz is continuous beside a pendulum of 3 rad/s
    for _ in range(round(seconds / dt)):
        now = body.look()
        wish = law(now)
        each(now, wish)
        body.step(wish, dt)
    return body.look()


def check_inside(robot: Robot) -> Callable[[Situation, Wish], None]:
    reach = robot.config.gains.turn_reach * robot.com_height

    def check(now: Situation, wish: Wish) -> None:
        assert SOLES.margin(*wish.pressure) > -1e-9
        assert math.hypot(*wish.turn) <= reach * (1 + 1e-9)

    return check


def test_hold_brings_the_dcm_back_at_the_rate_of_its_gain(robot: Robot) -> None:
    """While nothing spins and the edge is far, c' = -k omega (c - goal)."""
    law = Laws(robot)
    body = Flywheel(robot, np.zeros(2), np.array([0.01, -0.01]), np.zeros(2))
    start = body.look().caught
    after = run(body, lambda now: law.hold(now, SOLES, ORIGIN), 0.2, check_inside(robot))
    shrunk = math.exp(-law.gain * after.omega * 0.2)
    assert after.caught == pytest.approx((start[0] * shrunk, start[1] * shrunk), abs=1e-4)


@pytest.mark.parametrize("direction", range(0, 360, 45))
def test_catch_holds_a_dcm_outside_the_feet_and_stops_the_spin_again(robot: Robot, direction: int) -> None:
    law = Laws(robot)
    angle = math.radians(direction)
    edge = SOLES.toward(ORIGIN, (math.cos(angle), math.sin(angle)))
    beyond = 0.01 + math.hypot(*edge)  # a centimetre outside: the centre of pressure alone would lose it
    speed = beyond * body_omega(robot)
    body = Flywheel(robot, np.zeros(2), speed * np.array([math.cos(angle), math.sin(angle)]), np.zeros(2))
    assert SOLES.margin(*body.look().caught) < 0.0
    polygon = Polygon(SOLES.vertices)
    polygon.inset = 0.01
    furthest = 0.0

    def check(now: Situation, wish: Wish) -> None:
        nonlocal furthest
        furthest = max(furthest, math.hypot(*now.spin))
        check_inside(robot)(now, wish)

    after = run(body, lambda now: law.catch(now, polygon, ORIGIN), 4.0, check)
    assert furthest > 0.005  # the body was turned
    assert math.hypot(*after.caught) < 0.01 and math.hypot(*after.spin) < 1e-3


def body_omega(robot: Robot) -> float:
    return float(Flywheel(robot, np.zeros(2), np.zeros(2), np.zeros(2)).look().omega)


def test_without_the_turn_the_same_push_is_lost(robot: Robot) -> None:
    """What the flywheel is for: hold alone cannot do what catch does."""
    law = Laws(robot)
    speed = (0.15 + 0.01) * body_omega(robot)
    body = Flywheel(robot, np.zeros(2), np.array([speed, 0.0]), np.zeros(2))
    after = run(body, lambda now: law.hold(now, SOLES, ORIGIN), 1.0, check_inside(robot))
    assert SOLES.margin(*after.caught) < -0.05


def test_unless_pushed_the_centre_of_pressure_keeps_away_from_an_edge_that_the_dcm_is_not_near(robot: Robot) -> None:
    body = Flywheel(robot, np.array([0.10, 0.0]), np.zeros(2), np.zeros(2))
    law = Laws(robot)
    quiet = law.hold(body.look(), SOLES, ORIGIN).pressure
    assert quiet == pytest.approx((0.10 + CLOSER * 0.05, 0.0))
    body.push = replace(body.state.push, active=True)
    assert law.hold(body.look(), SOLES, ORIGIN).pressure == pytest.approx((0.15, 0.0))


def test_a_leaning_trunk_is_turned_back_upright(robot: Robot) -> None:
    leaning = Flywheel(robot, np.zeros(2), np.zeros(2), np.zeros(2), lean=(0.1, -0.05))
    x, y = Laws(robot).hold(leaning.look(), SOLES, ORIGIN).turn
    assert x < 0.0 < y
    assert y / x == pytest.approx(-0.5)


def test_shove_puts_the_centre_of_pressure_behind_the_dcm_on_the_edge(robot: Robot) -> None:
    body = Flywheel(robot, np.zeros(2), np.zeros(2), np.zeros(2))
    x, y = Laws(robot).shove(body.look(), SOLES, (0.0, 0.1)).pressure
    assert x == pytest.approx(0.0) and y == pytest.approx(-0.2)
    after = run(body, lambda now: Laws(robot).shove(now, SOLES, (0.0, 0.1)), 0.2, check_inside(robot))
    assert after.caught[1] > 0.05


def test_slow_turns_with_the_fall_until_the_trunk_is_bent(robot: Robot) -> None:
    falling = Flywheel(robot, np.array([0.20, 0.0]), np.zeros(2), np.zeros(2))
    law = Laws(robot)
    upright = law.slow(falling.look(), SOLES)
    assert upright.pressure == pytest.approx((0.15, 0.0)) and upright.turn[0] > 0.0
    falling.lean = (BOW, 0.0)
    assert law.slow(falling.look(), SOLES).turn[0] == pytest.approx(0.0, abs=1e-12)


def test_kudohs_law_is_a_spring_between_com_and_goal(robot: Robot) -> None:
    body = Flywheel(robot, np.array([0.03, -0.02]), np.array([0.2, 0.1]), np.array([1.0, 2.0]))
    now = body.look()
    x, y, z = laws.acceleration(now, laws.kudoh(now, (0.01, 0.01)), 0.0)
    assert (x, y, z) == pytest.approx((KUDOH_STIFFNESS * 0.02, KUDOH_STIFFNESS * -0.03, 0.0))


def test_what_a_push_adds_is_part_of_the_wish(robot: Robot) -> None:
    quiet = Flywheel(robot, np.zeros(2), np.zeros(2), np.zeros(2))
    force = np.array([50.0, -20.0, 0.0])
    pushed = replace(quiet, push=replace(quiet.state.push, active=True, force=force))
    wish = Wish((0.01, 0.02), ORIGIN)
    difference = np.subtract(laws.acceleration(pushed.look(), wish, 0.0), laws.acceleration(quiet.look(), wish, 0.0))
    np.testing.assert_allclose(difference, force / robot.mass, atol=1e-12)


def test_a_body_that_somebody_else_turns_is_asked_for_no_turn_and_comes_to_the_goal(robot: Robot) -> None:
    """A lean that a clip wants, and the spin of swinging arms, do not accelerate the CoM."""
    body = Flywheel(robot, np.zeros(2), np.zeros(2), np.array([0.0, 0.5]), lean=(0.2, 0.0))
    law = Laws(robot)
    wish = law.accompany(body.look(), SOLES, ORIGIN)
    assert wish.turn == (0.0, 0.0) and wish.pressure == pytest.approx((0.0, 0.0), abs=1e-12)
    body.velocity = np.array([0.05, -0.03])
    for _ in range(4000):
        body.step(law.accompany(body.look(), SOLES, ORIGIN), 1e-3)
    assert np.abs(body.com).max() < 1e-3 and np.abs(body.velocity).max() < 1e-3
