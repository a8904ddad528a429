"""One sole in the world: pose, twist, wrench, centre of pressure, contact, slip and rolling."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.types import Array

Floats = list[float]
Point = tuple[float, float, float]
EDGE = 0.004  # the centre of pressure so close to the rim: the sole may roll over it [m]
FLAT = 0.008  # farther inside: the sole lies flat, unless it turns: then the pressure is not where it seems [m]


class Sole:
    """What is known of one foot at this tick; plain floats, world axes unless said."""

    def __init__(self, contact: FootContact, corners: Array, floor: float) -> None:
        self.contact = contact
        self._floor = floor  # normal force below which there is no centre of pressure [N]
        self._low_x, self._low_y = corners[:, :2].min(axis=0).tolist()
        self._high_x, self._high_y = corners[:, :2].max(axis=0).tolist()
        self.position: Floats = [0.0] * 3
        self.rows: list[Floats] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # of the rotation
        self.twist: Floats = [0.0] * 6  # sole frame
        self.normal_force = 0.0  # sole frame
        self.force: Floats = [0.0] * 3
        self.moment: Floats = [0.0] * 3  # about the sole frame's origin
        self.pressure: tuple[float, float] = 0.0, 0.0  # its centre while pressed, sole frame
        self.pressed = False  # in contact and loaded enough to have a centre of pressure
        self.edge = 0.0  # distance of the centre of pressure to the rim [m]
        self.flat = False  # the ground pushes well inside the sole and it does not turn

    def update(
        self, position: Floats, rows: list[Floats], twist: Floats, wrench: Floats, variance: float, dt: float
    ) -> None:
        """Take pose and twist (sole frame), the wrench in and about the sole frame [N, N m], the variance of speeds
        [m²/s²].

        What is rarely asked for in the world is turned there when it is: a flat foot needs neither twist nor pressure.
        """
        self.position, self.rows, self.twist = position, rows, twist
        (a, b, c), (d, e, f), (g, h, i) = rows
        x, y, z, u, v, w = wrench
        self.force = [a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z]
        self.moment = [a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w]
        self.normal_force = z
        contact = self.contact
        contact.update(z, dt, twist[2])
        self.pressed = contact.contact and z > self._floor
        if self.pressed:
            x, y = -v / z, u / z  # the sole frame's moment vanishes there
            self.edge = edge = min(x - self._low_x, self._high_x - x, y - self._low_y, self._high_y - y)
            vx, vy, vz, wx, wy, wz = twist
            self.flat = edge > FLAT and wx * wx + wy * wy + wz * wz < contact.flat_sq
            self.pressure = x, y
            vx, vy, vz = vx - wz * y, vy + wz * x, vz + wx * y - wy * x
            speed_sq = vx * vx + vy * vy + vz * vz
            if speed_sq > contact.slip_sq or contact.doubtful:
                contact.watch_slip(speed_sq, variance, dt)
        else:
            self.edge, self.flat = 0.0, False

    def rolling(self) -> Floats:
        """Velocity of the origin of a sole that is pressed but not flat, v = w x (sole - cop): the contact stands."""
        share = 1.0 if self.edge > FLAT else min((FLAT - self.edge) / (FLAT - EDGE), 1.0)
        x, y = self.pressure
        x, y = -share * x, -share * y
        _, _, _, wx, wy, wz = self.twist
        vx, vy, vz = -wz * y, wz * x, wx * y - wy * x
        (a, b, c), (d, e, f), (g, h, i) = self.rows
        return [a * vx + b * vy + c * vz, d * vx + e * vy + f * vz, g * vx + h * vy + i * vz]

    def turning(self) -> float:
        """Angular speed [rad/s]."""
        _, _, _, wx, wy, wz = self.twist
        return math.sqrt(wx * wx + wy * wy + wz * wz)


def pressure_point(position: Floats, rows: Sequence[Sequence[float]], pressure: tuple[float, float]) -> Point:
    """A point of the sole in the world."""
    (a, b, _), (d, e, _), (g, h, _) = rows
    (px, py, pz), (x, y) = position, pressure
    return px + a * x + b * y, py + d * x + e * y, pz + g * x + h * y


def turned_twist(rows: Sequence[Sequence[float]], twist: Floats) -> Floats:
    """A twist in other axes; ``rows`` of the rotation there."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    x, y, z, u, v, w = twist
    return [
        a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z,
        a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w,
    ]  # fmt: skip
