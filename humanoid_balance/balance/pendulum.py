"""The inverted pendulum: what a push does to the CoM, and where a foot must be to stop it.

With omega = sqrt(g / h) the divergent component of motion xi = s + s' / omega obeys xi' = omega (xi - e), where e is
the point the ground force would need to come from if it passed through the CoM. Centre of pressure p and rate of
angular momentum n give e = p + (n_y, -n_x) / (m g): turning the trunk forward moves e beyond the toes.
"""

from __future__ import annotations

import math

from humanoid_balance.types import GRAVITY

KUDOH_STEP_TIME = 0.231  # measured on people, +-0.028 [s]
KUDOH_RATIO = 1.3  # alpha_c / theta_c from standing
TORRES_ALPHA = 0.05  # d' = d - alpha V_d
TORRES_REACH = 0.6  # of the leg length


def omega(height: float) -> float:
    """Pendulum frequency [1/s]."""
    return math.sqrt(GRAVITY / height)


def no_step_ceiling(edge: float, omega: float) -> float:
    """Largest velocity change the centre of pressure alone can take, CoM at 0, edge of the foot at ``edge`` [m/s]."""
    return omega * edge


def step_ceiling(edge: float, omega: float, length: float, time: float) -> float:
    """The same with one step of ``length`` that lands after ``time`` [m/s]: omega (r - c + L exp(-omega T))."""
    return omega * (edge + length * math.exp(-omega * time))


def torres_step(speed: float, height: float, wanted_speed: float = 0.0) -> float:
    """Torres: energy balance ½v² + g h = g L gives d = v sqrt(h / g); d' = d - alpha V_d, at most 0.6 L [m]."""
    distance = speed * math.sqrt(height / GRAVITY) - TORRES_ALPHA * wanted_speed
    reach = TORRES_REACH * math.hypot(height, distance)
    return max(-reach, min(reach, distance))


def kudoh_step(offset: float, speed: float, length: float) -> float:
    """Kudoh: the pendulum falls freely for 231 ms to theta_c; the foot lands at alpha_c = 1.3 theta_c behind the leg.

    ``offset`` is the CoM before the stance ankle, ``length`` the pendulum; the foot distance is
    a = l sin(alpha_c) / cos(theta_c - alpha_c) [m].
    """
    w, time = math.sqrt(GRAVITY / length), KUDOH_STEP_TIME
    theta = (offset * math.cosh(w * time) + speed / w * math.sinh(w * time)) / length
    theta = max(-0.6, min(0.6, theta))
    alpha = KUDOH_RATIO * theta
    return length * math.sin(alpha) / math.cos(theta - alpha)
