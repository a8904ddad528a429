"""Where and when to put a foot: the inverted pendulum looked ahead, within what legs can reach.

Coordinates of a candidate are relative to the stance sole's centre, x along the stance foot, y toward the side of the
swinging leg, so that one set of limits serves both legs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance import pendulum
from humanoid_balance.balance.reach import Reach
from humanoid_balance.balance.situation import Situation
from humanoid_balance.geometry import Point, Polygon
from humanoid_balance.robot.model import Robot

HASTE = 0.002  # largest change of the landing time per tick [s]: the foot follows without a jerk
IN_FLIGHT = 1.5  # a foot in flight may be this much faster than its mean speed: quintics peak at 1.9 times the mean
UNLOAD = 0.02  # time a loaded foot needs to leave the ground [s]: the QP ramps its load over it
HELD = 0.005  # a miss below this counts as none [m]: what the estimator knows of the DCM
AFTERWARDS = 0.3  # worth of the first step's miss when a second one has to follow: the second decides
HURRY = 0.15  # worth of time [m/s]: of two steps that hold, the sooner; small beside the DCM's own speed
TRAILING = 0.3  # worth of a distance that the foot falls short though nothing is missed: it will have to step again
TRIES = 7  # swing times that are tried before lift-off
FIXED = 0.08  # the landing time is no longer changed so long before it [s]
OUTWARD = 0.15  # a foot lands this much of its half width beyond the DCM: the body comes to rest inside, not on it
LENGTH, WIDTH = 0.8, 0.7  # shares of a landed sole's half length and half width that are counted on to hold the DCM
STEP_POLICIES = ("capture", "kudoh", "torres", "yin")


@dataclass(frozen=True, slots=True)
class Plan:
    """One step: which foot, where its centre lands, when, and how far from ideal that is."""

    side: int  # swinging foot
    place: Point  # world x y of the sole centre
    yaw: float  # of the sole
    time: float  # from now until it lands [s]
    miss: float  # how far the DCM will be from where the landed foot can hold it [m]
    short: float  # how far from the wanted place the time allows to fly [m]
    cost: float  # of the step and of what has to follow it [m]


class Planner:
    """Chooses and adapts steps. ``policy`` says how the place is predicted, and for ``yin`` how the leg is chosen."""

    def __init__(self, robot: Robot, policy: str = "capture") -> None:
        self.robot, self.policy = robot, policy
        self.reach = Reach.of(robot)
        low, high = robot.soles[0].min(axis=0), robot.soles[0].max(axis=0)
        self.half_length = float(high[0] - low[0]) / 2
        self.half_width = float(high[1] - low[1]) / 2
        step = (self.reach.longest - self.reach.shortest) / (TRIES - 1)
        self.times = [self.reach.shortest + step * k for k in range(TRIES)]
        self._seconds = [(time, self.reach.flight(time)) for time in self.times]

    def choose(self, now: Situation, soles: tuple[Polygon, Polygon]) -> Plan:
        """The better leg for a step that starts now, with both feet on the ground."""
        if self.policy == "yin":
            side = _unloaded(now)
            return self.plan(side, now, soles[1 - side], UNLOAD)
        return min((self.plan(side, now, soles[1 - side], UNLOAD) for side in range(2)), key=lambda plan: plan.cost)

    def plan(
        self,
        side: int,
        now: Situation,
        stance: Polygon,
        lead: float = 0.0,
        under_way: tuple[float, float] | None = None,
    ) -> Plan:
        """The best step with one foot. ``under_way``: time since lift-off and until landing; without it both are free.

        A swing under way changes its landing time by little each tick, and a foot keeps the speed it can have.
        """
        times, pace = self.times, 1.0
        if under_way is not None:
            since, left = under_way
            times, pace = [max(left, 0.005)], IN_FLIGHT
            for change in (-HASTE, HASTE):
                if left > FIXED and self.reach.shortest < since + left + change < self.reach.longest:
                    times.append(left + change)
        pressure = stance.project(*now.dcm)  # the centre of pressure does what it can
        sign = 1.0 if side == 0 else -1.0
        cos, sin = math.cos(now.yaw), math.sin(now.yaw)
        (sx, sy), (fx, fy) = now.centre[1 - side], now.centre[side]
        ox, oy = cos * (fx - sx) + sin * (fy - sy), sign * (-sin * (fx - sx) + cos * (fy - sy))
        best, found = math.inf, (0.0, 0.0, 0.0, 0.0, 0.0)
        for time in times:
            cost = HURRY * time
            if cost >= best:
                continue  # what comes on top is never negative
            wx, wy = self._predicted(now, pressure, (sx, sy), lead + time)
            dx, dy = wx - sx, wy - sy
            x, y = cos * dx + sin * dy, sign * (-sin * dx + cos * dy)
            ux, uy, miss, short = self._landing(x, y, ox, oy, pace * self.reach.flight(time))
            if miss < HELD:
                cost += miss + TRAILING * short
            else:  # a step that does not hold the DCM is as good as the one after it
                cost += AFTERWARDS * miss + self._second(now.omega, ux, uy, x, y)
            if cost < best:
                best, found = cost, (time, ux, uy, miss, short)
        time, ux, uy, miss, short = found
        place = (sx + cos * ux - sin * sign * uy, sy + sin * ux + cos * sign * uy)
        return Plan(side, place, now.yaw, time, miss, short, best)

    def _second(self, omega: float, ux: float, uy: float, x: float, y: float) -> float:
        """Cost of the other leg's best step when this one has landed at u with the DCM at x, y [m]."""
        dx, dy = x - ux, uy - y  # seen from the landed foot, y toward the other leg
        px = max(-self.half_length, min(self.half_length, dx))
        py = max(-self.half_width, min(self.half_width, dy))
        dx, dy = dx - px, dy - py
        best = math.inf
        for time, flight in self._seconds:
            cost = HURRY * time
            if cost >= best:
                break  # and all later ones cost more
            grown = math.exp(omega * (UNLOAD + time))
            cost += self._landing(px + dx * grown, py + dy * grown, -ux, uy, flight)[2]
            if cost < best:
                best = cost
        return best

    def _landing(self, x: float, y: float, ox: float, oy: float, flight: float) -> tuple[float, float, float, float]:
        """Place of the foot nearest to x, y that legs can reach from o, the DCM's miss there, and what is short."""
        clip = self.reach.clip
        ux, uy = clip(x, y + OUTWARD * self.half_width)
        distance = self.reach.distance(ux - ox, uy - oy)
        short = 0.0
        if distance > flight:  # a foot cannot fly further than its speed allows
            short = distance - flight
            ux, uy = clip(ox + (ux - ox) * flight / distance, oy + (uy - oy) * flight / distance)
        miss_x = max(0.0, abs(x - ux) - LENGTH * self.half_length)
        # Toward the stance foot the two soles hold together; away from it only the landed one does.
        miss_y = max(0.0, y - uy - WIDTH * self.half_width, -(y + self.half_width))
        return ux, uy, math.hypot(miss_x, miss_y), short

    def _predicted(self, now: Situation, pressure: Point, stance: Point, time: float) -> Point:
        """Where the foot should stand at landing, before limits."""
        (cx, cy), (vx, vy) = now.com, now.com_velocity
        if self.policy == "torres":
            height = now.height
            return cx + pendulum.torres_step(vx, height), cy + pendulum.torres_step(vy, height)
        if self.policy == "kudoh":
            height = now.height
            return (
                stance[0] + pendulum.kudoh_step(cx - stance[0], vx, height),
                stance[1] + pendulum.kudoh_step(cy - stance[1], vy, height),
            )
        (x, y), (ax, ay), w = now.caught, now.pushed, now.omega
        grown = math.exp(w * time)
        lasting = min(time, now.lasting)
        pushed = (grown - math.exp(w * (time - lasting))) / w**2
        return (
            pressure[0] + (x - pressure[0]) * grown + ax * pushed,
            pressure[1] + (y - pressure[1]) * grown + ay * pushed,
        )


def _unloaded(now: Situation) -> int:
    """Yin's leg: sign(v . e), e from the right foot to the left. Who moves to the left steps with the right leg."""
    (lx, ly), (rx, ry) = now.centre
    vx, vy = now.com_velocity
    return 1 if vx * (lx - rx) + vy * (ly - ry) > 0.0 else 0
