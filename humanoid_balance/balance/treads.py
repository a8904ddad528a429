"""Known ground: a height map, the places on it where a whole sole fits, and the steps that lead over them.

A step that the gait wants is moved along the way to the nearest place where the sole lies flat. The DCM that it should
leave behind follows from the places after it, from the last one, which is left as in the nominal gait, back to the next
(Englsberger, Ott, Albu-Schäffer, T-RO 2015; the same recursion as for footstep plans):

    c_k = u_k + (c_(k+1) - u_k) / G          G = exp(omega T)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_balance.balance.gait import Step
from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Flags, HeightMap

MARGIN = 0.012  # ground around a sole that has to be there as well [m]: odometry and a cell of the map ...
AMPLE, DETOUR = 0.035, 0.06  # ... and as much as there should be, if it is no more than so much out of the way [m]
FLAT = 0.008  # a sole lies on ground that is off its plane by less [m]
STEEPEST = 0.45  # slope on which a sole is set down [1]: 24 degrees, friction 0.45
SEARCH, GRAIN = 0.30, 0.01  # how far before and behind the wanted place, and how finely [m]
HIGHEST = 0.30  # of a step up or down [CoM heights]
STAIR = 0.03  # and from which on it is one [CoM heights]
MOVED = 0.005  # a place that was adapted by less is the same [m]
PROGRESS = 0.5  # least share of its length that a step is shortened to while there is another place: no marking time
HORIZON = 3  # steps that are looked ahead
SHAPE = (7, 3)  # points of a sole along and across that are looked at


@dataclass(frozen=True, slots=True)
class Tread:
    """A place for a sole: its middle, world [m], and the normal of the ground (3,)."""

    x: float
    y: float
    z: float
    normal: Array


class Treads:
    """Of one robot on one map."""

    def __init__(self, robot: Robot, heights: HeightMap) -> None:
        self.robot, self.map = robot, heights
        self.highest = HIGHEST * robot.com_height
        self.stair = STAIR * robot.com_height
        low, high = robot.soles[0][:, :2].min(axis=0), robot.soles[0][:, :2].max(axis=0)
        half = (high - low) / 2
        self._points = _grid(half + MARGIN)  # of a sole and of what is around it (k, 2)
        self._ample = _grid(half + AMPLE)
        offsets = np.arange(0.0, SEARCH + GRAIN / 2, GRAIN)
        self._offsets = np.concatenate([offsets, -offsets[1:]])
        self._offsets = self._offsets[np.argsort(np.abs(self._offsets), kind="stable")]

    def heights(self, places: Array) -> Array:
        """Of the ground at places (..., 2), world; NaN where it is not known [m]."""
        grid, (x, y), cell = self.map.heights, self.map.origin, self.map.cell
        i = np.rint((places[..., 0] - x) / cell).astype(int)
        j = np.rint((places[..., 1] - y) / cell).astype(int)
        inside = (i >= 0) & (i < grid.shape[0]) & (j >= 0) & (j < grid.shape[1])
        found: Array = np.where(inside, grid[np.clip(i, 0, len(grid) - 1), np.clip(j, 0, grid.shape[1] - 1)], np.nan)
        return found

    def nearest(
        self, place: Point, yaw: float, allowed: Callable[[float], bool] = lambda offset: True, level: float = math.nan
    ) -> Tread | None:
        """Where a whole sole fits next to a place, along its heading, None if nowhere.

        ``allowed``: of an offset along the heading [m]; ``level``: height from which no step is too high [m].
        """
        cos, sin = math.cos(yaw), math.sin(yaw)
        turn = np.array([[cos, -sin], [sin, cos]])
        middles = np.array(place) + self._offsets[:, None] * turn[:, 0]
        good, planes = self._flat(middles, turn, self._points)
        if not math.isnan(level):
            good &= np.abs(planes[:, 0] - level) < self.highest
        found = [k for k in np.flatnonzero(good).tolist() if allowed(float(self._offsets[k]))]
        if not found:
            return None
        ample = good & self._flat(middles, turn, self._ample)[0]
        most, here = abs(self._offsets[found[0]]) + DETOUR, planes[found[0], 0]
        same = [k for k in found if abs(self._offsets[k]) <= most and abs(planes[k, 0] - here) < self.stair]
        k = next((k for k in same if ample[k]), found[0])
        z, along, across = planes[k].tolist()
        normal = np.array([-cos * along + sin * across, -sin * along - cos * across, 1.0])
        return Tread(float(middles[k, 0]), float(middles[k, 1]), z, normal / np.linalg.norm(normal))

    def _flat(self, middles: Array, turn: Array, points: Array) -> tuple[Flags, Array]:
        """Of places (n, 2) those with ground like a plane, and height in the middle, slope along and across (n, 3)."""
        design = np.column_stack([np.ones(len(points)), points])
        heights = self.heights(middles[:, None, :] + points.dot(turn.T))
        planes: Array = heights.dot(np.linalg.pinv(design).T)
        off = np.abs(heights - planes.dot(design.T)).max(axis=1)
        flat: Flags = (off < FLAT) & (np.hypot(planes[:, 1], planes[:, 2]) < STEEPEST)
        return flat, planes

    def highest_between(self, start: Point, end: Point, yaw: float) -> float:
        """Highest ground that is known under a sole on its way [m]."""
        cos, sin = math.cos(yaw), math.sin(yaw)
        sole = self._points.dot(np.array([[cos, sin], [-sin, cos]]))
        way = np.linspace(start, end, 11)
        return float(np.nanmax(self.heights(way[:, None, :] + sole), initial=-math.inf))


def _grid(half: Array) -> Array:
    """Points of a rectangle (k, 2)."""
    along, across = (np.linspace(-h, h, n) for h, n in zip(half, SHAPE, strict=True))
    return np.stack(np.meshgrid(along, across, indexing="ij"), axis=-1).reshape(-1, 2)


class Path:
    """The next steps over treads, chosen while both feet stand and kept while a foot swings."""

    def __init__(self, treads: Treads, longest: float) -> None:
        self.treads, self.longest = treads, longest
        self.next: Tread | None
        self.step: Step | None  # the nominal one that was chosen
        self.steep: bool  # the next steps take stairs: they want their time
        self.moved: bool  # the next step is not where the gait wants it
        self.forget()

    def forget(self) -> None:
        """The next step is none of a velocity's."""
        self.next = self.step = None
        self.steep = self.moved = False

    def choose(
        self, stance: Point, yaw: float, omega: float, gait: Callable[[int], Step], leaves: Point | None = None
    ) -> Step:
        """The step onto the nearest tread, and what the DCM needs to be for those after it.

        ``gait``: the nominal steps, the next first, each seen from the other foot; ``stance``: middle of the sole that
        stands, ``leaves``: of the other one.
        """
        first = gait(0)
        grown = math.exp(omega * first.time)
        level = float(self.treads.heights(np.array(stance)))
        foot, turned, steps = stance, yaw, []
        self.next, self.steep = None, False
        for k in range(HORIZON):
            step = gait(k)
            tread = self._onto(foot, turned, step, level)
            turned = turned + step.turn
            if tread is None:
                place = _placed(foot, turned - step.turn, step.place)
            else:
                self.steep = self.steep or abs(tread.z - level) > self.treads.stair
                place, level = (tread.x, tread.y), tread.z
            if k == 0:
                self.next = tread
                if tread is not None and leaves is not None:
                    behind = float(self.treads.heights(np.array(leaves)))
                    self.steep = self.steep or abs(tread.z - behind) > self.treads.stair
            steps.append((place, turned, step))
            foot = place
        (x, y), turned, step = steps[-1]
        cx, cy = _placed((x, y), turned - step.turn, step.offset)
        for (ux, uy), _, _ in reversed(steps[:-1]):
            cx, cy = ux + (cx - ux) / grown, uy + (cy - uy) / grown
        (ux, uy), _, _ = steps[0]
        cos, sin = math.cos(yaw), math.sin(yaw)

        def local(dx: float, dy: float) -> Point:
            return cos * dx + sin * dy, cos * dy - sin * dx

        place = local(ux - stance[0], uy - stance[1])
        self.moved = math.hypot(place[0] - first.place[0], place[1] - first.place[1]) > MOVED
        self.step = Step(first.time, place, first.turn, local(cx - ux, cy - uy))
        return self.step

    def kept(self, place: Point, yaw: float) -> Tread | None:
        """Next to a place that was adapted, on the tread that was chosen; None if none was."""
        chosen = self.next
        if chosen is None or math.hypot(place[0] - chosen.x, place[1] - chosen.y) < MOVED:
            return chosen
        found = self.treads.nearest(place, yaw)
        if found is None or abs(found.z - chosen.z) > self.treads.stair:
            return chosen
        self.next = found
        return found

    def _onto(self, foot: Point, yaw: float, step: Step, level: float) -> Tread | None:
        """The nearest tread to where a step would end, within what a leg can step; one that gets on, if there is."""
        x, y = step.place
        place, turned = _placed(foot, yaw, (x, y)), yaw + step.turn

        def gets_on(offset: float) -> bool:
            return PROGRESS * x * x <= x * (x + offset) and abs(x + offset) <= self.longest

        found = self.treads.nearest(place, turned, gets_on, level)
        return found or self.treads.nearest(place, turned, lambda offset: abs(x + offset) <= self.longest, level)


def _placed(foot: Point, yaw: float, place: Point) -> Point:
    """A place seen from a foot, in the world."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    return foot[0] + cos * place[0] - sin * place[1], foot[1] + sin * place[0] + cos * place[1]
