"""Where and when to put a foot: the inverted pendulum looked ahead, within what legs can reach.

Coordinates of a candidate are relative to the stance sole's centre, x along the stance foot, y toward the side of the
swinging leg, so that one set of limits serves both legs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance import pendulum
from humanoid_balance.balance.polygon import Point, Polygon
from humanoid_balance.balance.reach import Reach
from humanoid_balance.balance.situation import Situation
from humanoid_balance.robot.model import Robot

HASTE = 0.002  # change of the landing time in a tick [s]
IN_FLIGHT = 1.5  # a foot in flight may be this much faster than its mean speed
UNLOAD = 0.02  # time a loaded foot needs to leave the ground [s]
HELD = 0.005  # a miss below this counts as none [m]
AFTERWARDS = 0.3  # worth of the first step's miss when a second one has to follow
HURRY = 0.15  # worth of time [m/s]
TRAILING = 0.3  # worth of a way that the foot does not make though nothing is missed: it will have to step again
STEP_POLICIES = ("capture", "kudoh", "torres")


@dataclass(frozen=True)
class Plan:
    """One step: which foot, where its centre lands, when, and how far from ideal that is."""

    side: int  # swinging foot
    place: Point  # world x y of the sole centre
    yaw: float  # of the sole
    time: float  # from now until it lands [s]
    miss: float  # how far the DCM will be from where the landed foot can hold it [m]
    short: float  # how far from the wanted place the time allows to fly [m]
    dcm: Point  # where it will be then


class Planner:
    """Chooses and adapts steps. ``policy`` says how the place is predicted; ``capture`` is the default."""

    def __init__(self, robot: Robot, policy: str = "capture") -> None:
        self.robot, self.policy = robot, policy
        self.reach = Reach.of(robot)
        low, high = robot.soles[0].min(axis=0), robot.soles[0].max(axis=0)
        self.half_length = float(high[0] - low[0]) / 2
        self.half_width = float(high[1] - low[1]) / 2
        count = 7
        step = (self.reach.longest - self.reach.shortest) / (count - 1)
        self.times = [self.reach.shortest + step * k for k in range(count)]

    def choose(self, now: Situation, soles: tuple[Polygon, Polygon]) -> Plan:
        """The better leg for a step that starts now, with both feet on the ground."""
        plans = (self.plan(side, now, soles[1 - side], UNLOAD) for side in range(2))
        return min(plans, key=lambda plan: self._cost(now, plan))

    def _cost(self, now: Situation, first: Plan) -> float:
        """Of a step [m]: one that does not hold the DCM is as good as the one after it."""
        if first.miss < HELD:
            return first.miss + TRAILING * first.short + HURRY * first.time
        second = self._second(now, first)
        return AFTERWARDS * first.miss + second.miss + HURRY * (first.time + second.time)

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
                if left > 0.08 and self.reach.shortest < since + left + change < self.reach.longest:
                    times.append(left + change)
        pressure = stance.project(*now.dcm)  # the centre of pressure does what it can
        plans = []
        for time in times:
            wanted = self._predicted(now, pressure, now.centre[1 - side], lead + time)
            plans.append(self._candidate(side, now.yaw, now.centre, wanted, time, pace))
        return min(plans, key=lambda plan: self._cost(now, plan))

    def _second(self, now: Situation, first: Plan) -> Plan:
        """The best step of the other leg when ``first`` has landed."""
        side, (x, y) = 1 - first.side, first.place
        centre = (now.centre[0], first.place) if side == 0 else (first.place, now.centre[1])
        cos, sin = math.cos(now.yaw), math.sin(now.yaw)
        dx, dy = first.dcm[0] - x, first.dcm[1] - y
        ahead = max(-self.half_length, min(self.half_length, cos * dx + sin * dy))
        left = max(-self.half_width, min(self.half_width, -sin * dx + cos * dy))
        px, py = x + cos * ahead - sin * left, y + sin * ahead + cos * left
        plans = []
        for time in self.times:
            grown = math.exp(now.omega * (UNLOAD + time))
            wanted = px + (first.dcm[0] - px) * grown, py + (first.dcm[1] - py) * grown
            plans.append(self._candidate(side, now.yaw, centre, wanted, time, 1.0))
        return min(plans, key=lambda plan: plan.miss + HURRY * plan.time)

    def _candidate(
        self, side: int, yaw: float, centre: tuple[Point, Point], wanted: Point, time: float, pace: float
    ) -> Plan:
        """The step nearest to the ``wanted`` place that legs can make in a time; ``centre`` of the soles now."""
        sign = 1.0 if side == 0 else -1.0
        sx, sy = centre[1 - side]
        cos, sin = math.cos(yaw), math.sin(yaw)
        dx, dy = wanted[0] - sx, wanted[1] - sy
        x, y = cos * dx + sin * dy, sign * (-sin * dx + cos * dy)
        ux, uy = self.reach.clip(x, y + 0.15 * self.half_width)
        fx, fy = centre[side]
        ox, oy = cos * (fx - sx) + sin * (fy - sy), sign * (-sin * (fx - sx) + cos * (fy - sy))
        way, limit = self.reach.way(ux - ox, uy - oy), pace * self.reach.flight(time)
        short = max(0.0, way - limit)
        if short > 0.0:  # a foot cannot fly further than its speed allows
            ux, uy = self.reach.clip(ox + (ux - ox) * limit / way, oy + (uy - oy) * limit / way)
        miss_x = max(0.0, abs(x - ux) - 0.8 * self.half_length)
        # Toward the stance foot the two soles hold together; away from it only the landed one does.
        miss_y = max(0.0, y - uy - 0.7 * self.half_width, -(y + self.half_width))
        place = (sx + cos * ux - sin * sign * uy, sy + sin * ux + cos * sign * uy)
        return Plan(side, place, yaw, time, math.hypot(miss_x, miss_y), short, wanted)

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
