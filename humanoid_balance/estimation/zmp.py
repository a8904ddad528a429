"""The zero-moment point in closed form (Kudoh K3, K5; Yin Y0), z up.

All points lie on the ground plane through ``ground`` with unit normal ``normal``. Forces act on the body; vectors are
triples of floats in world axes, as this runs inside the tick.
"""

from __future__ import annotations

from collections.abc import Sequence

Vector = Sequence[float]
NAN3 = (float("nan"),) * 3


def moment_free_point(
    force: Vector, moment: Vector, about: Vector, ground: Vector, normal: Vector, floor: float
) -> tuple[float, float, float]:
    """The point of the ground plane about which a wrench has no horizontal moment (K5).

    ``moment`` is about the point ``about``. With r = p - about the condition is (moment - r x force)_xy = 0; its
    solutions are a line along the force, cut here with the ground plane. NaN when f_z is below ``floor`` [N].
    """
    fx, fy, fz = force
    if fz < floor:
        return NAN3
    # The point of the line at the height of ``about``: r = (-m_y, m_x, 0) / f_z.
    px, py, pz = about[0] - moment[1] / fz, about[1] + moment[0] / fz, about[2]
    nx, ny, nz = normal
    along = nx * fx + ny * fy + nz * fz
    if along < 0.1 * fz:  # a force nearly in the plane: the cut is meaningless, stay at the height of the ground
        along, nx, ny, nz = fz, 0.0, 0.0, 1.0
    t = (nx * (ground[0] - px) + ny * (ground[1] - py) + nz * (ground[2] - pz)) / along
    return px + t * fx, py + t * fy, pz + t * fz
