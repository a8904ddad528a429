"""Where and when to put a foot: the inverted pendulum looked ahead, within what legs can reach.

Coordinates of a candidate are relative to the stance sole's centre, x along the stance foot, y toward the side of the
swinging leg, so that one set of limits serves both legs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance import pendulum
from humanoid_balance.balance.polygon import Point, Polygon
from humanoid_balance.balance.situation import Situation
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

HASTE = 0.002  # change of the landing time in a tick [s]
IN_FLIGHT = 1.5  # a foot in flight may be this much faster than its mean speed
STEP_POLICIES = ("capture", "kudoh", "torres")


@dataclass(frozen=True)
class Reach:
    """Where a sole can be set down beside the other [m], and how fast a foot flies."""

    forward: float
    backward: float
    near: float  # smallest distance between the sole centres, sideways: the legs do not touch
    far: float
    past: float  # further than this forward or backward a foot may cross before or behind the other
    crossed: float  # how far it may cross then
    speed: float  # mean speed of the foot [m/s]
    shortest: float  # time of a swing [s]
    longest: float

    @staticmethod
    def of(robot: Robot) -> Reach:
        """From the size of the body: legs about as long as the CoM is high, feet as wide as they are."""
        h = robot.com_height
        width = float(robot.soles[0][:, 1].max() - robot.soles[0][:, 1].min())
        length = float(robot.soles[0][:, 0].max() - robot.soles[0][:, 0].min())
        t = math.sqrt(h / GRAVITY)
        return Reach(
            forward=0.75 * h, backward=0.60 * h, near=1.35 * width, far=0.75 * h, past=1.15 * length, crossed=0.12 * h,
            speed=0.75 * math.sqrt(GRAVITY * h), shortest=0.8 * t, longest=1.4 * t,
        )  # fmt: skip

    def clip(self, x: float, y: float) -> Point:
        """The nearest place that can be reached without the legs touching."""
        x = max(-self.backward, min(self.forward, x))
        near = -self.crossed if abs(x) > self.past else self.near
        return x, max(near, min(self.far, y))


@dataclass(frozen=True)
class Plan:
    """One step: which foot, where its centre lands, when, and how far from ideal that is."""

    side: int  # swinging foot
    place: Point  # world x y of the sole centre
    yaw: float  # of the sole
    time: float  # from now until it lands [s]
    miss: float  # how far the DCM will be from where the landed foot can hold it [m]


class Planner:
    """Chooses and adapts steps. ``policy`` says how the place is predicted; ``capture`` is the default."""

    def __init__(self, robot: Robot, policy: str = "capture") -> None:
        self.robot, self.policy = robot, policy
        self.reach = Reach.of(robot)
        low, high = robot.soles[0].min(axis=0), robot.soles[0].max(axis=0)
        self.half_length = float(high[0] - low[0]) / 2
        self.half_width = float(high[1] - low[1]) / 2

    def choose(self, now: Situation, soles: tuple[Polygon, Polygon], unload: float) -> Plan:
        """The better leg for a step that starts now; ``unload`` is the time the foot needs to leave the ground [s]."""
        plans = [self.plan(side, now, soles[1 - side], lead=unload) for side in range(2)]
        return min(plans, key=lambda p: p.miss + 0.15 * p.time)

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
        reach = self.reach
        if under_way is None:
            count = 7
            times = [reach.shortest + (reach.longest - reach.shortest) * k / (count - 1) for k in range(count)]
        else:
            since, left = under_way
            times = [max(left, 0.005)]
            for change in (-HASTE, HASTE):
                if left > 0.08 and reach.shortest < since + left + change < reach.longest:
                    times.append(left + change)
        best: Plan | None = None
        for time in times:
            candidate = self._candidate(side, now, stance, lead, time, 1.0 if under_way is None else IN_FLIGHT)
            if best is None or candidate.miss + 0.1 * candidate.time < best.miss + 0.1 * best.time - 1e-4:
                best = candidate
        assert best is not None
        return best

    def _candidate(self, side: int, now: Situation, stance: Polygon, lead: float, time: float, pace: float) -> Plan:
        sign = 1.0 if side == 0 else -1.0
        sx, sy = now.centre[1 - side]
        cos, sin = math.cos(now.yaw), math.sin(now.yaw)
        px, py = stance.project(*now.dcm)  # the centre of pressure does what it can
        wx, wy = self._predicted(now, (px, py), (sx, sy), lead + time)
        dx, dy = wx - sx, wy - sy
        x, y = cos * dx + sin * dy, sign * (-sin * dx + cos * dy)
        ux, uy = self.reach.clip(x, y + 0.15 * self.half_width)
        fx, fy = now.centre[side]
        ox, oy = cos * (fx - sx) + sin * (fy - sy), sign * (-sin * (fx - sx) + cos * (fy - sy))
        way, limit = math.hypot(ux - ox, uy - oy), pace * self.reach.speed * time
        if way > limit:  # a foot cannot fly further than its speed allows
            ux, uy = self.reach.clip(ox + (ux - ox) * limit / way, oy + (uy - oy) * limit / way)
        miss_x = max(0.0, abs(x - ux) - 0.8 * self.half_length)
        # Toward the stance foot the two soles hold together; away from it only the landed one does.
        miss_y = max(0.0, y - uy - 0.7 * self.half_width, -(y + self.half_width))
        place = (sx + cos * ux - sin * sign * uy, sy + sin * ux + cos * sign * uy)
        return Plan(side, place, now.yaw, time, math.hypot(miss_x, miss_y))

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
        x, y = now.caught
        return (
            pendulum.predict_dcm(x, pressure[0], now.omega, time),
            pendulum.predict_dcm(y, pressure[1], now.omega, time),
        )
