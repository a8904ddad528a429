"""What runs behind the live page: one robot in its world, steered, pushed and pulled while it runs."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import mujoco
import numpy as np

from humanoid_balance import stack
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.errors import InputError
from humanoid_balance.gaits.mode import FiniteStateGait
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import Truth
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import STILL, Array, Command
from humanoid_balance.viewer.abilities import Abilities
from humanoid_balance.viewer.gait_cards import Edits, edited
from humanoid_balance.viewer.moment import NOWHERE, Moment, believed

EVERY = 10  # ticks between two rows of the charts
LATELY = 500  # ticks whose time is told
KEPT = 600  # rows that wait for the page
SPRING = 0.4  # a pull over one CoM height, in body weights
STRONGEST = 0.8  # pull, in body weights
LYING = 3.0  # after a fall, before the robot is put on its feet again [s]
COLUMNS = (
    "time", "com_x", "zmp_x", "dcm_x", "low_x", "high_x", "com_y", "zmp_y", "dcm_y", "low_y", "high_y",
    "legs", "torso", "arms", "tick_median", "tick_max",
)  # fmt: skip
GROUPS = ("legs", "torso", "arms")
DOWN = ("falling", "lying")  # modes of a body on the ground that does nothing about it
ASKED = 1.0  # a skill that has not begun by then cannot begin from how the body lies [s]


@dataclass(frozen=True)
class Pull:
    """A hand that holds a point of a link and pulls toward a place in the world, level with the ground."""

    link: str
    point: tuple[float, float, float]  # in the frame of the link [m]
    target: tuple[float, float, float]  # world [m]


@dataclass(frozen=True)
class Snapshot:
    """The present for the page, with the chart rows since the last one."""

    generation: int  # changes with the robot or its world
    settings: RunSettings
    moment: Moment
    rows: Array  # (k, columns)
    changes: tuple[tuple[float, str, str], ...]  # the last changes of mode: time [s], mode, reason
    speed: float  # simulated seconds in a second, lately
    tick: float  # median time of a control tick, lately [s]
    notice: str  # what the visitor should know
    abilities: Abilities


class PullingHand:
    """A force that changes while it acts."""

    end, height = math.inf, None

    def __init__(self, pull: Pull) -> None:
        self.link, self.point = pull.link, pull.point
        self.axis: Array = np.zeros(3)  # world [N]

    def force_at(self, time: float) -> float:
        return 1.0


class Session:
    """One tick after the other; the caller keeps the time."""

    def __init__(self, settings: RunSettings, generation: int = 0) -> None:
        self.settings, self.generation = settings, generation
        self.robot, plant = stack.simulator(settings)
        assert isinstance(plant, MujocoPlant)  # hands hold bodies of its model
        self.plant = plant
        self.dt, self.notice = self.plant.dt, ""
        self.pushes: list[PushProfile] = []
        self.held: Pull | None = None
        self.hand: PullingHand | None = None
        self.gaits: dict[str, Edits] = {}  # numbers of their tables that the visitor changed
        self.abilities = Abilities.of(self.robot, settings)
        self.reset()

    def reset(self) -> None:
        """On its feet again, untouched, the clock at zero."""
        self.hold(None)
        self._forget(math.inf)
        self.plant.reset()
        self.loop = stack.simulated(self.robot, self.plant, self.settings.balance)
        assert isinstance(self.loop.balance, Supervisor)
        self.balance = self.loop.balance
        self.command = STILL
        self._asked = -math.inf  # when a skill was [s]
        self.rows: deque[list[float]] = deque(maxlen=KEPT)
        self.fallen = 0.0  # how long it has lain there [s]
        self.lately: deque[float] = deque(maxlen=LATELY)  # time of each control tick [s]
        self.ticks = 0
        self.tick()

    def push(
        self, force: float, duration: float, direction: float, link: str | None = None, height: float | None = None
    ) -> None:
        """From now on [N], [s], [deg]; at the torso, or where a visitor asked for, height above the ground [m]."""
        try:
            given = PushProfile(force, duration, direction, start=self.plant.time, link=link, height=height)
            self.plant.add_push(given)
        except InputError as error:  # chosen for the robot that was here before
            self.notice = str(error)
            return
        self.pushes.append(given)

    def steer(self, velocity: tuple[float, float, float], gait: str) -> None:
        """What the visitor wants now; unless it is repeated, the loop lets it go stale. A skill asked for stays."""
        skill = self.command.skill if self._mode in DOWN and self.plant.time < self._asked + ASKED else ""
        wanted = Command(self.plant.time, np.array(velocity), gait, skill)
        self.command = STILL if wanted.still else wanted
        mode = self.balance.mode
        if isinstance(mode, FiniteStateGait) and mode.machine.table.name in self.gaits:
            mode.machine.table = edited(mode.machine.table, self.gaits[mode.machine.table.name])

    def tune(self, gait: str, state: int, key: str, value: float) -> None:
        """Change a number of a gait's table; it acts while the gait goes on."""
        self.gaits.setdefault(gait, {})[state, key] = value

    def ask(self, skill: str) -> None:
        """Begin a skill; only a body on the ground does."""
        if self._mode not in DOWN:
            self.notice = f"{skill}: only when it lies on the ground; push it over first"
        else:
            self._asked = self.plant.time
            self.command = Command(self._asked, skill=skill)

    def set_gain(self, name: str, value: float) -> None:
        """Of the balance laws, at once."""
        self.balance.set_gain(name, value)

    @property
    def _mode(self) -> str:
        return self.balance.mode.name

    def _forget(self, left: float) -> None:
        """Pushes that have at most so many seconds left."""
        for given in [given for given in self.pushes if given.end - self.plant.time <= left]:
            self.pushes.remove(given)
            self.plant.remove_push(given)

    def hold(self, pull: Pull | None) -> None:
        """Take hold of the body, pull another way, or let go."""
        if self.hand is not None and (pull is None or (pull.link, pull.point) != (self.hand.link, self.hand.point)):
            self.plant.remove_push(self.hand)
            self.hand = None
        if self.hand is None and pull is not None:
            self.hand = PullingHand(pull)
            self.plant.add_push(self.hand)
        self.held = pull

    def tick(self) -> None:
        """One control period."""
        if self.hand is not None and self.held is not None:
            self.hand.axis = self._pull(self.held)
        charted = self.ticks % EVERY == 0
        truth = self.plant.truth() if charted else None
        try:
            self.last = self.loop.tick(self.command)
        except InputError as error:  # the simulation diverged
            self.reset()
            self.notice = f"{error}; started again"
            return
        self.ticks += 1
        if truth is not None:
            self.truth = truth
            self._forget(0.0)
            self._chart(truth)
            self.fallen = self.fallen + EVERY * self.dt if truth.fell and self._mode in DOWN else 0.0

    def _grip(self, pull: Pull) -> Array:
        """Where the hand is, world (3,)."""
        body = mujoco.mj_name2id(self.plant.model, mujoco.mjtObj.mjOBJ_BODY, pull.link)
        data = self.plant.data
        return np.asarray(data.xpos[body] + data.xmat[body].reshape(3, 3) @ np.array(pull.point))

    def _pull(self, pull: Pull) -> Array:
        """Force of a level spring between hand and place, bounded [N]."""
        weight = self.robot.weight
        force = SPRING * weight / self.robot.com_height * (np.array(pull.target) - self._grip(pull))
        force[2] = 0.0
        return np.asarray(force / max(1.0, float(np.linalg.norm(force)) / (STRONGEST * weight)))

    def _chart(self, truth: Truth) -> None:
        state, support = self.last.state, self.last.state.support
        low, high = (support.min(axis=0), support.max(axis=0)) if len(support) else (NOWHERE, NOWHERE)
        ratio = np.abs(truth.torque) / self.robot.torque_limit
        none = np.zeros(0, int)
        groups = [float(ratio[self.robot.groups.get(g, none)].max(initial=0.0)) for g in GROUPS]
        ticks = [sum(row[1:]) for row in self.loop.timing]
        self.lately.extend(ticks)
        self.loop.timing.clear()
        ways = [v for a in range(2) for v in (state.com[a], state.zmp[a], state.dcm[a], low[a], high[a])]
        self.rows.append([truth.stamp, *ways, *groups, 1e3 * float(np.median(ticks)), 1e3 * max(ticks)])

    def look(self, speed: float) -> Snapshot:
        """The present; chart rows are handed over."""
        grip = NOWHERE if self.held is None else self._grip(self.held)
        rows = np.array(self.rows).reshape(-1, len(COLUMNS))
        self.rows.clear()
        moment = believed(self.last, self.plant.truth(), self.robot, grip)
        changes = tuple(self.balance.changes[-6:])
        tick = float(np.median(self.lately))
        return Snapshot(
            self.generation, self.settings, moment, rows, changes, speed, tick, self.notice or self.last.refused,
            self.abilities,
        )  # fmt: skip
