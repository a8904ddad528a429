"""The inertia nearest to a given one that a body can have.

The moments about the principal axes of any distribution of mass are sums of its second moments s_i = integral of x_i²:
I_1 = s_2 + s_3, and so on. They are possible if and only if no s_i is negative, which is the triangle inequality
I_1 + I_2 >= I_3 and, with it, I_i >= 0 (Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent
inertial parameter identification", RA-L 2018). The set is convex and does not depend on the axes, so the nearest matrix
in the Frobenius norm keeps the principal axes, and its moments are a non-negative least-squares problem of size three.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from humanoid_balance.types import Array

MOMENTS = np.ones((3, 3)) - np.eye(3)  # principal moments of inertia from second moments
TINY = 1e-15  # least moment that MuJoCo takes [kg m²]
SLACK = 1e-6  # by how much a triangle inequality may be violated, of the largest moment: rounding in a file
THINNEST = 1e-3  # [m] root mean square distance of a link's mass from its centre along an axis
STEEL = 7850.0  # [kg/m³] no link is denser
NONE = 1e-3  # an inertia below this share of a steel ball's is a blank in the file, not a body


def is_possible(inertia: Array) -> bool:
    """Whether a body can have this inertia about its CoM (3, 3) [kg m²]."""
    moments = np.linalg.eigvalsh(inertia)
    return bool(moments[0] > TINY and moments[0] + moments[1] >= moments[2] * (1.0 - SLACK))


def nearest(inertia: Array, mass: float) -> Array:
    """The possible inertia that is nearest to ``inertia`` (3, 3) [kg m²], of a body of some thickness."""
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2)
    least = mass * THINNEST**2
    second = nnls(MOMENTS, moments - MOMENTS @ np.full(3, least))[0] + least
    return np.asarray(axes @ np.diag(MOMENTS @ second) @ axes.T, dtype=float)


def is_blank(inertia: Array, mass: float) -> bool:
    """Whether the file gives a mass but, in effect, no inertia."""
    return bool(np.abs(inertia).max() < NONE * ball(mass)[0, 0])


def ball(mass: float) -> Array:
    """Inertia of a solid steel ball: the least that a compact link of this mass has (3, 3) [kg m²]."""
    radius = (3.0 * mass / (4.0 * np.pi * STEEL)) ** (1 / 3)
    return np.asarray(0.4 * mass * radius**2 * np.eye(3), dtype=float)
