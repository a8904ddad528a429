"""The supervisor: one mode acts at a time, and feasibility decides which (K0).

stable -> in place: the centre of pressure alone cannot hold the DCM. in place -> stepping: turning the body cannot.
stepping -> squaring up -> stable when the DCM is held. Any -> falling, for good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humanoid_balance.balance.modes.falling import LEAN, Falling
from humanoid_balance.balance.modes.mode import Mode
from humanoid_balance.balance.modes.squaring import Squaring, is_square
from humanoid_balance.balance.modes.standing import InPlace, Stable
from humanoid_balance.balance.modes.stepping import Stepping
from humanoid_balance.balance.reference import ReferenceMaker
from humanoid_balance.balance.situation import Situation, Stance, look
from humanoid_balance.balance.steps import STEP_POLICIES, Planner
from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Reference, RobotState

STRATEGIES = ("auto", "in-place", "step")
POLICIES = ("dcm", "kudoh")
BOTH = (True, True)
STABLE_AREA = 0.5  # Kudoh's stable area: the support polygon scaled about its centre
LOWEST = 0.62  # CoM height at which standing is over, of the standing height
OUT_OF_REACH = 0.5  # way of the capture point from the feet, in CoM heights, that no leg makes good; 0.31 was made good
SUNK_REACH = 0.1  # the same for a trunk that is bent, or a body that has sunk, already
SUNK = 0.92  # CoM height below which the body sinks beside its feet, of the standing height
STUCK = 0.010  # the whole-body controller finds no way for this long before a step is taken [s]
LOW = 0.85  # of the standing height: a deep bow over standing feet is not yet a fall
FIRST_TRY = 0.004  # feet in place gets at least this long before a step is taken [s]
BENT = 0.5  # lean beyond which turning has little left to give
GROUND_RATE = 0.01  # share of the ground's normal that is learnt in a tick
QUIET = 0.08  # CoM speed below which the feet are squared up [m/s]
BACK = 0.05  # Kudoh's feet in place lasts at least this long [s]
REST = 0.4  # a mode is kept at least this long before going back to an easier one [s]


@dataclass(frozen=True)
class BalanceSettings:
    """How the robot may answer a push."""

    strategy: str = "auto"
    policy: str = "dcm"
    delay: float = 0.0  # only the stable mode acts for this long after a push begins [s]
    step_policy: str = "capture"

    def __post_init__(self) -> None:
        for key, allowed in (("strategy", STRATEGIES), ("policy", POLICIES), ("step_policy", STEP_POLICIES)):
            if getattr(self, key) not in allowed:
                raise InputError(f"{key.replace('_', '-')} is '{getattr(self, key)}'; allowed: {', '.join(allowed)}")


class Supervisor:
    """``update`` once a tick; ``changes`` logs every change of mode with its reason."""

    def __init__(self, robot: Robot, settings: BalanceSettings | None = None) -> None:
        self.robot = robot
        self.settings = settings or BalanceSettings()
        self.maker = ReferenceMaker(robot)
        self.stance = Stance(robot, self.maker.edge)
        self.planner = Planner(robot, self.settings.step_policy)
        self.stable = Stable(self.maker, self.stance)
        self.in_place = InPlace(self.maker, self.stance, self.settings.policy)
        self.stepping = Stepping(self.maker, self.stance, self.planner)
        self.squaring = Squaring(self.maker, self.stance)
        self.falling = Falling(self.maker)
        self.mode: Mode = self.stable
        self.since = self.able = -math.inf
        self.trunk = Trunk(robot)
        self.ground = np.array([0.0, 0.0, 1.0])
        self.changes: list[tuple[float, str, str]] = []
        self.flywheel = flywheel_capacity(robot)

    def update(self, state: RobotState, feasible: bool = True) -> Reference:
        """``feasible``: whether the whole-body controller could do in the last tick what it was asked for (K0)."""
        if feasible:
            self.able = state.stamp
        now = look(self.robot, state, self.trunk, self.ground)
        wanted, reason = self._decide(now)
        if wanted is not self.mode:
            self.mode, self.since = wanted, state.stamp
            self.changes.append((state.stamp, wanted.name, reason))
            wanted.enter(now)
        if self.mode is self.stable:  # a standing sole lies flat; one that is tipping says nothing about the ground
            self.ground += GROUND_RATE * (state.ground_normal - self.ground)
        return self.mode.update(now)

    # ---- decisions ----

    def _decide(self, now: Situation) -> tuple[Mode, str]:
        mode = self.mode
        if mode is self.falling:
            return mode, ""
        lost = self._lost(now)
        if lost:
            return self.falling, lost
        if mode is self.stepping:
            if not self.stepping.done:
                return mode, ""
            return self.in_place, "the DCM is held between the feet"
        if mode is self.squaring:
            if self.squaring.done or self.squaring.failed:
                return self.in_place, "the foot is back" if self.squaring.done else "no time for it"
            if self.squaring.shifting and self._outside(now, BOTH) > 0.0:
                return self.in_place, "pushed while squaring up"
            return mode, ""
        return self._decide_standing(now)

    def _decide_standing(self, now: Situation) -> tuple[Mode, str]:
        """Both feet down, stable or in place."""
        mode, margin = self.mode, -self._outside(now, BOTH)
        if self._reacting(now):
            return self.stable, "reaction delay"
        reason = self._must_step(now, -margin)
        if mode is self.stable:
            if reason or margin < self._stable_margin():
                return self.in_place, reason or f"DCM margin {margin:.3f} m"
            if not is_square(now, self.robot.stance_width) and self._at_rest(now):
                return self.squaring, "feet apart"
            return mode, ""
        if reason and now.state.stamp - self.since > FIRST_TRY:
            return self.stepping, reason
        if margin > 2 * self._stable_margin() and self._calm(now):
            return self.stable, "recovered"
        return mode, ""

    def _must_step(self, now: Situation, outside: float) -> str:
        """Why the feet cannot stay; empty while they can, or may not move."""
        if self.settings.strategy == "step" and outside > -self._stable_margin():
            return f"DCM margin {-outside:.3f} m, steps asked for"
        if self.settings.strategy == "auto":
            stuck = now.state.stamp - self.able
            if outside > 0.0 and stuck > STUCK and now.state.stamp - self.since > STUCK:
                return f"DCM {outside:.3f} m outside, infeasible for {1e3 * stuck:.0f} ms"
            if self.settings.policy == "kudoh":
                return ""
            soon = self._outside_soon(now)
            if soon > self.flywheel:
                return f"DCM {soon:.3f} m outside soon, turning the body holds {self.flywheel:.3f} m"
            if outside > 0.0 and math.hypot(*now.lean) > BENT:
                return f"DCM {outside:.3f} m outside, body bent already"
        return ""

    def _outside(self, now: Situation, contact: tuple[bool, bool]) -> float:
        """How far the caught DCM is outside the feet [m]; negative inside."""
        return -self.stance.update(now.state, contact).margin(*now.caught)

    def _outside_soon(self, now: Situation) -> float:
        """The same a moment ahead, if a push that lasts goes on: a leg needs that long to leave the ground.

        A foot that carries nothing already is no loss, and the other one can only follow it: no time to wait.
        """
        (cx, cy), (ax, ay) = now.caught, now.pushed
        lead = now.lasting / now.omega
        return -self.stance.update(now.state, BOTH).margin(cx + lead * ax, cy + lead * ay)

    def _stable_margin(self) -> float:
        """DCM margin below which the stable mode's feedback runs into the edge of the feet."""
        polygon = self.stance.polygon
        x, y = polygon.centre
        return (1 - STABLE_AREA) / 2 * max(polygon.margin(x, y), 0.0)

    def _calm(self, now: Situation) -> bool:
        """Time for the stable mode: at rest; in the thesis, as soon as the CoM is back in the stable area."""
        if self.settings.policy == "kudoh":
            return now.state.stamp - self.since > BACK and self.stance.polygon.scaled(STABLE_AREA).margin(*now.com) > 0
        return self._at_rest(now)

    def _at_rest(self, now: Situation) -> bool:
        return math.hypot(*now.com_velocity) < QUIET and now.state.stamp - self.since > REST

    def _reacting(self, now: Situation) -> bool:
        push = now.state.push
        since = now.state.stamp - push.onset
        return bool(since < self.settings.delay) and self.mode in (self.stable, self.in_place)

    def _lost(self, now: Situation) -> str:
        """Reasons to give up on standing; empty while there is hope."""
        lean, h = math.asin(min(1.0, math.hypot(*now.lean))), self.robot.com_height
        (x, y), (mx, my) = now.caught, now.middle
        # The middle lies between the feet: where it is near, the feet are nearer, and no hull has to be made.
        sunk = now.height < SUNK * h
        far = math.hypot(x - mx, y - my) > (SUNK_REACH if sunk or lean > LEAN else OUT_OF_REACH) * h
        outside = self._outside(now, BOTH) if far else 0.0
        if lean > LEAN and (now.height < LOW * h or outside > SUNK_REACH * h):
            return f"trunk leans {math.degrees(lean):.0f} deg, CoM at {now.height:.2f} m"
        if sunk and outside > SUNK_REACH * h:
            return f"CoM at {now.height:.2f} m, capture point {outside:.2f} m from the feet"
        if now.height < LOWEST * h:
            return f"CoM at {now.height:.2f} m"
        if outside > OUT_OF_REACH * h:
            return f"capture point {outside:.2f} m from the feet, out of reach"
        return ""


def flywheel_capacity(robot: Robot) -> float:
    """How far outside the feet turning the trunk can still hold the DCM [m].

    A rotation by theta of inertia I shifts the caught DCM by omega² I theta / (m g). The trunk turns by about 0.6 rad;
    a quarter of the whole body's inertia is counted, as legs stay behind and the DCM runs on while the trunk turns.
    """
    return 0.25 * robot.omega**2 * robot.inertia * 0.6 / robot.weight
