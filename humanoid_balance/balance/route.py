"""Footstep plans: a list of footholds instead of a velocity, each checked before a foot is lifted for the first.

The DCM that a step should leave behind follows from the footholds after it, from the last one, which has the DCM
between the feet, back to the next (Englsberger, Ott, Albu-Schäffer, "Three-dimensional bipedal walking control based on
divergent component of motion", T-RO 2015): with the centre of pressure in the middle of the foot at u_k

    c_k = u_k + (c_(k+1) - u_k) / G          G = exp(omega T)

Place and offset c_1 - u_1 go to the ``Adapter`` as those of the nominal gait do: small errors are the centre of
pressure's, a push moves the foot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance.gait import Gait, Step, Velocity
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.step_cycle import StepCycle
from humanoid_balance.balance.swing import LATEST_CHANGE
from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SOLES, Array, Foothold

# Planned steps come in any order: a long one after a short one, backward after forward. Those within these shares of
# what a walk does were placed within 2 cm, whatever came before; at 1.0 some were 20 cm off.
LONGEST = 0.75  # of the longest step
WIDEST = 0.6  # of the way from the nearest to the farthest place beside the other foot
TURNED = 0.8  # of the angle between the feet; at 1.0 some were 6 degrees off
OFF, TWIST = 0.03, 3.0  # a foot that has landed so far from its place [m] changes no verdict; of its heading [rad/m]
DIVERTED = 2.0  # a foot in flight may be this much faster than its mean speed
SAME = 0.01  # a landing place that is moved by less is the same [m]
TILTED = 0.5  # cosine of the steepest sole that still has a heading


@dataclass(frozen=True, slots=True)
class Placed:
    """A foot on the ground: the centre of its sole [m] and its heading [rad], world."""

    side: int
    centre: Point
    yaw: float

    def local(self, point: Point) -> Point:
        """Seen from this foot: along it, and to its left."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        dx, dy = point[0] - self.centre[0], point[1] - self.centre[1]
        return cos * dx + sin * dy, cos * dy - sin * dx


class Route:
    """Follows the plan in ``command.footsteps``. One that is repeated goes on, another one begins with its first."""

    def __init__(self, robot: Robot, gait: Gait) -> None:
        self.robot, self.gait, self.reach = robot, gait, gait.reach
        self.following = False
        self.refused = ""  # why the plan is not followed
        self._given: tuple[Foothold, ...] = ()
        self._key: tuple[object, ...] = ()
        self._steps: tuple[Placed, ...] = ()
        self._next = 0

    @property
    def finished(self) -> bool:
        """The robot stands where the commanded plan ends."""
        return bool(self._given) and not self.refused and self._next == len(self._steps)

    @property
    def side(self) -> int:
        """Of the next footstep."""
        return self._steps[self._next].side

    @property
    def ends(self) -> bool:
        """The next footstep is the last one."""
        return self._next + 1 == len(self._steps)

    def leads(self, side: int) -> bool:
        """The next footstep is one of this foot."""
        return self.following and self.side == side

    def ahead(self, taken: int = 0) -> tuple[Foothold, ...]:
        """What is still to be stepped on, without the first ``taken``."""
        return self._given[self._next + taken :] if self.following else ()

    # ---- which plan, and whether it can be done ----

    def see(self, now: Situation, stepping: int | None = None, flight: StepCycle | None = None) -> None:
        """Take in the command of this tick. ``stepping``: the foot whose step is under way, ``flight`` if it flies."""
        given = now.command.footsteps
        if given is self._given:
            return
        if not given:
            self._key = () if self.refused else self._key
            self.following, self.refused, self._given = False, "", ()
            return
        key = tuple((f.contact, *f.position.tolist(), *f.rotation[:, 0].tolist(), f.stamp) for f in given)
        known, self._given = key == self._key, given
        if known and (self.following or self.refused):
            return
        if not known:
            self._key, self._next = key, 0
            self._steps, self.refused = self._read(given)
        if not self.refused:
            self.refused = self._trouble(now, stepping, flight)
        self.following = not self.refused and self._next < len(self._steps)

    def begins(self, now: Situation) -> bool:
        """From standing: whether the plan can be followed from here. A push may have moved the feet meanwhile."""
        if self.following:
            self.refused = self._trouble(now, None, None)
            self.following = not self.refused
        return self.following

    def _read(self, given: tuple[Foothold, ...]) -> tuple[tuple[Placed, ...], str]:
        """The footsteps in the plane; height and tilt are those of the ground that the feet find."""
        steps: list[Placed] = []
        for k, foothold in enumerate(given):
            if foothold.contact not in SOLES:
                return (), f"{_name(k)}: '{foothold.contact}' is no sole; allowed: {', '.join(SOLES)}"
            side = SOLES.index(foothold.contact)
            if float(foothold.rotation[2, 2]) < TILTED:
                return (), f"{_name(k)}: the sole does not lie on the ground"
            if steps and steps[-1].side == side:
                return (), f"{_name(k)}: {foothold.contact} again; allowed: left and right in turn"
            steps.append(self._placed(side, foothold.position, foothold.rotation))
        return tuple(steps), ""

    def _placed(self, side: int, position: Array, rotation: Array) -> Placed:
        x, y, _ = (position + rotation @ self.robot.sole_centres[side]).tolist()
        return Placed(side, (x, y), math.atan2(float(rotation[1, 0]), float(rotation[0, 0])))

    def _feet(self, now: Situation) -> list[Placed]:
        state = now.state
        return [self._placed(side, state.sole_position[side], state.sole_rotation[side]) for side in range(2)]

    def _trouble(self, now: Situation, stepping: int | None, flight: StepCycle | None) -> str:
        """Why what is left of the plan cannot be done from here; empty if it can."""
        steps, feet, begin = self._steps[self._next :], self._feet(now), 0
        if not steps:
            return ""
        if steps[0].side == stepping:
            why = "" if flight is None else self._diverted(now, flight, steps[0])
            if why:
                return f"{_name(self._next)}: {why}"
        elif stepping is not None:
            begin = 1  # where that foot lands is known when it has
        before = [feet[1 - steps[0].side], *steps]
        for k in range(begin, len(steps)):
            why = self.unreachable(before[k], steps[k])
            if why:
                return f"{_name(self._next + k)}: {why}"
        return ""

    def _diverted(self, now: Situation, flight: StepCycle, step: Placed) -> str:
        """Why a foot in the air cannot get to its new place any more; empty if it can."""
        (landing,) = flight.footholds
        (lx, ly), (x, y) = self._placed(step.side, landing.position, landing.rotation).centre, step.centre
        (fx, fy), left = now.centre[step.side], max(flight.under_way[1], 0.0)
        if math.hypot(x - lx, y - ly) < SAME:
            return ""
        if left < LATEST_CHANGE or math.hypot(x - fx, y - fy) > DIVERTED * self.reach.flight(left):
            return f"{SOLES[step.side]} lands in {left:.2f} s and cannot get there any more"
        return ""

    def unreachable(self, stance: Placed, step: Placed, slack: float = 0.0) -> str:
        """Why a foot cannot step there while the other one stands; empty if it can, with some ``slack`` [m]."""
        gait, reach, sign = self.gait, self.reach, 1.0 if step.side == 0 else -1.0
        x, y = stance.local(step.centre)
        y, name = sign * y, SOLES[step.side]
        turn = sign * math.remainder(step.yaw - stance.yaw, math.tau)
        if y < reach.near - slack:
            return f"{name} would be {y:.2f} m beside the other foot, through the leg; allowed: from {reach.near:.2f} m"
        widest = reach.near + WIDEST * (reach.far - reach.near)
        if y > widest + slack:
            return f"{name} would be {y:.2f} m beside the other foot; allowed: {widest:.2f} m"
        stretch = math.hypot(x, max(0.0, y - self.robot.stance_width))
        most = LONGEST * (gait.longest if x > 0.0 else min(gait.longest, reach.backward))
        if stretch > most + slack:
            return f"{name} would be {stretch:.2f} m from its place beside the other foot; allowed: {most:.2f} m"
        inward, outward = TURNED * gait.toes_in, TURNED * gait.toes_out
        if not -inward - slack * TWIST <= turn <= outward + slack * TWIST:
            allowed = f"{math.degrees(-inward):.0f} to {math.degrees(outward):.0f} deg outward"
            return f"{name} would be turned by {math.degrees(turn):.0f} deg against the other foot; allowed: {allowed}"
        return ""

    # ---- the step ----

    def landed(self, now: Situation, side: int) -> None:
        """A foot came down. A push may have moved it: can the plan still be done?"""
        if not self.following:
            return
        if self.side == side:
            self._next += 1
        if self._next == len(self._steps):
            self.following = False
            return
        step = self._steps[self._next]
        why = "" if step.side == side else self.unreachable(self._feet(now)[side], step, OFF)
        if why:
            self.refused, self.following = f"{_name(self._next)}: {why}", False

    def _wanted(self, now: Situation) -> Point:
        """The DCM when the weight comes onto the next footstep, world."""
        rest = self._steps[self._next :]
        feet = [now.centre[1 - rest[0].side], *(step.centre for step in rest)]
        (ax, ay), (bx, by) = feet[-2], feet[-1]
        x, y = (ax + bx) / 2, (ay + by) / 2
        grown = math.exp(now.omega * self.gait.slowest)
        for ux, uy in reversed(feet[1:-1]):
            x, y = ux + (x - ux) / grown, uy + (y - uy) / grown
        return x, y

    def step(self, now: Situation, yaw: float) -> Step:
        """The next footstep, seen from the stance foot with the heading ``yaw``."""
        step, (x, y) = self._steps[self._next], self._wanted(now)
        stance = Placed(1 - step.side, now.centre[1 - step.side], yaw)
        place, (cx, cy) = stance.local(step.centre), stance.local((x, y))
        turn = math.remainder(step.yaw - yaw, math.tau)
        return Step(self.gait.slowest, place, turn, (cx - place[0], cy - place[1]))

    def start(self, now: Situation) -> Point:
        """Where the DCM should be when the first foot leaves, world."""
        (x, y), (sx, sy) = self._wanted(now), now.centre[1 - self.side]
        grown = math.exp(now.omega * self.gait.slowest)
        return sx + (x - sx) / grown, sy + (y - sy) / grown

    def velocity(self, now: Situation) -> Velocity:
        """About how fast the body goes while this step is made, in the heading of the feet."""
        (x, y), (fx, fy), time = self._steps[self._next].centre, now.centre[self.side], 2 * self.gait.slowest
        cos, sin, dx, dy = math.cos(now.yaw), math.sin(now.yaw), x - fx, y - fy
        return (cos * dx + sin * dy) / time, (cos * dy - sin * dx) / time, 0.0


def _name(k: int) -> str:
    return f"command: footstep {k + 1}"
