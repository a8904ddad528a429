"""K4: change the support. Steps follow each other until the DCM is held between the feet."""

from __future__ import annotations

import math

from humanoid_balance.balance.modes.standing import goal
from humanoid_balance.balance.polygon import Polygon
from humanoid_balance.balance.reference import STAND, SWING, ReferenceMaker
from humanoid_balance.balance.situation import Situation, Stance
from humanoid_balance.balance.step_cycle import LOAD, StepCycle
from humanoid_balance.balance.step_cycle import SWING as SWINGING
from humanoid_balance.balance.steps import HELD, UNLOAD, Planner
from humanoid_balance.types import Reference

BEHIND = 0.45  # way from a foot, in CoM heights, at which the CoM does not stand without straightening that leg
CALM = 0.10  # the DCM is held this long before the mode is done [s]


class Stepping:
    """Every tick: predict the DCM at landing, adapt place and time of the step, keep the CoP where it helps most."""

    name = "stepping"

    def __init__(self, maker: ReferenceMaker, stance: Stance, planner: Planner) -> None:
        self.maker, self.stance, self.planner = maker, stance, planner
        self.cycle = StepCycle(maker.robot)
        self.soles = (Stance(maker.robot, stance.margin), Stance(maker.robot, stance.margin))
        self.done = False
        self.missing = 0.0  # what the planned step leaves to be desired [m]
        self.held = -math.inf
        self.swung = False  # a foot was in the air in the last tick

    def enter(self, now: Situation) -> None:
        self.done = False
        self._start_step(now)

    def _sole(self, now: Situation, side: int) -> Polygon:
        """Where the centre of pressure of one foot may be."""
        return self.soles[side].update(now.state, (side == 0, side == 1))

    def _start_step(self, now: Situation, side: int | None = None) -> None:
        """With the better leg, or with a given one."""
        if side is None:
            plan = self.planner.choose(now, (self._sole(now, 0), self._sole(now, 1)))
        else:
            plan = self.planner.plan(side, now, self._sole(now, 1 - side), UNLOAD)
        self.missing = plan.miss
        self.cycle.begin(now, plan.side, UNLOAD)

    def update(self, now: Situation) -> Reference:
        cycle = self.cycle
        if cycle.unloaded(now):
            plan = self.planner.plan(cycle.side, now, self._sole(now, 1 - cycle.side))
            cycle.lift(now, plan.time)
        contact, load, feet = cycle.update(now)
        if cycle.phase == SWINGING:
            stance = self._sole(now, 1 - cycle.side)
            plan = self.planner.plan(cycle.side, now, stance, under_way=cycle.under_way)
            self.missing = plan.miss
            cycle.retarget(now, plan.place, plan.yaw, plan.time)
            self.swung = True
        elif cycle.phase == LOAD:
            self._after_landing(now)
        height = self.maker.height(now)
        if cycle.phase == LOAD:
            wish = self.maker.laws.hold(now, self.stance.update(now.state, (True, True)), goal(self.maker, now))
            return self.maker.make(self.name, now, wish, stack=STAND, height=height, contact=contact, load_max=load)
        polygon = self._sole(now, 1 - cycle.side)
        laws = self.maker.laws  # the body turns only where the step alone is not enough
        wish = laws.slow(now, polygon) if self.missing > HELD else laws.hold(now, polygon, now.caught)
        stack = SWING if cycle.phase == SWINGING else STAND
        return self.maker.make(
            self.name, now, wish, stack=stack, height=height, contact=contact, load_max=load, feet=feet
        )

    def _after_landing(self, now: Situation) -> None:
        """On both feet again: another step if the DCM runs out of them, done if it stays."""
        stamp = now.state.stamp
        if self.swung:
            self.swung, self.held = False, stamp
        margin = self.stance.update(now.state, (True, True)).margin(*now.caught)
        if margin < 0.0:
            self.held = stamp
            if margin < -0.01 * now.height:
                self._start_step(now)
        elif self._leaves_a_leg_behind(now):
            self._start_step(now, 1 - self.cycle.side)
        self.done = stamp - self.held > CALM

    def _leaves_a_leg_behind(self, now: Situation) -> bool:
        """The body comes to stand further from the trailing foot than its leg is long; a step of it loses nothing."""
        landed = self.cycle.side
        (x, y), (ox, oy) = now.caught, now.centre[1 - landed]
        if math.hypot(x - ox, y - oy) <= BEHIND * now.height:
            return False
        return self.planner.plan(1 - landed, now, self._sole(now, landed), UNLOAD).miss < HELD
