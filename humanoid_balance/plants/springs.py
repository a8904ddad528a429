"""A ground of springs under rounded soles: the world of Lee's thesis (specification A1), beside the hard one.

Every point of a sole that is below the plane is pushed out of it and held back,

    f_n = max(0, k_s depth - k_d v_n),   k_d = 2 sqrt(k_s)
    f_t = mu f_n against the slip, less in proportion below SLOW

The force is a function of the state, so torques do not change it within a physics step. The thesis's soles are not
flat: a foot rolls over six half-spheres, and sinks in until enough of their points carry. With flat soles on the same
springs its walks fall.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.types import Array

STIFFNESS = 2000.0  # of a point [N/m], A1
TIMESTEP = 0.00025  # of a physics that takes these forces as given for a step; they slow a foot of 2 kg in 0.3 ms [s]
SLOW = 0.05  # slip at which friction is full [m/s]
RADIUS = 0.05  # of the half-spheres [m]
INSET = 0.01  # of their centres from the edges of the sole [m]
RINGS = ((0.0, 1), (math.pi / 6, 6), (math.pi / 3, 6))  # angle from the lowest point [rad], points there


def rounded(corners: Array) -> Array:
    """Points of a sole (k, 3) for the rectangle of its corners (4, 3): half-spheres at its corners and half-way."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    (x0, y0, z), (x1, y1, _) = low, high
    centres = [(x, y) for x in (x0 + INSET, (x0 + x1) / 2, x1 - INSET) for y in (y0 + INSET, y1 - INSET)]
    ring = np.array(
        [
            (math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), 1.0 - math.cos(a))
            for a, count in RINGS
            for b in 2.0 * math.pi * np.arange(count) / count
        ]
    )
    return np.concatenate([RADIUS * ring + np.array([x, y, z]) for x, y in centres])


class Springs:
    """The plane through the origin that rises forward by ``slope`` [rad]."""

    def __init__(self, friction: float, stiffness: float = STIFFNESS, slope: float = 0.0) -> None:
        self._friction, self._stiffness, self._damping = friction, stiffness, 2.0 * math.sqrt(stiffness)
        self._normal = np.array([-math.sin(slope), 0.0, math.cos(slope)])

    def forces(self, points: Array, velocity: Array) -> Array:
        """On points (k, 3) that move with a velocity (k, 3), world [N]."""
        depth, rise = -points.dot(self._normal), velocity.dot(self._normal)
        press = np.where(depth > 0.0, np.maximum(0.0, self._stiffness * depth - self._damping * rise), 0.0)
        slip = velocity - rise[:, None] * self._normal
        speed = np.sqrt(np.einsum("ij,ij->i", slip, slip))
        hold = self._friction * press / np.maximum(speed, SLOW)
        return np.asarray(press[:, None] * self._normal - hold[:, None] * slip)

    def wrench(self, local: Array, position: Array, rotation: Array, linear: Array, angular: Array) -> Array:
        """On a body with points ``local`` (k, 3), about its origin, world (6,) [N, N m]."""
        arms = local.dot(rotation.T)
        below = arms.dot(self._normal) < -float(position.dot(self._normal))
        if not below.any():
            return np.zeros(6)
        arms = arms[below]
        x, y, z = angular.tolist()
        turned = arms.dot(np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]))  # angular x arm, row by row
        force = self.forces(position + arms, linear + turned)
        spread = arms.T.dot(force)  # its antisymmetric part is the moment
        moment = (spread[1, 2] - spread[2, 1], spread[2, 0] - spread[0, 2], spread[0, 1] - spread[1, 0])
        return np.concatenate([force.sum(axis=0), moment])

    def sink(self, local: Array, load: float) -> float:
        """How deep a body with these points, level and at rest, sinks under a load [N]."""
        low, high = 0.0, 1.0
        still = np.zeros_like(local)
        for _ in range(50):
            depth = (low + high) / 2
            carried = float(self.forces(local - depth * self._normal, still).dot(self._normal).sum())
            low, high = (low, depth) if carried > load else (depth, high)
        return high
