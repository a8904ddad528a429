"""CoM laws: which CoM acceleration keeps the feet where they are.

All laws answer with the point e the ground force should pass through on its way to the CoM; the acceleration follows
from the pendulum, s'' = (g + s_z'') (s - e) / h. While e lies in the support polygon no rotation is needed; beyond it,
the whole-body QP finds the trunk, arm and knee motion that makes up the difference.
"""

from __future__ import annotations

import math

from humanoid_balance.balance.polygon import Point, Polygon
from humanoid_balance.balance.situation import Situation

KUDOH_STIFFNESS = -11.6  # k_CM of the human CoM law [1/s²]
FLYWHEEL_GAIN = 6.0  # metres that e leaves the polygon for each metre the caught DCM is outside
BRAKE = 2.0  # rate at which rotation is stopped once the DCM is caught, in omega
BRAKE_ZONE = 0.02  # full braking when the caught DCM is this far inside, in CoM heights
FLYWHEEL_REACH = 0.25  # e leaves the polygon by at most this share of the CoM height


def regulate(now: Situation, polygon: Polygon, goal: Point, gain: float) -> Point:
    """DCM feedback with the centre of pressure kept inside: e = xi + gain (xi - goal), projected onto the polygon."""
    x, y = now.dcm
    return polygon.project(x + gain * (x - goal[0]), y + gain * (y - goal[1]))


def catch(now: Situation, polygon: Polygon, goal: Point, gain: float) -> Point:
    """DCM feedback that turns the body when the feet alone are not enough.

    The caught DCM c = xi + omega L / (m g) obeys c' = omega (xi - p): it does not change with the rate of angular
    momentum, so it tells what is left when the rotation has been stopped. While c is outside the polygon the body must
    go on turning; once it is inside the rotation is braked and the centre of pressure does the rest.
    """
    x, y = now.caught
    px, py = polygon.project(x + gain * (x - goal[0]), y + gain * (y - goal[1]))
    ix, iy = polygon.project(x, y)
    brake = BRAKE * min(1.0, max(0.0, polygon.margin(x, y) / (BRAKE_ZONE * now.height)))
    ex = FLYWHEEL_GAIN * (x - ix) - brake * now.spin[0]
    ey = FLYWHEEL_GAIN * (y - iy) - brake * now.spin[1]
    size, reach = math.hypot(ex, ey), FLYWHEEL_REACH * now.height
    if size > reach:
        ex, ey = ex * reach / size, ey * reach / size
    return px + ex, py + ey


def kudoh(now: Situation, goal: Point) -> Point:
    """Kudoh's measured law s'' = k_CM (s - s_0), written as the point e: depends on the CoM's position only."""
    k = KUDOH_STIFFNESS / now.omega**2
    (x, y), (gx, gy) = now.com, goal
    return x - k * (x - gx), y - k * (y - gy)


def acceleration(now: Situation, e: Point, vertical: float) -> tuple[float, float, float]:
    """CoM acceleration [m/s²] that the ground force through e gives, with the wanted vertical acceleration."""
    w2 = now.omega**2 * (1.0 + vertical / 9.81)
    return w2 * (now.com[0] - e[0]), w2 * (now.com[1] - e[1]), vertical
