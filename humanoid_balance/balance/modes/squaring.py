"""Squaring up: after steps the feet go back beside each other, one quiet step at a time."""

from __future__ import annotations

import math

from humanoid_balance.balance.polygon import Point
from humanoid_balance.balance.reference import STAND, SWING, ReferenceMaker
from humanoid_balance.balance.situation import Situation, Stance
from humanoid_balance.balance.step_cycle import LOAD, StepCycle
from humanoid_balance.balance.step_cycle import SWING as SWINGING
from humanoid_balance.types import Reference

TOLERANCE = 0.03  # feet this close to the nominal stance count as squared, in CoM heights
ARRIVED = 0.004  # the DCM is this far inside the stance foot when the other one leaves, in CoM heights
UNLOAD_TIME = 0.05  # [s]
SWING_TIME = 0.45  # [s]
PATIENCE = 2.0  # a shift that takes longer is given up [s]


def offset_from_square(now: Situation, width: float) -> Point:
    """How far the left foot is from its place beside the right one, in the heading of the feet [m]."""
    (ax, ay), (bx, by) = now.centre
    cos, sin = math.cos(now.yaw), math.sin(now.yaw)
    dx, dy = ax - bx, ay - by
    return cos * dx + sin * dy, -sin * dx + cos * dy - width


def is_square(now: Situation, width: float) -> bool:
    return math.hypot(*offset_from_square(now, width)) < TOLERANCE * now.height


class Squaring:
    """Shift the weight over one foot, set the other beside it. Legs keep apart: the foot moves on its own side."""

    name = "squaring up"

    def __init__(self, maker: ReferenceMaker, stance: Stance) -> None:
        self.maker, self.stance = maker, stance
        self.cycle = StepCycle(maker.robot)
        self.foot = Stance(maker.robot, stance.margin)
        self.done = self.failed = False

    def enter(self, now: Situation) -> None:
        """The foot that carries less moves."""
        force = now.state.wrench[:, 2]
        self.side = 0 if force[0] < force[1] else 1
        self.began = now.state.stamp
        self.shifting = True
        self.done = self.failed = False

    def _place(self, now: Situation) -> Point:
        sx, sy = now.centre[1 - self.side]
        sign = 1.0 if self.side == 0 else -1.0
        width = self.maker.robot.stance_width
        return sx - math.sin(now.yaw) * sign * width, sy + math.cos(now.yaw) * sign * width

    def update(self, now: Situation) -> Reference:
        cycle, stamp = self.cycle, now.state.stamp
        only = (self.side == 1, self.side == 0)
        if self.shifting:
            return self._shift(now)
        if cycle.unloaded(now):
            cycle.lift(now, SWING_TIME)
        contact, load, feet = cycle.update(now)
        if cycle.phase == SWINGING:
            cycle.retarget(now, self._place(now), now.yaw, cycle.under_way[1])
        if cycle.phase == LOAD:
            self.done = stamp - cycle.began > 0.1
            wish = self.maker.laws.hold(now, self.stance.update(now.state, (True, True)), now.middle)
            return self.maker.make(self.name, now, wish, height=self.maker.height(now), contact=contact, load_max=load)
        polygon = self.foot.update(now.state, only)
        wish = self.maker.laws.hold(now, polygon, polygon.centre)
        stack = SWING if cycle.phase == SWINGING else STAND
        return self.maker.make(
            self.name,
            now,
            wish,
            height=self.maker.height(now),
            stack=stack,
            contact=contact,
            load_max=load,
            feet=feet,
        )

    def _shift(self, now: Situation) -> Reference:
        """Send the DCM over the stance foot; the other one leaves when it arrives.

        Over a long stride the CoM could not stand above one foot while the other stays: it is still on its way.
        """
        state = now.state
        only = self.foot.update(state, (self.side == 1, self.side == 0))
        wish = self.maker.laws.shove(now, self.stance.update(state, (True, True)), now.centre[1 - self.side])
        if only.margin(*now.caught) > ARRIVED * now.height:
            self.shifting = False
            self.cycle.begin(now, self.side, UNLOAD_TIME)
        self.failed = state.stamp - self.began > PATIENCE
        return self.maker.make(self.name, now, wish, height=self.maker.height(now))
