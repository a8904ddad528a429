"""A sole that rolls over its front edge: the edge stands, the heel rises as it is told.

With the edge r = (toe, 0, 0) ahead of the sole's origin, in the axes of the sole, the origin of a sole that turns with
w and alpha about an edge that stands accelerates with

    a = a_edge - alpha x r - w x (w x r),      a_edge = -k v_edge,   v_edge = v + w x r

The pitch alpha_y follows the angle that is wanted; roll and yaw are held. What the ground gives goes through the edge:
in the wrench cone the sole is a strip of a few millimetres there.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.types import Array, HeelReference

STIFF = 30.0  # the angle of the heel follows at this frequency, critically damped [1/s]


def front_edge(corners: Array) -> float:
    """How far it is ahead of the sole's origin [m]."""
    return float(corners[:, 0].max())


def edge_corners(corners: Array) -> Array:
    """The sole's rectangle shrunk to its front edge (4, 3): its width, and no length."""
    edge = corners.copy()
    edge[:, 0] = front_edge(corners)
    return edge


def rise(rotation: Array, normal: Array) -> float:
    """By how much a sole is pitched toes down against the ground [rad]; ``rotation`` world <- sole."""
    x, _, z = normal.dot(rotation).tolist()
    return math.atan2(-x, z)


def rest(velocity: Array, tilt: float, roll: float, toe: float, wanted: HeelReference, damping: float) -> Array:
    """Acceleration that such a sole should have, linear and angular, its own axes (6,); ``velocity`` likewise.

    ``tilt`` is its pitch, ``roll`` its other angle against the ground [rad]; ``damping`` of what should not move [1/s].
    """
    vx, vy, vz, wx, wy, wz = velocity.tolist()
    ax = -damping * wx - (damping / 2) ** 2 * roll
    ay = wanted.acceleration + 2 * STIFF * (wanted.rate - wy) + STIFF**2 * (wanted.angle - tilt)
    az = -damping * wz
    return np.array((
        -damping * vx + toe * (wy * wy + wz * wz),
        -damping * (vy + wz * toe) - toe * (az + wx * wy),
        -damping * (vz - wy * toe) + toe * (ay - wx * wz),
        ax, ay, az,
    ))  # fmt: skip
