"""CoM laws: what the ground should do to keep the feet where they are.

A law answers with the centre of pressure p (CoP, or ZMP) and the turn d, both in metres on the ground. The ground force
points from e = p + d to the CoM, s'' = (g + s_z'') (s - e) / h: e is the centroidal moment pivot (CMP, Popovic et al.,
IJRR 24, 2005), on the ground the same as the enhanced one (eCMP, Englsberger et al., T-RO 31, 2015). The turn is the
offset between CMP and CoP; it is a rate of angular momentum about the CoM, n = m g (-d_y, d_x). Without a turn the body
falls like a pendulum on its feet; with one, trunk and arms turn: a flywheel (Pratt et al., Humanoids 2006; Stephens,
Humanoids 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance.situation import Situation
from humanoid_balance.geometry import Point, Polygon
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

CLOSER = 0.7  # share of the distance from the DCM to the edge that the CoP may go after a push: feet on edge tip over
BOW = 0.4  # lean, sine of the angle, up to which the trunk turns while a foot swings: 24 deg, the hip needs the rest
SHOVE = 4.0  # CoP per distance of the DCM from the goal of a weight shift: beyond any foot, so p lies on the edge
ZONE = 0.03  # depth inside the feet over which the trunk comes upright again [CoM heights]: no chatter at the edge
BOWING = 0.5  # share of the body's inertia that turns in a bow: trunk, arms and head, not the legs
KUDOH_STIFFNESS = -11.6  # k_CM of the human CoM law [1/s²], measured on people (Kudoh, Tokyo 2004)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a law asks of the ground."""

    pressure: Point  # centre of pressure p, world x y [m]
    turn: Point  # d, from the CoP to the CMP [m]


class Laws:
    """DCM feedback, scaled to a robot.

    The DCM (Takenaka et al., IROS 2009) is the capture point (Pratt) and the extrapolated CoM, XcoM (Hof et al., J.
    Biomech. 38, 2005): xi = s + s' / omega with xi' = omega (xi - p - d). The caught DCM is the DCM of a body that
    stops rotating, c = xi + spin with spin = omega (L_y, -L_x) / (m g) and spin' = omega d, so

        c' = omega (c - spin - p)

    whatever the turn: it does not change with the rate of angular momentum, only with the CoP and the spin there is.
    The centre of pressure answers to c alone. With p at the edge of the feet and x the distance of c beyond it,
    x' = omega (x - spin): a spin of ``flywheel`` times x brings c back at the rate (flywheel - 1) omega and is gone
    when c is. Then the body comes upright again. x counts from a somewhat smaller polygon: on the very edge the DCM
    would stand still.
    """

    def __init__(self, robot: Robot) -> None:
        gains = robot.config.gains
        self.gain = gains.dcm
        self.flywheel = gains.flywheel
        self.reach = gains.turn_reach * robot.com_height
        self.follow = gains.spin
        # The spin of a bow falls to nothing with the angle that is left, in 1 / omega.
        self.bowing = BOWING * robot.omega**2 * robot.inertia / robot.weight
        self.zone = ZONE * robot.com_height  # [m]
        # A lean of 1 asks for (k omega)² times the inertia, seen on the ground.
        stiffness = (gains.upright * robot.omega) ** 2
        self.upright = robot.inertia * stiffness / robot.weight

    def hold(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Small disturbances: p = c + gain (c - goal) inside the feet; the only turn brings the trunk upright."""
        return Wish(self._pressure(now, polygon, goal), self.righting(now))

    def accompany(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Somebody else turns the body, and nobody is asked to: e = xi + gain (xi - goal) inside the feet.

        A turn that is asked for and not made would accelerate the CoM all the same. The CoP follows from e and from
        what the body really turns; the QP keeps it inside the soles.
        """
        return Wish(self._answer(now, polygon, goal, now.dcm), (0.0, 0.0))

    def shove(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Send the DCM straight to a goal, as fast as the feet allow: p lies behind it, on the edge."""
        x, y = now.caught
        far = SHOVE * (x - goal[0]), SHOVE * (y - goal[1])
        return Wish(polygon.toward((x, y), (x + far[0], y + far[1])), self.righting(now))

    def catch(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Large ones: turn the body as long as the feet alone are not enough."""
        pressure = self._pressure(now, polygon, goal)
        x, y = now.caught
        inner = polygon.inner
        margin = inner.margin(x, y)
        if margin >= 0.0:  # inside, the further the more the body may come upright
            return Wish(pressure, self.righting(now, min(1.0, margin / self.zone)))
        (ix, iy), (sx, sy) = inner.project(x, y), now.spin
        turn_x = self.follow * (self.flywheel * (x - ix) - sx)
        turn_y = self.follow * (self.flywheel * (y - iy) - sy)
        return Wish(pressure, self._limited(turn_x, turn_y))

    def slow(self, now: Situation, polygon: Polygon) -> Wish:
        """On the way to a new foothold: p as near to the DCM as the feet allow; the body turns until it is bent."""
        x, y = now.caught
        px, py = polygon.project(x, y)
        dx, dy = x - px, y - py
        size = math.hypot(dx, dy)
        if size < 1e-6:
            return Wish((px, py), self.righting(now))
        ux, uy = dx / size, dy / size
        left = BOW - (now.lean[0] * ux + now.lean[1] * uy)
        spin = max(0.0, min(self.flywheel * size, self.bowing * left))
        (sx, sy) = now.spin
        return Wish((px, py), self._limited(self.follow * (spin * ux - sx), self.follow * (spin * uy - sy)))

    def _pressure(self, now: Situation, polygon: Polygon, goal: Point) -> Point:
        return self._answer(now, polygon, goal, now.caught)

    def _answer(self, now: Situation, polygon: Polygon, goal: Point, c: Point) -> Point:
        """c + gain (c - goal); but when nobody pushes, away from an edge that c is not near: feet on edge tip over."""
        x, y = c
        end = x + self.gain * (x - goal[0]), y + self.gain * (y - goal[1])
        return polygon.toward((x, y), end, 1.0 if now.state.push.active else CLOSER)

    def righting(self, now: Situation, share: float = 1.0) -> Point:
        (sx, sy), (ux, uy), k = now.spin, now.lean, share * self.upright
        return self._limited(-self.follow * sx - k * ux, -self.follow * sy - k * uy)

    def _limited(self, x: float, y: float) -> Point:
        size = math.hypot(x, y)
        return (x, y) if size <= self.reach else (x * self.reach / size, y * self.reach / size)


def kudoh(now: Situation, goal: Point) -> Wish:
    """Kudoh's measured law s'' = k_CM (s - s_0), as a point e; the QP finds p and the turn."""
    k = KUDOH_STIFFNESS / now.omega**2
    (x, y), (gx, gy) = now.com, goal
    return Wish((x - k * (x - gx), y - k * (y - gy)), (0.0, 0.0))


def acceleration(now: Situation, wish: Wish, vertical: float) -> tuple[float, float, float]:
    """CoM acceleration [m/s²] that the ground force gives, with the wanted vertical acceleration.

    What a push adds is not the ground's to undo at once: it is part of the wish.
    """
    w2 = now.omega**2 * (1.0 + vertical / GRAVITY)
    (px, py), (dx, dy), (ax, ay) = wish.pressure, wish.turn, now.pushed
    return w2 * (now.com[0] - px - dx) + ax, w2 * (now.com[1] - py - dy) + ay, vertical


def momentum_rate(robot: Robot, wish: Wish) -> tuple[float, float, float]:
    """Rate of angular momentum about the CoM [N m] that belongs to a turn; about the vertical none is asked for."""
    dx, dy = wish.turn
    return -robot.weight * dy, robot.weight * dx, 0.0
