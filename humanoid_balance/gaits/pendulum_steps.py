"""Where a foot lands so that an inverted pendulum goes on as wanted, and how it swings there, as data of a gait.

B. Torres Vidal, MSc thesis, UBC 2012, after Coros, Beaudoin, van de Panne, "Generalized biped walking control",
SIGGRAPH 2010. The body is a pendulum on the stance ankle. Its capture point xi = x + v / omega runs away from the ankle
as exp(omega t); a walk that repeats itself finds it at the offset b from each new foot:

    landing = xi exp(omega t_left) - b        b_x = V_x T / (G - 1)        b_y = V_y T / (G - 1) -+ w / (G + 1)

with G = exp(omega T), the commanded velocity V and the distance w of the feet; about the centre of pressure, where that
is not the ankle. The thesis takes d - 0.05 V from the
present capture point, d = v sqrt(h / g). That is a third of b at steps of 0.4 s: it walks a third as fast as commanded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Point = tuple[float, float]
# What a knot of the swing has, and from where to where.
KNOT = {"phase": (0.0, 3.0), "share of the way": (-1.0, 2.0), "height [m]": (-0.5, 1.0), "toes up [rad]": (-1.5, 1.5)}


@dataclass(frozen=True)
class PendulumSteps:
    """``pendulum`` of a table."""

    time: float  # of a step [s]
    width: float  # distance of the ankles, sideways [m]
    swing: tuple[tuple[float, float, float, float], ...]  # knots: phase, share of the way, height [m], toes up [rad]
    velocity: tuple[float, float] = (100.0, 0.0)  # force through the stance leg per error of the velocity [N s/m]
    height: float = 0.93  # of the hips above the standing ankle, in leg lengths
    reach: float = 0.6  # furthest landing from the body, in leg lengths
    apart: float = 0.1  # smallest distance of the ankles, sideways [m]: legs that cross hit each other
    knee: tuple[float, float] = (0.0, 10.0)  # gains of the standing knee beside what bears the weight
    ankle: tuple[float, float] = (0.0, 3.0)  # of the standing ankle, about both axes [N m/rad, N m s/rad]

    def landing(self, omega: float, capture: Point, pressure: Point, left: float, wish: Point, side: float) -> Point:
        """Of the swinging ankle, seen from the standing one; axes of the heading, ``side`` +1 for a left foot.

        ``capture`` point and centre of ``pressure`` [m], ``left`` [s] until the landing, ``wish`` the velocity [m/s].
        """
        grown, g = math.exp(omega * left), math.exp(omega * self.time)
        (x, y), (px, py) = capture, pressure
        ahead = px + (x - px) * grown - wish[0] * self.time / (g - 1)
        aside = py + (y - py) * grown - wish[1] * self.time / (g - 1) + side * self.width / (g + 1)
        return ahead, aside
