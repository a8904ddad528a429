"""The mode of finite-state gaits: asked for by name, it goes from the gait under way to the one that is wanted."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.squaring import offset_from_square
from humanoid_balance.balance.situation import Situation
from humanoid_balance.errors import InputError
from humanoid_balance.gaits import library
from humanoid_balance.gaits.learning import Learner
from humanoid_balance.gaits.machine import Machine
from humanoid_balance.gaits.pendulum_walk import PendulumWalk
from humanoid_balance.gaits.simbicon import Simbicon
from humanoid_balance.gaits.table import GaitTable
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import BodyReference, Command, JointReference, Reference

SETTLED = 6  # steps after which a gait on the way to another one has found its rhythm
SLOW = 0.25  # speed at which standing takes over [m/s]
STRIDE = 0.1  # ... with the feet no further apart than this [CoM heights]: squaring them up is a step from standing
SHORTEST, LONGEST = 0.0005, 0.01  # control periods that a gait is prepared for [s]
# On feet that rock the estimator sees slipping, does not trust them and goes on by the IMU alone: in the crouched walk
# its speed was wrong by 1 m/s after five seconds. What loaded feet seem to slide with for longer than this is an error.
DRIFTING = 0.15  # [s]
SLIDING = 0.2  # ... beyond this; so fast feet do slide [m/s]
LEAN = 1.0  # a trunk that is so far from where the gait wants it does not come back [rad]
FIRST = 0.35  # how long the first step takes of gaits that do not say it [s]
PATIENCE = 1.0  # the first foot leaves after this at the latest, wherever the weight is [s]
LOWEST = 0.62  # CoM height at which walking is over, of the standing height


@lru_cache(maxsize=64)
def choice(robot: Robot, name: str) -> GaitTable | str:
    """The gait of a name if this robot can go with it, otherwise why not."""
    try:
        law, table = Simbicon(robot), library.find(name)
        for gait in library.route(None, table):
            law.check(gait)
    except InputError as error:
        return str(error)
    return table


def asked(now: Situation, memory: Memory) -> bool:
    """The operator wants a gait that this robot has."""
    return bool(now.command.gait) and isinstance(choice(memory.robot, now.command.gait), GaitTable)


def stopped(now: Situation, memory: Memory) -> bool:
    """Nobody asks for a gait any more, both feet are down, and the body is slow with the capture point between them."""
    if now.command.gait or not now.state.contact.all() or math.hypot(*now.com_velocity) > SLOW:
        return False
    if abs(offset_from_square(now, 0.0)[0]) > STRIDE * now.height:
        return False
    return memory.margin(now) > 0.0


def lost(now: Situation, memory: Memory) -> str:
    """Why the gait is over; empty while there is hope. Running, the capture point is far from the feet."""
    mode = memory.mode
    assert isinstance(mode, FiniteStateGait)
    lean = math.asin(max(-1.0, min(1.0, now.lean[0] * math.cos(now.yaw) + now.lean[1] * math.sin(now.yaw))))
    low, high = mode.machine.table.leans
    away = lean - min(max(lean, low), high)
    aside = math.asin(max(-1.0, min(1.0, now.lean[1] * math.cos(now.yaw) - now.lean[0] * math.sin(now.yaw))))
    if math.hypot(away, aside) > LEAN:
        return f"trunk leans {math.degrees(lean):.0f} deg forward, {math.degrees(aside):.0f} deg aside"
    if now.height < LOWEST * memory.robot.com_height:
        return f"CoM at {now.height:.2f} m"
    return ""


class FiniteStateGait(BalanceMode):
    """A gait of the library, on a robot whose legs have a hip, a knee and an ankle."""

    name = "gait"
    upright = False  # its own row tells when it is lost

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._law: Simbicon | None = None  # made when it is first needed: some robots have no legs as it wants them
        self._walk: PendulumWalk | None = None
        self._zero = np.zeros(memory.robot.n)
        self.learners: dict[str, Learner] = {}  # by gait
        self.trunk = 0.0, 0.0  # what feedback and learning make the trunk lean forward with [N m]

    def answers(self, command: Command) -> bool:
        return bool(command.gait) and isinstance(choice(self.memory.robot, command.gait), GaitTable)

    def enter(self, now: Situation) -> None:
        """From standing, with the foot that carries less as the first to swing."""
        super().enter(now)
        self._law = self._law or Simbicon(self.memory.robot)
        left, right = now.state.wrench[:, 2].tolist()
        self.heading, self.stamp, self._asked = now.yaw, now.state.stamp, now.state.stamp
        first, *self.route = self._way(now.command.gait, None)
        self.wanted = now.command.gait
        self.machine = Machine(first, 0 if left >= right else 1, now.state.stamp)
        self._drift = 0.0, 0.0  # what loaded feet seem to slide with, world [m/s]
        self._error = 0.0, 0.0  # of the estimated velocity, world [m/s]
        self._entered = 0  # step with which the present gait began
        self._shifting = first.space == "space"  # the weight still has to come over the first stance foot

    def _way(self, name: str, under_way: str | None) -> list[GaitTable]:
        table = choice(self.memory.robot, name)
        return list(library.route(under_way, table)) if isinstance(table, GaitTable) else []

    def _follow_command(self, command: Command) -> None:
        """Another gait than before begins at the next change of state; those on the way to it find their rhythm."""
        machine = self.machine
        wanted = command.gait or machine.table.stop or self.wanted
        if wanted != self.wanted:
            self.wanted = wanted
            self.route = [gait for gait in self._way(wanted, machine.table.name) if gait.name != machine.table.name]
            due = bool(self.route)
        else:
            due = bool(self.route) and machine.following is None and machine.steps - self._entered >= SETTLED
        if due:
            machine.following = self.route.pop(0)
            self._entered = machine.steps

    def _learner(self, table: GaitTable) -> Learner | None:
        """Who learns the gait; it remembers while other gaits are under way."""
        if table.learning is None:
            return None
        learner = self.learners.get(table.name)
        if learner is None or learner.width != table.learning.bin:
            learner = self.learners[table.name] = Learner(table.learning)
        return learner

    def _shift(self, now: Situation) -> BodyReference | None:
        """Send the capture point toward the first stance foot; None when it is where a step begins.

        A body that lifts a foot while the weight is between both tips to that side: the first step has to catch it.
        """
        memory, machine, stamp = self.memory, self.machine, now.state.stamp
        stance, c, s = machine.stance, math.cos(now.yaw), math.sin(now.yaw)
        (ax, ay), (bx, by) = now.centre[stance], now.centre[1 - stance]
        width = abs(c * (by - ay) - s * (bx - ax))
        steps = machine.table.pendulum
        grown = math.exp(now.omega * (FIRST if steps is None else steps.time))
        away = abs(c * (now.caught[1] - ay) - s * (now.caught[0] - ax))
        machine.since = machine.begun = stamp
        if away < width / (grown + 1) or stamp - self._asked > PATIENCE:
            self._shifting = False
            return None
        polygon = memory.stance.update(now.state, BOTH)
        wish = memory.maker.laws.shove(now, polygon, (ax, ay))
        return memory.maker.make(self.name, now, wish, height=memory.maker.height(now))

    def update(self, now: Situation) -> Reference:
        state, machine, law = now.state, self.machine, self._law
        assert law is not None
        if self._shifting:
            shift = self._shift(now)
            self.stamp = state.stamp
            if shift is not None:
                return shift
        self._follow_command(now.command)
        machine.update(state.stamp, (bool(state.contact[0]), bool(state.contact[1])))
        passed = state.stamp - self.stamp
        if passed and not 0.8 * law.period < passed < 1.25 * law.period:
            law.pace(min(max(passed, SHORTEST), LONGEST))
        self.heading += now.command.velocity.item(2) * passed
        self.stamp = state.stamp
        table, age = machine.table, state.stamp - machine.begun
        learner = self._learner(table)
        forward = 0.0 if learner is None else learner.forward(age)
        row, stance, reaction = machine.state, machine.stance, table.reaction
        if reaction is not None and reaction.delay <= state.stamp - state.push.onset < reaction.delay + reaction.time:
            table = table.raised
        if table.cycle is not None:
            row = table.cycle.posed(row, age, table.gains)
        aid = None
        if table.pendulum is not None:
            x, y, turn = now.command.velocity.tolist()
            self._walk = walk = self._walk or PendulumWalk(self.memory.robot)
            row, aid = walk.update(
                table.pendulum, row, stance, machine.begun, state, self.heading, (x, y, turn), self._error
            )
        t = law.update(
            table,
            row,
            stance,
            state,
            self.heading,
            trunk_forward=forward,
            drift=self._error,
            aid=aid,
            late=machine.late(state.stamp),
        )
        if t.sliding is not None:
            share = min(passed / DRIFTING, 1.0)
            x, y = self._drift
            self._drift = x, y = x + share * (t.sliding[0] - x), y + share * (t.sliding[1] - y)
            size = math.hypot(x, y)
            beyond = max(0.0, 1.0 - SLIDING / size) if size > 0.0 else 0.0
            self._error = beyond * x, beyond * y
        if learner is not None and table.learning is not None:
            across = t.trunk.item(1) * math.cos(self.heading) - t.trunk.item(0) * math.sin(self.heading)
            self.trunk = across - forward, forward
            learner.see(age, across - forward, table.learning)
        return JointReference(
            state.stamp, self.name, t.position, t.velocity, self._zero, t.stiffness, t.damping, t.torque
        )
