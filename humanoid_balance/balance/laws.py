"""CoM laws: what the ground should do to keep the feet where they are.

A law answers with the centre of pressure p and the turn d, both in metres on the ground. The ground force passes
through e = p + d on its way to the CoM: s'' = (g + s_z'') (s - e) / h, and the rest is a rate of angular momentum about
the CoM, n = m g (-d_y, d_x). Without a turn the body falls like a pendulum on its feet; with one, trunk and arms turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance.polygon import Point, Polygon
from humanoid_balance.balance.situation import Situation
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

CLOSER = 0.7  # share of the way from the DCM to the edge that the centre of pressure may go after a push
BOW = 0.4  # lean up to which the trunk turns while a foot swings
SHOVE = 4.0  # gain of a weight shift
KUDOH_STIFFNESS = -11.6  # k_CM of the human CoM law [1/s²]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a law asks of the ground."""

    pressure: Point  # centre of pressure p, world x y [m]
    turn: Point  # d [m]


class Laws:
    """DCM feedback, scaled to a robot.

    The caught DCM c = xi + omega L / (m g) obeys c' = omega (xi - p): it does not change with the rate of angular
    momentum, so it tells what is left when the rotation has been stopped. The centre of pressure answers to c alone.
    With p at the edge of the feet and x the way of c beyond it, x' = omega (x - spin): a spin of ``flywheel`` times x
    brings c back at the rate (flywheel - 1) omega and is gone when c is. Then the body comes upright again. x counts
    from a somewhat smaller polygon: on the very edge the DCM would stand still.
    """

    def __init__(self, robot: Robot) -> None:
        gains = robot.config.gains
        self.gain = gains.dcm
        self.flywheel = gains.flywheel
        self.reach = gains.turn_reach * robot.com_height
        self.follow = gains.spin
        # Half the body turns; its spin falls to nothing with the way that is left, in 1 / omega.
        self.bowing = 0.5 * robot.omega**2 * robot.inertia / robot.weight
        self.zone = 0.03 * robot.com_height  # [m]
        # A lean of 1 asks for (k omega)² times the inertia, seen on the ground.
        stiffness = (gains.upright * robot.omega) ** 2
        self.upright = robot.inertia * stiffness / robot.weight

    def hold(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Small disturbances: p = c + gain (c - goal) inside the feet; the only turn brings the trunk upright."""
        return Wish(self._pressure(now, polygon, goal), self._upright(now))

    def shove(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Send the DCM straight to a goal, as fast as the feet allow: p lies behind it, on the edge."""
        x, y = now.caught
        far = SHOVE * (x - goal[0]), SHOVE * (y - goal[1])
        return Wish(polygon.toward((x, y), (x + far[0], y + far[1])), self._upright(now))

    def catch(self, now: Situation, polygon: Polygon, goal: Point) -> Wish:
        """Large ones: turn the body as long as the feet alone are not enough."""
        pressure = self._pressure(now, polygon, goal)
        x, y = now.caught
        inner = polygon.inner
        margin = inner.margin(x, y)
        if margin >= 0.0:  # inside, the further the more the body may come upright
            return Wish(pressure, self._upright(now, min(1.0, margin / self.zone)))
        (ix, iy), (sx, sy) = inner.project(x, y), now.spin
        turn_x = self.follow * (self.flywheel * (x - ix) - sx)
        turn_y = self.follow * (self.flywheel * (y - iy) - sy)
        return Wish(pressure, self._limited(turn_x, turn_y))

    def slow(self, now: Situation, polygon: Polygon) -> Wish:
        """On the way to a new foothold: p as near to the DCM as the feet allow, and the body turns while it has way."""
        x, y = now.caught
        px, py = polygon.project(x, y)
        dx, dy = x - px, y - py
        size = math.hypot(dx, dy)
        if size < 1e-6:
            return Wish((px, py), self._upright(now))
        ux, uy = dx / size, dy / size
        left = BOW - (now.lean[0] * ux + now.lean[1] * uy)
        spin = max(0.0, min(self.flywheel * size, self.bowing * left))
        (sx, sy) = now.spin
        return Wish((px, py), self._limited(self.follow * (spin * ux - sx), self.follow * (spin * uy - sy)))

    def _pressure(self, now: Situation, polygon: Polygon, goal: Point) -> Point:
        """c + gain (c - goal); but when nobody pushes, away from an edge that c is not near: feet on edge tip over."""
        x, y = now.caught
        end = x + self.gain * (x - goal[0]), y + self.gain * (y - goal[1])
        return polygon.toward((x, y), end, 1.0 if now.state.push.active else CLOSER)

    def _upright(self, now: Situation, share: float = 1.0) -> Point:
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
