"""One sole: centre of pressure, world wrench, rolling."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.settings import ContactSettings
from humanoid_balance.estimation.sole import Sole, pressure_point

CORNERS = np.array([[0.13, 0.05, 0.0], [-0.13, 0.05, 0.0], [-0.13, -0.05, 0.0], [0.13, -0.05, 0.0]])
WEIGHT = 700.0
unit = st.floats(-1.0, 1.0)


def loaded(place: np.ndarray, turn: np.ndarray, wrench: list[float], twist: list[float] | None = None) -> Sole:
    sole = Sole(FootContact(WEIGHT, ContactSettings()), CORNERS, 5.0)
    sole.contact.reset(True)
    sole.update(place.tolist(), pin.exp3(turn).tolist(), twist or [0.0] * 6, wrench, 0.0, 0.001)
    return sole


@given(unit, unit, unit, unit)
def test_the_centre_of_pressure_is_where_the_force_acts(x: float, y: float, side: float, turn: float) -> None:
    local = np.array([0.12 * x, 0.04 * y, 0.0])
    force = np.array([60.0 * side, -30.0 * side, 400.0])
    place, rotation = np.array([2.0, -1.0, 0.3]), np.array([0.1 * turn, -0.1, turn])
    sole = loaded(place, rotation, [*force.tolist(), *np.cross(local, force).tolist()])
    point = pressure_point(sole.position, sole.rows, sole.pressure)
    np.testing.assert_allclose(point, place + pin.exp3(rotation) @ local, atol=1e-12)
    np.testing.assert_allclose(sole.force, pin.exp3(rotation) @ force, atol=1e-9)
    np.testing.assert_allclose(sole.moment, pin.exp3(rotation) @ np.cross(local, force), atol=1e-9)
    inside = min(0.13 - abs(local[0]), 0.05 - abs(local[1]))
    assert sole.edge == pytest.approx(inside, abs=1e-9) and sole.flat == (sole.edge > 0.008)


def test_a_sole_that_rolls_over_its_toes_turns_about_them() -> None:
    toe, force = np.array([0.13, 0.0, 0.0]), np.array([0.0, 0.0, 400.0])
    rate = np.array([0.0, 1.0, 0.0])
    speed = np.cross(rate, -toe)  # of the sole's origin
    wrench = [*force.tolist(), *np.cross(toe, force).tolist()]
    sole = loaded(np.zeros(3), np.zeros(3), wrench, [*speed.tolist(), *rate.tolist()])
    assert not sole.flat and sole.turning() == pytest.approx(1.0)
    np.testing.assert_allclose(sole.rolling(), speed, atol=1e-12)
    assert not sole.contact.doubtful  # rolling is no slip


def test_without_load_there_is_no_centre_of_pressure() -> None:
    sole = loaded(np.zeros(3), np.zeros(3), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert not sole.pressed and not sole.flat
