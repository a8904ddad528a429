"""The envelope of balance: the largest push a robot survives in each direction, found by bisection.

Directions are searched in worker processes, each run being the one that ``humanoid-balance push`` makes of the same
numbers. A search finds one border between standing and falling; where there are several it is one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pinocchio as pin

from humanoid_balance import stack
from humanoid_balance.balance import pendulum
from humanoid_balance.balance.reach import Reach
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import push, workers
from humanoid_balance.geometry import Polygon
from humanoid_balance.plants.push_place import link_of
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings

GUESS = 0.5  # velocity change of the first push [m/s]
BEYOND = 4.0  # no search goes further than this velocity change [m/s]
LOOK = 0.2  # the progress of the workers is read this often [s]

Attempt = Callable[[float], int | None]  # impulse [N s] -> steps taken, None if the robot did not survive it
Check = Callable[[float], None]  # called again and again while a run goes on; ends it by an exception
Progress = Callable[[float], None]


@dataclass(frozen=True)
class EnvelopeSettings:
    """What is searched. ``world.time`` is left to the experiment: a run ends 5 s after its push, or with a fall."""

    world: RunSettings
    directions: int = 8
    duration: float = 0.1  # of each push [s]
    resolution: float = 1.0  # [N s]
    workers: int = 1
    link: str | None = None  # that is pushed; the torso without one
    height: float | None = None  # above the ground [m]; at the CoM, or the origin of the link, without one

    def __post_init__(self) -> None:
        ranges = {"directions": (1, 360), "duration": (0.001, 10.0), "resolution": (0.01, 100.0), "workers": (1, 256)}
        for key, (low, high) in ranges.items():
            value = getattr(self, key)
            if not low <= value <= high:
                raise InputError(f"{key} is {value:g}; allowed: {low:g} to {high:g}")

    @property
    def angles(self) -> list[float]:
        """Directions of the pushes [deg]."""
        return [360.0 * k / self.directions for k in range(self.directions)]

    def push(self, impulse: float, direction: float, start: float = 1.0) -> PushProfile:
        """[N s], [deg], [s]."""
        force = impulse / self.duration
        return PushProfile(force, self.duration, direction, start, link=self.link, height=self.height)


def explore(settings: EnvelopeSettings, progress: Progress | None = None) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance envelope``."""
    robot = pushed(settings)
    pushes = [StandingPush(settings, angle) for angle in settings.angles]
    found = search_all(pushes, robot.mass, settings.resolution, settings.workers, progress)
    rows = [
        {"direction": angle, "impulse": impulse, "dv": impulse / robot.mass, "steps": steps}
        for angle, (impulse, steps) in zip(settings.angles, found, strict=True)
    ]
    return {
        "robot": robot.spec,
        "mass": robot.mass,
        "strategy": settings.world.strategy,
        "duration": settings.duration,
        **place(settings, robot),
        "directions": rows,
    }


def body(world: RunSettings) -> Robot:
    """The robot that is pushed; complains about a wrong one before any worker is started."""
    return stack.body(world, registry.load(world.robot))


def pushed(settings: EnvelopeSettings) -> Robot:
    """That robot; also complains about a link that it has not, and a height that it does not reach."""
    robot = body(settings.world)
    link_of(robot, settings.push(0.0, 0.0))
    return robot


def place(settings: EnvelopeSettings, robot: Robot) -> dict[str, Any]:
    """Where the pushes act on a robot that stands, for the JSON object."""
    link, height = settings.link or robot.config.torso, settings.height
    if height is None:
        height = robot.com_height
        if settings.link is not None:
            data = robot.model.createData()
            pin.forwardKinematics(robot.model, data, robot.q_nominal)
            height = float(pin.updateFramePlacement(robot.model, data, robot.model.getFrameId(link)).translation[2])
    return {"push_link": link, "push_height": height}


# ---- the search ----


def largest(
    attempt: Attempt, guess: float, resolution: float, limit: float, progress: Progress | None = None
) -> tuple[float, int]:
    """The largest impulse [N s] that was survived, and its steps: doubled until one is not, then bisected.

    Ends when the bracket is as small as ``resolution``, or at ``limit``, which nobody survives.
    """
    survived, steps, fatal = 0.0, 0, math.inf
    impulse = min(guess, limit)
    while fatal - survived > resolution and survived < limit:
        taken = attempt(impulse)
        if taken is None:
            fatal = impulse
        else:
            survived, steps = impulse, taken
        impulse = (survived + fatal) / 2 if math.isfinite(fatal) else min(2 * survived, limit)
        if progress is not None and math.isfinite(fatal):
            left = math.log2(max(fatal - survived, resolution) / resolution)
            progress(1.0 - left / (1.0 + max(math.log2(max(fatal, guess) / resolution), 0.0)))
    return survived, steps


def survive(settings: EnvelopeSettings, direction: float, impulse: float, check: Progress | None = None) -> int | None:
    """Push once: the steps it took, None if the robot fell or, asked to stay in place, stepped."""
    result = push.run(settings.world, [settings.push(impulse, direction)], check).result
    if result["fell"] or (settings.world.strategy == "in-place" and result["steps"]):
        return None
    return int(result["steps"])


class Search(Protocol):
    """One search: pushes with a growing impulse. It goes to a worker, so it has to be plain data."""

    def attempt(self, impulse: float, check: Check) -> int | None:
        """The steps that it took; None if it was not survived."""


@dataclass(frozen=True)
class StandingPush:
    settings: EnvelopeSettings
    direction: float  # [deg]

    def attempt(self, impulse: float, check: Check) -> int | None:
        return survive(self.settings, self.direction, impulse, check)


# ---- worker processes ----


_shares: Any = None  # in a worker: how much of each search is done; shared with the main process


def _begin_worker(shares: Any) -> None:
    global _shares
    _shares = shares


def _search(push: Search, number: int, mass: float, resolution: float) -> tuple[float, int]:
    """One of them, in a worker."""

    def tell(share: float) -> None:
        _shares[number] = share

    def attempt(impulse: float) -> int | None:
        return push.attempt(impulse, workers.check)

    found = largest(attempt, GUESS * mass, resolution, BEYOND * mass, tell)
    tell(1.0)
    return found


def search_all(
    pushes: Sequence[Search], mass: float, resolution: float, crew: int, progress: Progress | None
) -> list[tuple[float, int]]:
    """Every search is a task of a worker. An interrupt reaches the main process alone, which calls the others off."""
    shares = workers.START.Array("d", len(pushes))
    with workers.crew(min(crew, len(pushes)), _begin_worker, shares) as pool:
        with workers.quiet_start():
            tasks = [pool.submit(_search, push, k, mass, resolution) for k, push in enumerate(pushes)]
        waiting: set[Future[tuple[float, int]]] = set(tasks)
        while waiting:
            done, waiting = wait(waiting, LOOK, return_when="FIRST_EXCEPTION")
            for task in done:
                task.result()
            if progress is not None:
                progress(sum(shares[:]) / len(pushes))
    return [task.result() for task in tasks]


# ---- what a pendulum can do ----


class Ceilings:
    """Largest velocity changes an inverted pendulum survives, pushed in an instant.

    On its feet: omega times the way from the CoM to the edge of the soles' hull. With a step: as far as the leg reaches
    and as fast as the foot flies, after the reaction delay.
    """

    def __init__(self, robot: Robot, world: RunSettings) -> None:
        data, q = robot.model.createData(), robot.stance(math.radians(world.slope))
        pin.framesForwardKinematics(robot.model, data, q)
        x, y, _ = pin.centerOfMass(robot.model, data, q)
        places = [data.oMf[frame] for frame in robot.sole_frames]
        corners = np.concatenate([s @ p.rotation.T + p.translation for s, p in zip(robot.soles, places, strict=True)])
        self.soles = Polygon([(a - x, b - y) for a, b, _ in corners.tolist()])  # about the CoM
        self.reach = Reach.of(robot)
        aside = self.reach.far - robot.stance_width
        self.steps = Polygon([(a, b) for a in (-self.reach.backward, self.reach.forward) for b in (-aside, aside)])
        self.omega, self.delay = robot.omega, world.delay

    def at(self, direction: float) -> tuple[float, float]:
        """Without and with a step [m/s], pushed in a direction [deg]."""
        edge, length = ray(self.soles, direction), ray(self.steps, direction)
        time = self.delay + max(self.reach.shortest, length / self.reach.speed)
        still = pendulum.no_step_ceiling(edge, self.omega)
        return still, pendulum.step_ceiling(edge, self.omega, length, time)


def ray(polygon: Polygon, direction: float) -> float:
    """How far it is from the origin, which is inside, to the border of a polygon in a direction [deg]."""
    dx, dy = math.cos(math.radians(direction)), math.sin(math.radians(direction))
    ways = [math.inf]
    for px, py, nx, ny, _ in polygon.edges:
        closing = -(nx * dx + ny * dy)
        if closing > 1e-12:
            ways.append((-nx * px - ny * py) / closing)
    return max(0.0, min(ways))
