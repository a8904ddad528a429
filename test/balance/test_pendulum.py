"""The pendulum's closed forms against the pendulum itself, s'' = omega² (s - p), integrated numerically."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.balance import pendulum
from humanoid_balance.types import GRAVITY

heights = st.floats(0.3, 1.2)


def fall(com: float, speed: float, pressure: float, omega: float, time: float, steps: int = 400) -> tuple[float, float]:
    """Position and speed of the CoM after ``time`` (classical Runge-Kutta)."""
    h = time / steps

    def slope(s: float, v: float) -> tuple[float, float]:
        return v, omega**2 * (s - pressure)

    for _ in range(steps):
        a1, b1 = slope(com, speed)
        a2, b2 = slope(com + h / 2 * a1, speed + h / 2 * b1)
        a3, b3 = slope(com + h / 2 * a2, speed + h / 2 * b2)
        a4, b4 = slope(com + h * a3, speed + h * b3)
        com, speed = com + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), speed + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    return com, speed


@given(height=heights, edge=st.floats(0.02, 0.2))
def test_below_the_ceiling_the_feet_hold_and_above_they_do_not(height: float, edge: float) -> None:
    """Held means: with the centre of pressure at the edge the CoM comes to a stop and turns back."""
    omega = pendulum.omega(height)
    ceiling = pendulum.no_step_ceiling(edge, omega)
    _, slow = fall(0.0, 0.98 * ceiling, edge, omega, 5 / omega)
    _, fast = fall(0.0, 1.02 * ceiling, edge, omega, 5 / omega)
    assert slow < 0.0 < fast


@given(height=heights, edge=st.floats(0.02, 0.2), length=st.floats(0.05, 0.6), time=st.floats(0.1, 0.6))
def test_one_step_holds_up_to_its_ceiling(height: float, edge: float, length: float, time: float) -> None:
    """Centre of pressure at the old edge until the foot lands, at the new one afterwards."""
    omega = pendulum.omega(height)
    ceiling = pendulum.step_ceiling(edge, omega, length, time)
    outcome = []
    for factor in (0.98, 1.02):
        com, speed = fall(0.0, factor * ceiling, edge, omega, time)
        outcome.append(fall(com, speed, edge + length, omega, 6 / omega)[1])
    assert outcome[0] < 0.0 < outcome[1]


def test_a_step_that_lands_never_is_no_step() -> None:
    assert pendulum.step_ceiling(0.1, 3.3, 0.5, 100.0) == pytest.approx(pendulum.no_step_ceiling(0.1, 3.3))


@given(height=heights, speed=st.floats(-0.6, 0.6))
def test_torres_steps_where_the_kinetic_energy_is_spent(height: float, speed: float) -> None:
    """½ v² + g h = g L with L from the foot to the CoM, to second order in the step's length."""
    distance = pendulum.torres_step(speed, height)
    assert distance == pytest.approx(speed * math.sqrt(height / GRAVITY))
    raised = GRAVITY * (math.hypot(height, distance) - height)
    assert raised == pytest.approx(speed**2 / 2, abs=speed**4 / (8 * GRAVITY * height) + 1e-12)


@given(height=heights, speed=st.floats(-20.0, 20.0))
def test_torres_never_steps_further_than_the_leg_reaches(height: float, speed: float) -> None:
    distance = pendulum.torres_step(speed, height)
    wanted = abs(speed) * math.sqrt(height / GRAVITY)
    assert abs(distance) <= pendulum.TORRES_REACH * math.hypot(height, wanted) + 1e-9


@given(offset=st.floats(-0.1, 0.1), speed=st.floats(-0.5, 0.5), height=heights)
def test_kudoh_steps_beyond_the_falling_com(offset: float, speed: float, height: float) -> None:
    """The leg that lands is 1.3 times as inclined as the pendulum, so the foot is ahead of the CoM, on its side."""
    step = pendulum.kudoh_step(offset, speed, height)
    fallen, _ = fall(offset, speed, 0.0, pendulum.omega(height), pendulum.KUDOH_STEP_TIME)
    assert step == pytest.approx(-pendulum.kudoh_step(-offset, -speed, height))
    if 1e-3 < abs(fallen) / height < 0.6:
        assert step * fallen > 0.0
        assert abs(step) > abs(fallen)
