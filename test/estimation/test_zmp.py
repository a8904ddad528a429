"""The zero-moment point against its formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.estimation.zmp import moment_free_point
from humanoid_balance.types import GRAVITY

small = st.floats(-1.0, 1.0)
ORIGIN, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@given(st.tuples(small, small, small), st.tuples(small, small, small), st.tuples(small, small))
def test_on_flat_ground_it_is_the_formula_of_k3(
    acceleration: tuple[float, ...], n: tuple[float, ...], place: tuple[float, float]
) -> None:
    mass, s = 71.0, np.array([*place, 0.9])
    force = mass * (np.array(acceleration) + np.array([0.0, 0.0, GRAVITY]))
    p = moment_free_point(force.tolist(), n, s.tolist(), ORIGIN, UP, 1.0)
    assert p[0] == pytest.approx(s[0] + ((0.0 - s[2]) * force[0] - n[1]) / force[2], abs=1e-12)
    assert p[1] == pytest.approx(s[1] + ((0.0 - s[2]) * force[1] + n[0]) / force[2], abs=1e-12)
    assert p[2] == pytest.approx(0.0, abs=1e-12)


@given(st.tuples(small, small), st.tuples(small, small, small), st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))
def test_on_a_slope_it_lies_on_the_ground_and_leaves_only_vertical_moment(
    push: tuple[float, float], moment: tuple[float, ...], slope_x: float, slope_y: float
) -> None:
    normal = np.array([-slope_x, -slope_y, 1.0]) / np.sqrt(1 + slope_x**2 + slope_y**2)
    force = np.array([50 * push[0], 50 * push[1], 600.0])
    about, ground = np.array([0.1, -0.2, 0.9]), np.array([0.3, 0.1, 0.05])
    p = np.array(moment_free_point(force.tolist(), moment, about.tolist(), ground.tolist(), normal.tolist(), 1.0))
    assert normal @ (p - ground) == pytest.approx(0.0, abs=1e-12)
    left = np.array(moment) - np.cross(p - about, force)
    np.testing.assert_allclose(left[:2], 0.0, atol=1e-9)


def test_in_flight_there_is_none() -> None:
    assert np.isnan(moment_free_point((0.0, 0.0, 0.5), ORIGIN, ORIGIN, ORIGIN, UP, 1.0)).all()
