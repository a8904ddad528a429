"""What a walk knows of the ground: where feet stood, how it tilts, how rough it is, and the way of the CoM over it.

The CoM goes over the feet along the line from the last foothold to the one that carries and on to the next one, a
constant height above it. On such a line, which passes through the foot that carries, the linear inverted pendulum is
exact: with z = h + k s and the force from p on the same line, s'' = g / h (s - p) whatever the slope k (Kajita et al.,
"The 3D linear inverted pendulum mode", IROS 2001). Along it the CoM climbs with k s' and is accelerated with k s''.

Without a map all of it is learnt from soles that carried: the next foot lands in the plane through the one that stands,
which tilts as the last two soles did; one that lands elsewhere makes the next ones fly higher.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.treads import Treads
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array

SURE = 0.04  # soles that are tilted by less against the ground that is known tell nothing new [rad]: a soft rim does
SETTLED = 0.08  # a sole shows its slope so long after the other foot has left [s]: it may have landed on an edge
QUICK = 0.03  # time constant with which a slope is taken over [s]
SHORT = 0.1  # feet that are less apart along the way have no slope between them [CoM heights]
FOLLOW = 0.1  # time constant with which the CoM's way follows a foot that found other ground than expected [s] ...
SINK = 0.1  # ... and its largest speed [sqrt(g h)]: a faster one takes the load off the stance foot
LOWEST = 0.2  # CoM height below which the pendulum is no guide [CoM heights]
LEVEL = 0.006  # ground that differs by less from what was expected is not rough [CoM heights]: soles roll on edges
FADE = 0.7  # share of the roughness that is left after a step on ground as expected

Spot = tuple[float, float, float]  # the middle of a sole, world [m]


class Ground:
    """Of one walk. ``normal``, a unit vector (3,), belongs to all modes and is turned in place."""

    def __init__(self, robot: Robot, normal: Array) -> None:
        self.robot, self.normal = robot, normal
        self._sink = SINK * math.sqrt(GRAVITY * robot.com_height)  # [m/s]
        self.rough = 0.0  # how far feet land from where they should, up or down [m]
        self.treads: Treads | None = None  # what is known of it beforehand

    def begin(self, now: Situation) -> None:
        """From standing: what the soles show is known."""
        self.height = now.state.ground_height  # of the way of the CoM [m]
        self.step_up = 0.0  # of the next foothold over the foot that carries, along the way [m]
        self.rough = 0.0
        self._stamp = now.state.stamp
        self._expected: float | None = None  # where the foot that carries should have landed [m]
        self._left = math.inf  # when the other foot left [s]
        self._stood = [self.spot(now, 0), self.spot(now, 1)]  # where soles stood
        self._shown = [self.normal.copy(), self.normal.copy()]  # by each sole while it carried alone

    # ---- feet ----

    def spot(self, now: Situation, side: int) -> Spot:
        """Where the middle of a sole is."""
        state, (x, y) = now.state, now.centre[side]
        a, b, c = state.sole_rotation[side, 2].tolist()
        u, v, w = self.robot.sole_centres[side].tolist()
        return x, y, float(state.sole_position[side, 2]) + a * u + b * v + c * w

    def below(self, now: Situation, stance: int, x: float, y: float) -> float:
        """Height of the ground at a place [m]: of the map, or in the plane through the sole that stands."""
        sx, sy, sz = self.spot(now, stance)
        if self.treads is not None:
            here, there = self.treads.heights(np.array([(sx, sy), (x, y)])).tolist()
            if math.isfinite(there - here):  # against the foot that stands on it: the estimate may have drifted
                return sz + there - here
        nx, ny, nz = self.normal.tolist()
        return sz - (nx * (x - sx) + ny * (y - sy)) / max(nz, 0.5)

    def between(self, now: Situation, side: int, x: float, y: float, yaw: float) -> float:
        """How much higher than over a floor a foot has to fly to a place [m]."""
        if self.treads is None:
            return self.rough
        start, end = now.centre[side], (x, y)
        first, last = self.treads.heights(np.array([start, end])).tolist()
        if math.isnan(first) or math.isnan(last):
            return self.rough
        return max(self.rough, self.treads.highest_between(start, end, yaw) - max(first, last))

    def lifted(self, now: Situation, swinging: int) -> None:
        """A foot leaves; the other one has settled: is it where it was expected?"""
        self._left = now.state.stamp
        if self._expected is not None:
            off = abs(self.spot(now, 1 - swinging)[2] - self._expected)
            self.rough = max(FADE * self.rough, off if off > LEVEL * self.robot.com_height else 0.0)

    def landed(self, expected: float) -> None:
        """A foot that should have found ground at a height has found it."""
        self._expected, self._left = expected, math.inf

    def learn(self, now: Situation, stance: int, dt: float) -> None:
        """Turn the normal toward that of the last two soles that carried, if they show another slope."""
        state = now.state
        if state.stamp - self._left < SETTLED or not state.contact[stance] or state.contact[1 - stance]:
            return
        self._shown[stance] = state.ground_normal
        seen = self._shown[0] + self._shown[1]
        seen /= math.sqrt(float(seen.dot(seen)))
        if float(seen.dot(self.normal)) > math.cos(SURE):
            return
        self.normal += min(1.0, dt / QUICK) * (seen - self.normal)
        self.normal /= math.sqrt(float(self.normal.dot(self.normal)))

    # ---- the way of the CoM ----

    def seen(self, now: Situation, stance: int, swinging: bool, ahead: Spot | None) -> Situation:
        """The situation over the way of the CoM. ``ahead``: where the next foot will stand."""
        state = now.state
        dt, self._stamp = state.stamp - self._stamp, state.stamp
        if swinging:
            self.learn(now, stance, dt)
        here = self._stood[stance] = self.spot(now, stance)
        rear = self._stood[1 - stance]  # while it was flat: its heel may have come up since
        wanted, grade = self._line(now, stance, here, rear, ahead)
        along = grade[0] * now.com_velocity[0] + grade[1] * now.com_velocity[1]
        most = self._sink
        climb = along + max(-most, min(most, (wanted - self.height) / FOLLOW))
        self.height += climb * dt
        height = float(state.com[2]) - self.height
        omega = math.sqrt(GRAVITY / max(height, LOWEST * self.robot.com_height))
        (x, y), (vx, vy), scale = now.com, now.com_velocity, omega / now.omega
        return replace(
            now, omega=omega, height=height, dcm=(x + vx / omega, y + vy / omega),
            spin=(scale * now.spin[0], scale * now.spin[1]), grade=grade, climb=climb,
        )  # fmt: skip

    def _line(
        self, now: Situation, stance: int, here: Spot, rear: Spot, ahead: Spot | None
    ) -> tuple[float, tuple[float, float]]:
        """Height below the CoM on the way over the feet, and its gradient there."""
        cx, cy = now.state.sole_rotation[stance][:2, 0].tolist()
        size = math.hypot(cx, cy)
        cos, sin = cx / size, cy / size
        nx, ny, nz = self.normal.tolist()
        across = (nx * sin - ny * cos) / max(nz, 0.5)  # slope to the left, as the soles show it

        def local(x: float, y: float) -> tuple[float, float]:
            dx, dy = x - here[0], y - here[1]
            return cos * dx + sin * dy, cos * dy - sin * dx

        a, b = local(*now.com)
        slope = end = 0.0
        self.step_up = 0.0
        for spot in (ahead, rear):
            if spot is None:
                continue
            length, aside = local(spot[0], spot[1])
            if abs(length) < SHORT * self.robot.com_height:
                continue
            up = spot[2] - here[2] - across * aside
            if spot is ahead:
                self.step_up = up
            if length * a > 0.0 and not end:
                slope, end = up / length, length
        far = max(-abs(end), min(abs(end), a))
        return here[2] + slope * far + across * b, (slope * cos - across * sin, slope * sin + across * cos)
