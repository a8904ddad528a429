"""One sole in the world: pose, twist, wrench, centre of pressure, contact, slip and rolling."""

from __future__ import annotations

import math

from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.zmp import NAN3
from humanoid_balance.types import Array

Floats = list[float]
EDGE = 0.004  # the centre of pressure so close to the rim: the sole may roll over it [m]
FLAT = 0.008  # farther inside: the sole lies flat [m] ...
TURNING_SQ = 0.3**2  # ... unless it turns faster than this, then the pressure is not where it seems [rad²/s²]


class Sole:
    """What is known of one foot at this tick; plain floats, world axes unless said."""

    def __init__(self, contact: FootContact, corners: Array, floor: float) -> None:
        self.contact = contact
        self._floor = floor  # normal force below which there is no centre of pressure [N]
        self._low_x, self._low_y = corners[:, :2].min(axis=0).tolist()
        self._high_x, self._high_y = corners[:, :2].max(axis=0).tolist()
        self.position: Floats = [0.0] * 3
        self.rows: list[Floats] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # of the rotation
        self.twist: Floats = [0.0] * 6
        self.normal_force = 0.0  # sole frame
        self.force: Floats = [0.0] * 3
        self.moment: Floats = [0.0] * 3  # about the sole frame's origin
        self.cop: tuple[float, float, float] = NAN3  # centre of pressure
        self.pressed = False  # in contact and loaded enough to have a centre of pressure
        self.edge = 0.0  # distance of the centre of pressure to the rim [m]
        self.flat = False  # the ground pushes well inside the sole and it does not turn

    def update(
        self, position: Floats, rows: list[Floats], twist: Floats, wrench: Floats, variance: float, dt: float
    ) -> None:
        """Take the kinematics, the wrench in and about the sole frame [N, N m], and the variance of speeds [m²/s²]."""
        self.position, self.rows, self.twist = position, rows, twist
        (a, b, c), (d, e, f), (g, h, i) = rows
        x, y, z, u, v, w = wrench
        self.force = [a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z]
        self.moment = [a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w]
        self.normal_force = z
        contact = self.contact
        contact.update(z, dt)
        self.pressed = contact.contact and z > self._floor
        if self.pressed:
            x, y = -v / z, u / z  # the sole frame's moment vanishes there
            self.edge = edge = min(x - self._low_x, self._high_x - x, y - self._low_y, self._high_y - y)
            vx, vy, vz, wx, wy, wz = twist
            self.flat = edge > FLAT and wx * wx + wy * wy + wz * wz < TURNING_SQ
            x, y, z = a * x + b * y, d * x + e * y, g * x + h * y
            self.cop = (position[0] + x, position[1] + y, position[2] + z)
            vx, vy, vz = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
            speed_sq = vx * vx + vy * vy + vz * vz
            if speed_sq > contact.slip_sq or contact.doubtful:
                contact.watch_slip(speed_sq, variance, dt)
        else:
            self.cop = NAN3
            self.edge, self.flat = 0.0, False

    def rolling(self) -> Floats:
        """Velocity of the origin of a sole that is pressed but not flat, v = w x (sole - cop): the contact stands."""
        share = 1.0 if self.edge > FLAT else min((FLAT - self.edge) / (FLAT - EDGE), 1.0)
        (px, py, pz), (cx, cy, cz) = self.position, self.cop
        x, y, z = share * (px - cx), share * (py - cy), share * (pz - cz)
        _, _, _, wx, wy, wz = self.twist
        return [wy * z - wz * y, wz * x - wx * z, wx * y - wy * x]

    def turning(self) -> float:
        """Angular speed [rad/s]."""
        _, _, _, wx, wy, wz = self.twist
        return math.sqrt(wx * wx + wy * wy + wz * wz)
