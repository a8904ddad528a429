"""Hull, margin and polygon against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from humanoid_balance.geometry import Point, Polygon, convex_hull, margin

coordinate = st.floats(-0.5, 0.5).map(lambda value: round(value, 4))
point = st.tuples(coordinate, coordinate)


@st.composite
def polygons(draw: st.DrawFn) -> Polygon:
    """Convex, with an inside one can see."""
    polygon = Polygon(draw(st.lists(point, min_size=3, max_size=10)))
    v = polygon.vertices
    assume(len(v) >= 3 and _area(v) > 1e-3)
    assume(min(math.dist(a, b) for a, b in zip(v, v[1:] + v[:1], strict=True)) > 1e-3)
    return polygon


def _area(v: list[Point]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(v, v[1:] + v[:1], strict=True)) / 2


def _border(polygon: Polygon, count: int = 400) -> np.ndarray:
    """Points all along the border, at most a few millimetres apart."""
    v = np.array(polygon.vertices)
    share = np.linspace(0.0, 1.0, count)[:, None]
    return np.concatenate([a + share * (b - a) for a, b in zip(v, np.roll(v, -1, axis=0), strict=True)])


def _inside(polygon: Polygon, x: float, y: float) -> bool:
    """By the winding of the border about the point."""
    v = np.array(polygon.vertices) - (x, y)
    angles = np.arctan2(v[:, 1], v[:, 0])
    turns = (np.diff(np.append(angles, angles[0])) + math.pi) % (2 * math.pi) - math.pi
    return bool(abs(turns.sum()) > math.pi)


@given(polygon=polygons(), p=point)
def test_margin_inside_is_the_distance_to_the_border(polygon: Polygon, p: Point) -> None:
    distance = float(np.linalg.norm(_border(polygon) - p, axis=1).min())
    assume(distance > 1e-6)
    margin = polygon.margin(*p)
    assert (margin > 0.0) == _inside(polygon, *p)
    if margin > 0.0:
        assert margin == pytest.approx(distance, abs=2e-3)
    else:
        assert -margin <= distance + 1e-9  # outside a lower bound


@given(polygon=polygons(), p=point)
def test_projection_is_the_nearest_point(polygon: Polygon, p: Point) -> None:
    x, y = polygon.project(*p)
    assert polygon.margin(x, y) >= -1e-9
    if polygon.margin(*p) >= 0.0:
        assert (x, y) == p
    else:
        nearest = float(np.linalg.norm(_border(polygon) - p, axis=1).min())
        assert math.dist((x, y), p) <= nearest + 1e-9
        assert math.dist((x, y), p) == pytest.approx(nearest, abs=2e-3)


@given(polygon=polygons(), p=point)
def test_projecting_twice_changes_nothing(polygon: Polygon, p: Point) -> None:
    once = polygon.project(*p)
    assert polygon.project(*once) == pytest.approx(once, abs=1e-9)


@given(st.floats(0.1, 0.5), st.floats(0.1, 0.5), st.floats(0.001, 0.03), st.floats(0.0, 6.28))
def test_rectangle_shrinks_by_the_margin_on_every_side(a: float, b: float, by: float, turn: float) -> None:
    cos, sin = math.cos(turn), math.sin(turn)
    corners = [(a, b), (-a, b), (-a, -b), (a, -b)]
    rectangle = Polygon([(cos * x - sin * y, sin * x + cos * y) for x, y in corners])
    small = rectangle.shrunk(by)
    assert len(small.vertices) == 4
    assert _area(small.vertices) == pytest.approx(4 * (a - by) * (b - by), rel=1e-6)
    for corner in small.vertices:
        assert rectangle.margin(*corner) == pytest.approx(by, abs=1e-9)


def two_soles(ahead: float, apart: float, turn: float) -> list[Point]:
    """Corners of two soles of 25 by 10 cm, one ahead of the other and turned."""
    cos, sin = math.cos(turn), math.sin(turn)
    sole = [(0.125, 0.05), (-0.125, 0.05), (-0.125, -0.05), (0.125, -0.05)]
    return [*sole, *((cos * x - sin * y + ahead, sin * x + cos * y + apart) for x, y in sole)]


stances = st.builds(two_soles, st.floats(-0.6, 0.6), st.floats(0.15, 0.5), st.floats(-0.4, 0.4))


@given(corners=stances, by=st.floats(0.001, 0.02))
def test_hull_of_two_soles_shrinks_inwards_on_every_side(corners: list[Point], by: float) -> None:
    hull = Polygon(corners)
    small = hull.shrunk(by)
    for corner in small.vertices:
        assert hull.margin(*corner) >= by - 1e-6
    for x, y in _border(small, 20):
        assert hull.margin(x, y) >= by - 1e-6


@given(corners=stances)
def test_shrinking_without_measure_leaves_something_inside(corners: list[Point]) -> None:
    hull = Polygon(corners)
    small = hull.shrunk(10.0)
    assert small.vertices
    assert all(hull.margin(*corner) > 0.0 for corner in small.vertices)


@given(corners=stances, factor=st.floats(0.1, 1.0))
def test_scaling_scales_the_area_about_the_centre(corners: list[Point], factor: float) -> None:
    hull = Polygon(corners)
    scaled = hull.scaled(factor)
    assert scaled.centre == pytest.approx(hull.centre, abs=1e-9)
    assert _area(scaled.vertices) == pytest.approx(factor**2 * _area(hull.vertices))


@given(polygons(), point, point, st.floats(0.1, 1.0))
def test_toward_goes_straight_and_stays_inside(polygon: Polygon, start: Point, end: Point, most: float) -> None:
    assume(polygon.margin(*start) > 1e-6 and math.dist(start, end) > 1e-3)
    x, y = polygon.toward(start, end, most)
    assert polygon.margin(x, y) >= -1e-9
    way, whole = (x - start[0], y - start[1]), (end[0] - start[0], end[1] - start[1])
    assert abs(way[0] * whole[1] - way[1] * whole[0]) < 1e-9  # on the line
    share = (way[0] * whole[0] + way[1] * whole[1]) / (whole[0] ** 2 + whole[1] ** 2)
    assert -1e-9 <= share <= 1 + 1e-9
    if share < 1 - 1e-6:  # cut short: a little further than 1 / most of the way is outside
        further = share / most * 1.001 + 1e-6
        assert polygon.margin(start[0] + further * whole[0], start[1] + further * whole[1]) < 1e-9


@given(polygons(), point, point)
def test_toward_from_outside_is_the_nearest_point(polygon: Polygon, start: Point, end: Point) -> None:
    assume(polygon.margin(*start) < -1e-6)
    assert polygon.toward(start, end) == polygon.project(*end)


SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
grid = st.integers(-50, 50).map(lambda i: i / 100)
points = st.lists(st.tuples(grid, grid), min_size=1, max_size=8)


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
    assert margin(SQUARE[:2], np.array([3.0, 0.0])) == pytest.approx(-1.0)
    assert margin(SQUARE[:1], np.array([0.3, 0.4])) == pytest.approx(-0.5)
    assert margin(np.zeros((0, 2)), np.zeros(2)) == -np.inf


def test_a_point_that_is_not_a_number_has_no_margin() -> None:
    assert math.isnan(margin(SQUARE, np.array([np.nan, 0.5, 0.0])))


@given(polygon=polygons(), p=point)
def test_the_margin_is_the_signed_distance_to_the_border(polygon: Polygon, p: Point) -> None:
    distance = float(np.linalg.norm(_border(polygon) - p, axis=1).min())
    assert abs(margin(np.array(polygon.vertices), np.array(p))) == pytest.approx(distance, abs=2e-3)
