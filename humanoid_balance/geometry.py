"""Convex polygons in the plane: hull, margin of a point, nearest point, smaller ones. Plain floats, no arrays.

For the eight corners of two soles this is some three times faster than any array version, and the balance modes ask
many times per tick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from humanoid_balance.types import Array

Point = tuple[float, float]  # x, y [m]
POINT = 1e-9  # an edge shorter than this is a point [m]


def convex_hull(points: Sequence[Point]) -> list[Point]:
    """Vertices of the hull, counter-clockwise, without collinear points.

    A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions", Inf. Process. Lett. 9 (1979).
    """
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered

    def chain(sequence: Sequence[Point]) -> list[Point]:
        out: list[Point] = []
        for x, y in sequence:
            while len(out) > 1:
                (x0, y0), (x1, y1) = out[-2], out[-1]
                if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0.0:
                    break
                out.pop()
            out.append((x, y))
        return out[:-1]

    return chain(ordered) + chain(ordered[::-1])


class Polygon:
    """Vertices counter-clockwise, world x y [m]."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.vertices = convex_hull(points)
        v = self.vertices
        self.edges = []  # (x, y, unit normal pointing inwards, length) of each edge
        for (x0, y0), (x1, y1) in zip(v, v[1:] + v[:1], strict=True):
            length = math.hypot(x1 - x0, y1 - y0)
            if length > POINT:
                self.edges.append((x0, y0, -(y1 - y0) / length, (x1 - x0) / length, length))
        self.inset = 0.0  # by which ``inner`` is smaller [m]
        self._inner: Polygon | None = None
        count = max(len(v), 1)
        self.centre = (sum(p[0] for p in v) / count, sum(p[1] for p in v) / count)

    @property
    def inner(self) -> Polygon:
        """The polygon that is smaller by ``inset``, made when it is asked for."""
        if self._inner is None:
            self._inner = self.shrunk(self.inset)
        return self._inner

    def margin(self, x: float, y: float) -> float:
        """Distance to the nearest edge line: positive inside; outside a lower bound of the distance, negated."""
        least = math.inf
        for px, py, nx, ny, _ in self.edges:  # a plain loop takes half the time of min() over a generator
            distance = nx * (x - px) + ny * (y - py)
            if distance < least:
                least = distance
        return least

    def project(self, x: float, y: float) -> Point:
        """The nearest point of the polygon."""
        return (x, y) if self.margin(x, y) >= 0.0 else self.on_border(x, y)

    def on_border(self, x: float, y: float) -> Point:
        """The nearest point of the border."""
        best, nearest = math.inf, self.vertices[0]
        for px, py, nx, ny, length in self.edges:
            along = min(max((x - px) * ny - (y - py) * nx, 0.0), length)
            qx, qy = px + along * ny, py - along * nx
            distance = (qx - x) ** 2 + (qy - y) ** 2
            if distance < best:
                best, nearest = distance, (qx, qy)
        return nearest

    def toward(self, start: Point, end: Point, most: float = 1.0) -> Point:
        """From ``start`` toward ``end``, at most a share of the distance to the edge; nearest point from outside."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        share = 1.0
        for px, py, nx, ny, _ in self.edges:
            inside, closing = nx * (x - px) + ny * (y - py), -(nx * dx + ny * dy)
            if inside < 0.0:
                return self.project(*end)
            if closing > 0.0:
                share = min(share, most * inside / closing)
        return x + share * dx, y + share * dy

    def shrunk(self, by: float) -> Polygon:
        """Every vertex moved toward the centre so that edges move inwards by about ``by`` [m]."""
        cx, cy = self.centre
        inner = min((nx * (cx - px) + ny * (cy - py) for px, py, nx, ny, _ in self.edges), default=0.0)
        by = min(by, 0.8 * inner)
        moved = []
        edges = self.edges
        for (px, py, nx, ny, _), (qx, qy, mx, my, _) in zip([edges[-1], *edges[:-1]], edges, strict=True):
            # Meeting point of the two neighbouring edge lines, each moved inwards.
            a, b = nx * px + ny * py + by, mx * qx + my * qy + by
            det = nx * my - ny * mx
            moved.append(
                ((a * my - b * ny) / det, (nx * b - mx * a) / det) if abs(det) > 1e-9 else (qx + by * mx, qy + by * my)
            )
        return Polygon(moved)

    def scaled(self, factor: float) -> Polygon:
        """Scaled about the centre (Kudoh's stable area has the factor 1/2)."""
        cx, cy = self.centre
        return Polygon([(cx + factor * (x - cx), cy + factor * (y - cy)) for x, y in self.vertices])


def margin(vertices: Array, point: Array) -> float:
    """Distance of a point to the border of a polygon [m]: positive inside, negative outside; -inf for an empty one.

    ``vertices``: (k, 2), any order; one vertex or a segment has no inside. ``point``: x, y (, z); NaN for NaN.
    ``Polygon.margin`` is the same inside, and cheaper outside, where it is a lower bound only.
    """
    x, y = float(point[0]), float(point[1])
    if len(vertices) == 0 or math.isnan(x + y):
        return -math.inf if len(vertices) == 0 else math.nan
    polygon = Polygon([(px, py) for px, py in vertices.tolist()])
    if len(polygon.vertices) > 2 and (inside := polygon.margin(x, y)) >= 0.0:
        return inside
    nx, ny = polygon.on_border(x, y)
    return -math.hypot(x - nx, y - ny)
