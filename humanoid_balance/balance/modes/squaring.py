"""Squaring up: after steps the feet go back beside each other, one quiet step at a time."""

from __future__ import annotations

import math

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import at_rest
from humanoid_balance.balance.reference import STAND, SWING
from humanoid_balance.balance.situation import Situation, Stance
from humanoid_balance.balance.step_cycle import LOAD, StepCycle
from humanoid_balance.balance.step_cycle import SWING as SWINGING
from humanoid_balance.geometry import Point
from humanoid_balance.types import Reference

TOLERANCE = 0.03  # feet this close to the nominal stance count as squared [CoM heights]: a quarter of a sole's width
ARRIVED = 0.004  # the DCM is this far inside the stance foot when the other one leaves [CoM heights]
UNLOAD_TIME = 0.05  # nothing hurries: longer than a step's, so that the load does not jump [s]
SWING_TIME = 0.45  # slow enough to leave the trunk quiet, fast enough for the DCM to stay over one foot [s]
SETTLE = 0.1  # after the landing, until both feet carry [s]
PATIENCE = 2.0  # a shift that takes longer is given up: some stride the CoM cannot get over [s]


def offset_from_square(now: Situation, width: float) -> Point:
    """How far the left foot is from its place beside the right one, in the heading of the feet [m]."""
    (ax, ay), (bx, by) = now.centre
    cos, sin = math.cos(now.yaw), math.sin(now.yaw)
    dx, dy = ax - bx, ay - by
    return cos * dx + sin * dy, -sin * dx + cos * dy - width


def feet_apart(now: Situation, memory: Memory) -> bool:
    """At rest, and the feet are not beside each other."""
    offset = math.hypot(*offset_from_square(now, memory.robot.stance_width))
    return offset >= TOLERANCE * now.height and at_rest(now, memory)


def pushed_meanwhile(now: Situation, memory: Memory) -> bool:
    """The DCM leaves the feet while both still stand."""
    mode = memory.mode
    return isinstance(mode, Squaring) and mode.shifting and memory.margin(now) < 0.0


class Squaring(BalanceMode):
    """Shift the weight over one foot, set the other beside it. Legs keep apart: the foot moves on its own side."""

    name = "squaring up"

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.cycle = StepCycle(memory.robot)
        self.foot = Stance(memory.robot, memory.stance.margin)
        self.shifting = False

    def enter(self, now: Situation) -> None:
        """The foot that carries less moves."""
        super().enter(now)
        force = now.state.wrench[:, 2]
        self.side = 0 if force[0] < force[1] else 1
        self.began = now.state.stamp
        self.shifting = True

    def _place(self, now: Situation) -> Point:
        sx, sy = now.centre[1 - self.side]
        sign = 1.0 if self.side == 0 else -1.0
        width = self.memory.robot.stance_width
        return sx - math.sin(now.yaw) * sign * width, sy + math.cos(now.yaw) * sign * width

    def update(self, now: Situation) -> Reference:
        cycle, maker = self.cycle, self.memory.maker
        if self.shifting:
            return self._shift(now)
        if cycle.unloaded(now):
            cycle.lift(now, SWING_TIME)
        contact, load, feet = cycle.update(now)
        if cycle.phase == SWINGING:
            cycle.retarget(now, self._place(now), now.yaw, cycle.under_way[1])
        height = maker.height(now)
        if cycle.phase == LOAD:
            if now.state.stamp - cycle.began > SETTLE:
                self.done = "the foot is back"
            wish = maker.laws.hold(now, self.memory.stance.update(now.state, BOTH), now.middle)
            return maker.make(self.name, now, wish, height=height, contact=contact, load_max=load)
        polygon = self.foot.update(now.state, (self.side == 1, self.side == 0))
        wish = maker.laws.hold(now, polygon, polygon.centre)
        stack = SWING if cycle.phase == SWINGING else STAND
        return maker.make(
            self.name, now, wish, height=height, stack=stack, contact=contact, load_max=load, feet=feet,
            footholds=cycle.footholds,
        )  # fmt: skip

    def _shift(self, now: Situation) -> Reference:
        """Send the DCM over the stance foot; the other one leaves when it arrives.

        Over a long stride the CoM could not stand above one foot while the other stays: it is still on its way.
        """
        state, maker = now.state, self.memory.maker
        only = self.foot.update(state, (self.side == 1, self.side == 0))
        wish = maker.laws.shove(now, self.memory.stance.update(state, BOTH), now.centre[1 - self.side])
        if only.margin(*now.caught) > ARRIVED * now.height:
            self.shifting = False
            self.cycle.begin(now, self.side, UNLOAD_TIME)
        if state.stamp - self.began > PATIENCE:
            self.done = "no time for it"
        return maker.make(self.name, now, wish, height=maker.height(now))
