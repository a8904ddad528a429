"""The inverted pendulum: what a push does to the CoM, and where a foot must be to stop it.

With omega = sqrt(g / h) the divergent component of motion (DCM) xi = s + s' / omega obeys xi' = omega (xi - e), where e
is the point the ground force would need to come from if it passed through the CoM: the centroidal moment pivot (CMP).
Centre of pressure p and rate of angular momentum n give e = p + (n_y, -n_x) / (m g): turning the trunk forward moves e
beyond the toes. What can be captured without a step and with one: Koolen et al., "Capturability-based analysis and
control of legged locomotion, part 1", IJRR 31 (2012).
"""

from __future__ import annotations

import math

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

KUDOH_STEP_TIME = 0.231  # measured on people, +-0.028 [s] (Kudoh, Tokyo 2004)
KUDOH_RATIO = 1.3  # alpha_c / theta_c from standing, also measured
KUDOH_STEEPEST = 0.6  # angle of the pendulum beyond which its small-angle solution says nothing [rad]
TORRES_ALPHA = 0.05  # d' = d - alpha V_d [s] (Torres Vidal, MSc thesis, UBC 2012)
TORRES_REACH = 0.6  # of the leg length
TURNED = 0.6  # angle by which the trunk is counted to turn [rad]: what waist and hips give before it has to stop
TURNING = 0.25  # share of the body's inertia that is counted: legs stay behind, and the DCM runs on meanwhile


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


def kudoh_step(offset: float, speed: float, length: float, ratio: float = KUDOH_RATIO) -> float:
    """Kudoh: the pendulum falls freely for 231 ms to theta_c; the foot lands at alpha_c = ``ratio`` theta_c.

    ``offset`` is the CoM before the stance ankle, ``length`` the pendulum; the foot distance is
    a = l sin(alpha_c) / cos(theta_c - alpha_c) [m].
    """
    w, time = math.sqrt(GRAVITY / length), KUDOH_STEP_TIME
    theta = (offset * math.cosh(w * time) + speed / w * math.sinh(w * time)) / length
    theta = max(-KUDOH_STEEPEST, min(KUDOH_STEEPEST, theta))
    alpha = ratio * theta
    return length * math.sin(alpha) / math.cos(theta - alpha)


def flywheel_capacity(robot: Robot) -> float:
    """How far outside the feet turning the trunk can still hold the DCM [m].

    A rotation by theta of inertia I shifts the caught DCM by omega² I theta / (m g): the reaction-mass (flywheel)
    pendulum of Pratt et al., "Capture point: a step toward humanoid push recovery", Humanoids 2006, and Stephens,
    "Humanoid push recovery", Humanoids 2007.
    """
    return TURNING * robot.omega**2 * robot.inertia * TURNED / robot.weight
