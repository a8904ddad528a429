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

BETWEEN = 0.02  # shortest time on both feet between two steps [s]
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
        self.landed = -math.inf

    def enter(self, now: Situation) -> None:
        self.done = False
        self._start_step(now)

    def _polygons(self, now: Situation) -> tuple[Polygon, Polygon]:
        left = self.soles[0].update(now.state, (True, False))
        right = self.soles[1].update(now.state, (False, True))
        return left, right

    def _start_step(self, now: Situation) -> None:
        plan = self.planner.choose(now, self._polygons(now))
        self.missing = plan.miss
        self.cycle.begin(now, plan.side, UNLOAD)

    def update(self, now: Situation) -> Reference:
        cycle = self.cycle
        soles = self._polygons(now)
        if cycle.unloaded(now):
            plan = self.planner.plan(cycle.side, now, soles[1 - cycle.side])
            cycle.lift(now, plan.time)
        contact, load, feet = cycle.update(now)
        if cycle.phase == SWINGING:
            plan = self.planner.plan(cycle.side, now, soles[1 - cycle.side], under_way=cycle.under_way)
            self.missing = plan.miss
            cycle.retarget(now, plan.place, plan.yaw, plan.time)
            self.landed = math.inf
        elif cycle.phase == LOAD:
            self._after_landing(now)
        height = self.maker.height(now)
        if cycle.phase == LOAD:
            wish = self.maker.laws.hold(now, self.stance.update(now.state, (True, True)), goal(self.maker, now))
            return self.maker.make(self.name, now, wish, stack=STAND, height=height, contact=contact, load_max=load)
        polygon = soles[1 - cycle.side]
        laws = self.maker.laws  # the body turns only where the step alone is not enough
        wish = laws.slow(now, polygon) if self.missing > HELD else laws.hold(now, polygon, now.caught)
        stack = SWING if cycle.phase == SWINGING else STAND
        return self.maker.make(
            self.name, now, wish, stack=stack, height=height, contact=contact, load_max=load, feet=feet
        )

    def _after_landing(self, now: Situation) -> None:
        """On both feet again: another step if the DCM runs out of them, done if it stays."""
        stamp = now.state.stamp
        if self.landed == math.inf:
            self.landed = self.held = stamp
        margin = self.stance.update(now.state, (True, True)).margin(*now.caught)
        if margin < 0.0:
            self.held = stamp
            if stamp - self.landed > BETWEEN and margin < -0.01 * now.height:
                self._start_step(now)
        self.done = stamp - self.held > CALM
