"""Footholds as the theses choose them, while walking."""

from __future__ import annotations

import math

import pytest

from humanoid_balance.balance import pendulum
from humanoid_balance.balance.footsteps import Adapted, Adapter, Flying, Pendulum
from humanoid_balance.balance.gait import Gait, Step
from humanoid_balance.balance.placement import KUDOH_WALKING, Kudoh, Torres, adapter
from humanoid_balance.balance.reach import Reach
from humanoid_balance.geometry import Point
from humanoid_balance.robot import registry
from humanoid_balance.types import GRAVITY

ROBOT = registry.load("human")
REACH = Reach.of(ROBOT)
GAIT = Gait(ROBOT, REACH)
HEIGHT, OMEGA = ROBOT.com_height, ROBOT.omega
HALF = (0.1, 0.04)
COM = (0.0, 0.08)
STEP = GAIT.step((0.5, 0.0, 0.0), 0, OMEGA, 0.0)


def made(kind: type[Adapter], velocity: Point, step: Step = STEP, time: float = 0.3) -> Adapted:
    rule = kind(REACH, *HALF, GAIT.transfer, GAIT.legs, OMEGA)
    dcm = COM[0] + velocity[0] / OMEGA, COM[1] + velocity[1] / OMEGA
    foot = Flying((0.0, step.place[1]), (0.0, 0.0), math.hypot(*velocity))
    return rule.adapt(Pendulum(OMEGA, COM, dcm, HEIGHT), foot, step, 1.0, [time, time / 2], time)


@pytest.mark.parametrize("speed", [0.3, 0.5, 0.8])
def test_torres_steps_to_the_capture_point_less_a_share_of_the_wanted_speed(speed: float) -> None:
    plan = made(Torres, (speed, 0.0))
    expected = COM[0] + speed * math.sqrt(HEIGHT / GRAVITY) - pendulum.TORRES_ALPHA * 0.5
    assert plan.place[0] == pytest.approx(expected)
    assert plan.place[1] == pytest.approx(COM[1] + STEP.place[1] / 2)


def test_torres_pushes_a_body_that_is_too_fast_back_and_a_slow_one_on() -> None:
    assert made(Torres, (0.5, 0.0)).pressure[0] == pytest.approx(0.0, abs=1e-9)
    assert made(Torres, (0.9, 0.0)).pressure[0] > 0.02  # ahead of its place: it brakes
    assert made(Torres, (0.1, 0.0)).pressure[0] < -0.02
    assert abs(made(Torres, (5.0, 0.0)).pressure[0]) <= HALF[0]


def test_torres_keeps_the_distance_with_which_a_step_began() -> None:
    rule = Torres(REACH, *HALF, GAIT.transfer, GAIT.legs, OMEGA)
    slow, fast = (Pendulum(OMEGA, COM, (COM[0] + v / OMEGA, COM[1]), HEIGHT) for v in (0.4, 0.9))
    begun, flying = (Flying((0.0, STEP.place[1]), (v, 0.0), 1.0) for v in (0.0, 0.1))
    first = rule.adapt(slow, begun, STEP, 1.0, [0.3], 0.3).place
    assert rule.adapt(fast, flying, STEP, 1.0, [0.3], 0.3).place == pytest.approx(first)
    assert rule.adapt(fast, begun, STEP, 1.0, [0.3], 0.3).place[0] > first[0] + 0.1


@pytest.mark.parametrize("speed", [0.3, 0.6])
def test_kudoh_steps_by_the_angle_to_which_the_pendulum_falls(speed: float) -> None:
    theta = speed / OMEGA * math.sinh(OMEGA * pendulum.KUDOH_STEP_TIME) / HEIGHT
    alpha = KUDOH_WALKING * theta
    plan = made(Kudoh, (speed, 0.0))
    assert plan.place[0] == pytest.approx(HEIGHT * math.sin(alpha) / math.cos(theta - alpha))
    assert plan.pressure == (0.0, 0.0)


@pytest.mark.parametrize("kind", [Torres, Kudoh])
def test_a_rule_asks_no_foot_for_more_than_legs_can(kind: type[Adapter]) -> None:
    for velocity in ((4.0, 0.0), (-4.0, 0.0), (0.0, 4.0), (0.0, -4.0)):
        x, y = made(kind, velocity).place
        assert -REACH.backward - 1e-9 <= x <= REACH.forward + 1e-9
        assert REACH.across - 1e-9 <= y <= REACH.far + 1e-9


@pytest.mark.parametrize("kind", [Torres, Kudoh])
def test_a_rule_keeps_the_time_of_the_step(kind: type[Adapter]) -> None:
    assert made(kind, (2.0, 0.0), time=0.25).time == 0.25


def test_who_has_no_rule_for_walking_walks_as_always() -> None:
    assert adapter("capture") is adapter("yin") is Adapter
    assert (adapter("torres"), adapter("kudoh")) == (Torres, Kudoh)
