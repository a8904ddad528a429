"""A leg of two links: the angles that bring its ankle to a place (Torres T1). The knee bends in the leg's plane."""

from __future__ import annotations

import math
from typing import NamedTuple

STRAIGHT = 0.998  # of the leg's length: a straight knee cannot be sent anywhere


class LegAngles(NamedTuple):
    """In the sense of a gait's table [rad]."""

    forward: float  # of the thigh
    left: float  # of the whole leg
    knee: float


def two_links(lengths: tuple[float, float], x: float, y: float, z: float) -> LegAngles:
    """For an ankle at x ahead, y to the left and z above the hip [m]; what is too far is reached for."""
    thigh, shank = lengths
    far = math.sqrt(x * x + y * y + z * z)
    near = abs(thigh - shank) + 0.01 * (thigh + shank)
    d = min(max(far, near), STRAIGHT * (thigh + shank))
    bend = math.acos((thigh * thigh + d * d - shank * shank) / (2 * thigh * d))
    knee = math.acos((thigh * thigh + shank * shank - d * d) / (2 * thigh * shank)) - math.pi
    return LegAngles(math.atan2(x, math.hypot(y, z)) + bend, math.atan2(y, -z), knee)
