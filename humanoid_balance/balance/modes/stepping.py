"""K4: change the support. Steps follow each other until the DCM is held between the feet."""

from __future__ import annotations

import math

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import goal
from humanoid_balance.balance.reference import STAND, SWING
from humanoid_balance.balance.situation import Situation, Stance
from humanoid_balance.balance.step_cycle import LOAD, StepCycle
from humanoid_balance.balance.step_cycle import SWING as SWINGING
from humanoid_balance.balance.steps import HELD, UNLOAD
from humanoid_balance.geometry import Polygon
from humanoid_balance.types import Reference

BEHIND = 0.45  # from a foot this far away the CoM does not stand without straightening that leg [CoM heights]
CALM = 0.10  # the DCM is held this long before the mode is done [s]; a bounce of the landing is shorter
AGAIN = 0.01  # the DCM is this far outside the feet after a landing when the next step begins [CoM heights]
STUCK = 0.010  # the QP cannot meet its first level for this long before a step is taken [s]: single ticks are noise
FIRST_TRY = 0.004  # feet in place gets at least this long before a step is taken [s]: the push is just being estimated
BENT = 0.5  # lean, sine of the angle, beyond which turning the trunk has little left to give: 30 deg


def needed(now: Situation, memory: Memory) -> str:
    """Why the feet cannot stay; empty while they can, or may not move."""
    settings, outside = memory.settings, -memory.margin(now)
    if settings.strategy == "step" and outside > -memory.stable_margin(now):
        return f"DCM margin {-outside:.3f} m, steps asked for"
    if settings.strategy != "auto":
        return ""
    stuck = now.state.stamp - memory.able
    if outside > 0.0 and stuck > STUCK and memory.age(now) > STUCK:
        return f"DCM {outside:.3f} m outside, infeasible for {1e3 * stuck:.0f} ms"
    if settings.policy == "kudoh":  # in the thesis, infeasibility alone
        return ""
    soon, most = outside_soon(now, memory), memory.flywheel
    if soon > most:
        return f"DCM {soon:.3f} m outside soon, turning the body holds {most:.3f} m"
    if outside > 0.0 and math.hypot(*now.lean) > BENT:
        return f"DCM {outside:.3f} m outside, body bent already"
    return ""


def due(now: Situation, memory: Memory) -> str:
    """The same, once feet in place has been tried."""
    return needed(now, memory) if memory.age(now) > FIRST_TRY else ""


def outside_soon(now: Situation, memory: Memory) -> float:
    """How far the caught DCM will be outside the feet [m] if a push that lasts goes on: a leg needs time to leave.

    A foot that carries nothing already is no loss, and the other one can only follow it: no time to wait.
    """
    (cx, cy), (ax, ay) = now.caught, now.pushed
    lead = now.lasting / now.omega
    return -memory.stance.update(now.state, BOTH).margin(cx + lead * ax, cy + lead * ay)


class Stepping(BalanceMode):
    """Every tick: predict the DCM at landing, adapt place and time of the step, keep the CoP where it helps most."""

    name = "stepping"

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.cycle = StepCycle(memory.robot)
        margin = memory.stance.margin
        self.soles = (Stance(memory.robot, margin), Stance(memory.robot, margin))
        self.missing = 0.0  # what the planned step leaves to be desired [m]
        self.held = -math.inf
        self.swung = False  # a foot was in the air in the last tick

    def enter(self, now: Situation) -> None:
        super().enter(now)
        self._start_step(now)

    def _sole(self, now: Situation, side: int) -> Polygon:
        """Where the centre of pressure of one foot may be."""
        return self.soles[side].update(now.state, (side == 0, side == 1))

    def _start_step(self, now: Situation, side: int | None = None) -> None:
        """With the better leg, or with a given one."""
        if side is None:
            plan = self.memory.planner.choose(now, (self._sole(now, 0), self._sole(now, 1)))
        else:
            plan = self.memory.planner.plan(side, now, self._sole(now, 1 - side), UNLOAD)
        self.missing = plan.miss
        self.cycle.begin(now, plan.side, UNLOAD)

    def update(self, now: Situation) -> Reference:
        cycle = self.cycle
        if cycle.unloaded(now):
            plan = self.memory.planner.plan(cycle.side, now, self._sole(now, 1 - cycle.side))
            cycle.lift(now, plan.time)
        contact, load, feet = cycle.update(now)
        if cycle.phase == SWINGING:
            stance = self._sole(now, 1 - cycle.side)
            plan = self.memory.planner.plan(cycle.side, now, stance, under_way=cycle.under_way)
            self.missing = plan.miss
            cycle.retarget(now, plan.place, plan.yaw, plan.time)
            self.swung = True
        elif cycle.phase == LOAD:
            self._after_landing(now)
        maker = self.memory.maker
        height, laws = maker.height(now), maker.laws
        if cycle.phase == LOAD:
            wish = laws.hold(now, self.memory.stance.update(now.state, BOTH), goal(self.memory, now))
            return maker.make(self.name, now, wish, stack=STAND, height=height, contact=contact, load_max=load)
        polygon = self._sole(now, 1 - cycle.side)
        # The body turns only where the step alone is not enough.
        wish = laws.slow(now, polygon) if self.missing > HELD else laws.hold(now, polygon, now.caught)
        stack = SWING if cycle.phase == SWINGING else STAND
        return maker.make(
            self.name, now, wish, stack=stack, height=height, contact=contact, load_max=load, feet=feet,
            footholds=cycle.footholds,
        )  # fmt: skip

    def _after_landing(self, now: Situation) -> None:
        """On both feet again: another step if the DCM runs out of them, done if it stays."""
        stamp = now.state.stamp
        if self.swung:
            self.swung, self.held = False, stamp
        margin = self.memory.stance.update(now.state, BOTH).margin(*now.caught)
        if margin < 0.0:
            self.held = stamp
            if margin < -AGAIN * now.height:
                self._start_step(now)
        elif self._leaves_a_leg_behind(now):
            self._start_step(now, 1 - self.cycle.side)
        self.done = "the DCM is held between the feet" if stamp - self.held > CALM else ""

    def _leaves_a_leg_behind(self, now: Situation) -> bool:
        """The body comes to stand further from the trailing foot than its leg is long; a step of it loses nothing."""
        landed = self.cycle.side
        (x, y), (ox, oy) = now.caught, now.centre[1 - landed]
        if math.hypot(x - ox, y - oy) <= BEHIND * now.height:
            return False
        return self.memory.planner.plan(1 - landed, now, self._sole(now, landed), UNLOAD).miss < HELD
