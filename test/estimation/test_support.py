"""The support polygon and the margin of a point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.estimation.support import convex_hull, margin

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
coordinate = st.integers(-50, 50).map(lambda i: i / 100)
points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=8)


def test_hull_of_a_rectangle_leaves_out_inner_and_collinear_points() -> None:
    hull = convex_hull([(0, 0), (2, 0), (1, 0), (2, 1), (0, 1), (1, 0.5)])
    assert hull == [(0, 0), (2, 0), (2, 1), (0, 1)]


@given(points)
def test_hull_is_counter_clockwise_and_contains_all_points(cloud: list[tuple[float, float]]) -> None:
    hull = np.array(convex_hull(cloud))
    if len(hull) > 2:
        edge = np.roll(hull, -1, axis=0) - hull
        following = np.roll(edge, -1, axis=0)
        assert (edge[:, 0] * following[:, 1] - edge[:, 1] * following[:, 0] > 0).all()
        assert min(margin(hull, np.array(p)) for p in cloud) > -1e-12
    assert {tuple(p) for p in hull.tolist()} <= set(cloud)


@pytest.mark.parametrize(
    ("point", "expected"), [((1.0, 0.4), 0.4), ((0.1, 0.5), 0.1), ((3.0, 0.5), -1.0), ((3.0, 2.0), -np.sqrt(2))]
)
def test_margin_is_the_distance_to_the_border_with_a_sign(point: tuple[float, float], expected: float) -> None:
    assert margin(SQUARE, np.array(point)) == pytest.approx(expected)


def test_margin_takes_a_point_in_space() -> None:
    assert margin(SQUARE, np.array([1.0, 0.4, 7.0])) == pytest.approx(0.4)


def test_a_segment_or_nothing_has_no_inside() -> None:
    assert margin(SQUARE[:2], np.array([1.0, 0.0])) == pytest.approx(0.0)
    assert margin(SQUARE[:2], np.array([1.0, 0.3])) == pytest.approx(-0.3)
    assert margin(np.zeros((0, 2)), np.zeros(2)) == -np.inf
