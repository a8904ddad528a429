"""What friction lets the ground do: the force on the CoM stays within the friction of the soles, on any slope.

The ground force points from e = p + d to the CoM, along (s - e, h), however hard the legs press. Standing still on a
slope of angle a takes tan a of the friction already, so little of it may be left downhill. A wish beyond that would be
met all the same, by legs that press harder and harder to buy more grip until the body leaves the ground. Within it the
body is braked later, but it is braked: the CoM runs on for a while.
"""

from __future__ import annotations

import math

from humanoid_balance.balance.laws import Wish
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.step_cycle import ground_rotation
from humanoid_balance.geometry import Polygon

LEAST = 0.02  # friction that is counted on beyond what standing still takes


class Grip:
    """The friction pyramid of soles with the heading of the feet, as the whole-body controller keeps it."""

    def __init__(self, friction: float) -> None:
        self.friction = friction
        self._steepest = 1 / math.hypot(1.0, friction)  # cosine of the friction cone's angle

    def limited(self, now: Situation, wish: Wish) -> Wish:
        """The wish as far as friction allows: first the centre of pressure, then what is left for the turn."""
        (x, y), (px, py), (dx, dy), h = now.com, wish.pressure, wish.turn, now.height
        fx, fy = (x - px) / h, (y - py) / h  # force per vertical force, without the turn and with it
        tx, ty = fx - dx / h, fy - dy / h
        nx, ny, nz = now.ground.tolist()
        least = self._steepest * math.sqrt(nx * nx + ny * ny + nz * nz)
        without = fx * nx + fy * ny + nz >= least * math.sqrt(fx * fx + fy * fy + 1.0)
        if without and tx * nx + ty * ny + nz >= least * math.sqrt(tx * tx + ty * ty + 1.0):
            return wish  # inside the cone, so inside the pyramid
        pyramid = self._pyramid(now)
        fx, fy = pyramid.project(fx, fy)
        tx, ty = pyramid.project(fx - dx / h, fy - dy / h)
        return Wish((x - h * fx, y - h * fy), (h * (fx - tx), h * (fy - ty)))

    def _pyramid(self, now: Situation) -> Polygon:
        """Horizontal forces per vertical force."""
        (a, b, nx), (c, d, ny), (e, f, nz) = ground_rotation(now.ground, now.yaw).tolist()
        mu = max(self.friction, max(abs(e), abs(f)) / nz + LEAST)
        corners = []
        for s, t in ((mu, mu), (mu, -mu), (-mu, mu), (-mu, -mu)):
            up = max(nz + s * e + t * f, 0.1)
            corners.append(((nx + s * a + t * b) / up, (ny + s * c + t * d) / up))
        return Polygon(corners)
