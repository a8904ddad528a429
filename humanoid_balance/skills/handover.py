"""When a body that gets up is on its feet, so that the whole-body QP may take over: the same for loop and optimiser."""

from __future__ import annotations

import math

STEADY = 0.05  # the CoM stays over the feet this long before it counts [s]: one swing through does not
LOADED = 0.6  # share of the weight on the soles with which the body is on its feet
FLAT = math.cos(0.25)  # tilt of a sole that stands [rad]
SLOW = 0.5  # speed of a CoM that the feet can catch [m/s]; the capture point decides more exactly


def on_feet(load: float, flat: float, speed: float, over: float, margin: float) -> bool:
    """CoM and capture point over flat, loaded soles.

    ``load``: share of the weight on the soles; ``flat``: cosine of the worst sole's tilt; ``speed`` of the CoM [m/s];
    ``over``, ``margin``: of the CoM and of the capture point from the edge of the soles, positive inside [m].
    """
    return load >= LOADED and flat > FLAT and speed < SLOW and over > 0.0 and margin > 0.0
