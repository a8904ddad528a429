"""The ground plane through the standing soles, on any slope."""

from __future__ import annotations

import math
import struct

import numpy as np

from humanoid_balance.estimation.sole import Sole, pressure_point
from humanoid_balance.types import Array

Floats = list[float]
PACK = struct.Struct("3d").pack  # faster than an array from floats
UPRIGHT = 0.9986  # z of a sole's normal, 3 degrees: it may stand on an edge beyond
STEEPEST = 0.7  # z of a unit normal, 45 degrees: a sole beyond is no floor


class GroundPlane:
    """A point and the unit normal of the floor under the robot; kept while it flies."""

    def __init__(self) -> None:
        self.start([0.0, 0.0, 0.0])

    def start(self, point: Floats) -> None:
        self.point = point  # world [m]
        self._set_normal(0.0, 0.0, 1.0)

    def _set_normal(self, x: float, y: float, z: float) -> None:
        self.normal: Floats = [x, y, z]
        self.normal_array: Array = np.ndarray((3,), float, PACK(x, y, z))  # read only

    def update(self, left: Sole, right: Sole) -> None:
        """Take the soles in contact; one that may roll over its rim does not show the slope."""
        both = left.contact.contact and right.contact.contact
        if both:
            (a, b, c), (d, e, f) = _on_ground(left), _on_ground(right)
            self.point = [0.5 * (a + d), 0.5 * (b + e), 0.5 * (c + f)]
        elif left.contact.contact:
            self.point = _on_ground(left)
        elif right.contact.contact:
            self.point = _on_ground(right)
        else:
            return
        x = y = z = 0.0
        for sole in (left, right):
            if sole.flat:
                rows = sole.rows
                x, y, z = x + rows[0][2], y + rows[1][2], z + rows[2][2]
        length = math.sqrt(x * x + y * y + z * z)
        if length > 0.0 and z > STEEPEST * length:
            self._set_normal(x / length, y / length, z / length)

    def height(self, x: float, y: float) -> float:
        """Of the plane at a place [m]."""
        (px, py, pz), (nx, ny, nz) = self.point, self.normal
        return pz - (nx * (x - px) + ny * (y - py)) / nz


def _on_ground(sole: Sole) -> Floats:
    """A point of a sole that touches the floor, world [m]; of one whose heel is up, where it presses."""
    rows = sole.rows
    if sole.pressed and not sole.flat and rows[2][2] < UPRIGHT:
        return list(pressure_point(sole.position, rows, sole.pressure))
    return sole.position
