"""What a sole can do to the ground: the wrench cone of a rectangle with dry friction.

Wrenches w = [f; m] are of the ground on the sole, in and about the sole frame. The cone is the exact image of forces
inside linearised friction cones at the four corners (S. Caron, Q.-C. Pham, Y. Nakamura, "Stability of surface contacts
for humanoid robots", ICRA 2015). With half length X, half width Y, and moments about the middle of the rectangle:

    |f_x| <= mu f_z            |f_y| <= mu f_z                       no slip
    |m_x| <= Y f_z             |m_y| <= X f_z                        centre of pressure inside the sole
    |Y f_x - mu m_x| + |X f_y - mu m_y| - mu (X + Y) f_z <= m_z      yaw friction
    m_z <= mu (X + Y) f_z - |Y f_x + mu m_x| - |X f_y + mu m_y|
    f_min <= f_z <= f_max
"""

from __future__ import annotations

from itertools import product

import numpy as np

from humanoid_balance.types import Array

ROWS = 17
ROW_NAMES = (
    *(f"friction {s}{axis}" for axis in "xy" for s in "+-"),
    *(f"cop {edge}" for edge in ("left", "right", "heel", "toe")),
    *("yaw friction",) * 8,
    "normal force",
)
POINT_ROW_NAMES = (*ROW_NAMES[:4], "normal force")
MIN_TOTAL = 0.5  # of all soles together: a body that drops loses its grip on the ground
MIN_HALF = 0.004  # a margin never shrinks the sole below this half size [m]


def rectangle(corners: Array) -> tuple[Array, float, float]:
    """Middle (3,), half length X and half width Y of a sole from its corners (4, 3) [m]."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    half = (high - low) / 2
    return (low + high) / 2, float(half[0]), float(half[1])


def to_middle(middle: Array) -> Array:
    """Moves a wrench from the sole's origin to the middle of its rectangle (6, 6): m_c = m - c x f."""
    shift = np.eye(6)
    x, y, z = middle
    shift[3:, :3] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return shift


def wrench_cone(corners: Array, friction: float, margin: float = 0.0) -> Array:
    """Rows U (17, 6): U w <= 0 is the cone, the last row is the normal force. ``margin`` shrinks the sole [m]."""
    middle, X, Y = rectangle(corners)
    X, Y, mu = max(X - margin, MIN_HALF), max(Y - margin, MIN_HALF), friction
    rows = [[s, 0, -mu, 0, 0, 0] for s in (1, -1)] + [[0, s, -mu, 0, 0, 0] for s in (1, -1)]
    rows += [[0, 0, -Y, s, 0, 0] for s in (1, -1)] + [[0, 0, -X, 0, s, 0] for s in (1, -1)]
    for s, t in product((1, -1), repeat=2):
        rows.append([s * Y, t * X, -mu * (X + Y), -s * mu, -t * mu, -1])
        rows.append([s * Y, t * X, -mu * (X + Y), s * mu, t * mu, 1])
    rows.append([0, 0, 1, 0, 0, 0])
    return np.array(rows, dtype=float) @ to_middle(middle)


def friction_cone(friction: float) -> Array:
    """Rows U (5, 3): U f <= 0 is the linearised friction cone of a point, the last row is the normal force."""
    mu = friction
    return np.array([[1, 0, -mu], [-1, 0, -mu], [0, 1, -mu], [0, -1, -mu], [0, 0, 1]], dtype=float)


def wrench_scale(corners: Array, friction: float) -> Array:
    """Metric for force regularisation (6, 6): 1 is the largest each component can be for a unit normal force."""
    middle, X, Y = rectangle(corners)
    scale = np.array([1 / friction, 1 / friction, 1.0, 1 / Y, 1 / X, 1 / (friction * (X + Y))])
    return np.asarray(scale[:, None] * to_middle(middle))
