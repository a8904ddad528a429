"""What lies on the ground, as boxes that do not move: one description for all simulators and the truth.

The floor is level where the robot starts. A ground that goes below it lowers the plane, and boxes make up the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_balance.plants.world import Fixture, World
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, HeightMap

BEGIN = 1.0  # stairs and slopes begin so far ahead of the start [m]
FLIGHT = 5  # steps up, and as many down
LANDING = 1.2  # length of the level ground on top [m]
WIDTH = 4.0  # of all of them [m]
THICK = 0.5  # of the boards of a slope [m]
RAMP = 3.0  # length of a slope, up and down each, along it [m]
HOLE = 0.45  # length of a hole: a whole sole falls into it [m]
PLATFORM = 20.0  # length of the ground before a step down [m]
FIELD = 20.0  # length of the tiles [m]
TILES = 2.4  # their width [m]
BLOCK_HEIGHT, BLOCK_SIZE = 0.02, 0.20  # of a block of the rough field [m]
BLOCKS = 9  # along each side of it
CELL = 0.01  # of the map that a robot with perfect eyes would have [m] ...
SEEN_BEHIND, SEEN_AHEAD, SEEN_ASIDE = 1.0, 12.0, 1.2  # ... and how far it reaches [m]


@dataclass(frozen=True)
class Terrain:
    """Boxes on a plane. ``floor``: height of the plane [m]; ``ramps``: begin, end and slope of tilted ground."""

    boxes: tuple[Fixture, ...] = ()
    floor: float = 0.0
    slope: float = 0.0  # of the plane, rising forward [rad]
    ramps: tuple[tuple[float, float, float, float], ...] = ()  # from x to x, heights there [m]

    def height(self, x: float, y: float) -> float:
        """Of the ground at a place [m]."""
        return float(self.heights(np.array([x]), np.array([y]))[0, 0])

    def heights(self, x: Array, y: Array) -> Array:
        """Of the ground on a grid (len(x), len(y)) [m]."""
        if self.slope:
            return np.repeat(x[:, None] * math.tan(self.slope), len(y), axis=1)
        heights = np.full((len(x), len(y)), self.floor)
        for box in self.boxes:
            (bx, by, bz), (length, width, high) = box.position, box.size
            if not any(box.rpy):
                covered = np.ix_(np.abs(x - bx) <= length / 2, np.abs(y - by) <= width / 2)
                heights[covered] = np.maximum(heights[covered], bz + high / 2)
        for begin, end, low, high in self.ramps:
            on = (begin <= x) & (x <= end)
            ramp = low + (high - low) * (x[on] - begin) / (end - begin)
            heights[on] = np.maximum(heights[on], ramp[:, None])
        return heights

    def seen(self) -> HeightMap:
        """The map that perfect eyes would make of it from the start."""
        x = np.arange(-SEEN_BEHIND, SEEN_AHEAD, CELL)
        y = np.arange(-SEEN_ASIDE, SEEN_ASIDE, CELL)
        return HeightMap((float(x[0]), float(y[0])), CELL, self.heights(x, y))


def terrain(world: World, robot: Robot) -> Terrain:
    """What the ``ground`` of a world is."""
    if world.ground in MAKERS:
        return MAKERS[world.ground](world, robot)
    if world.drop:
        return _drop(world, robot)
    return Terrain(slope=math.radians(world.tilt))


def _slab(name: str, begin: float, end: float, top: float, floor: float, world: World, width: float = WIDTH) -> Fixture:
    """Ground from x to x [m], level, whose top is at a height above the floor."""
    middle, size = ((begin + end) / 2, 0.0, (top + floor) / 2), (end - begin, width, top - floor)
    return Fixture(name, middle, size, friction=world.friction)


def _stairs(world: World, robot: Robot) -> Terrain:
    """Up, a landing, and down."""
    boxes, down = [], BEGIN + FLIGHT * world.tread + LANDING
    for k in range(FLIGHT):
        top = (k + 1) * world.rise
        begin = BEGIN + k * world.tread
        end = down + (FLIGHT - 1 - k) * world.tread
        boxes.append(_slab(f"stair_{k}", begin, end, top, top - world.rise, world))
    return Terrain(tuple(boxes))


def _tiles(world: World, robot: Robot) -> Terrain:
    """Squares of random heights, plus or minus ``rise``; level where the robot starts."""
    rng, floor, size = np.random.default_rng(world.seed), -world.rise, world.tread
    boxes = [_slab("start", -2.0, BEGIN / 2, 0.0, floor, world)]
    for i in range(round(FIELD / size)):
        for j in range(-round(TILES / size / 2), round(TILES / size / 2) + 1):
            top = float(rng.uniform(-world.rise, world.rise))
            if top - floor > 1e-4:
                middle = BEGIN / 2 + (i + 0.5) * size, j * size, (top + floor) / 2
                boxes.append(Fixture(f"tile_{i}_{j}", middle, (size, size, top - floor), friction=world.friction))
    return Terrain(tuple(boxes), floor)


def _drop(world: World, robot: Robot) -> Terrain:
    """The ground ends and goes on lower."""
    if not world.drop:
        return Terrain()
    platform = _slab("platform", world.drop_at - PLATFORM, world.drop_at, 0.0, -world.drop, world, 2 * PLATFORM)
    return Terrain((platform,), -world.drop)


def _hole(world: World, robot: Robot) -> Terrain:
    """The ground is missing over the length of a sole."""
    if not world.drop:
        return Terrain()
    before = _slab("before", world.drop_at - PLATFORM, world.drop_at, 0.0, -world.drop, world, 2 * PLATFORM)
    behind = _slab("behind", world.drop_at + HOLE, world.drop_at + PLATFORM, 0.0, -world.drop, world, 2 * PLATFORM)
    return Terrain((before, behind), -world.drop)


def _slope(world: World, robot: Robot) -> Terrain:
    """Level, a slope, level on top, and down again; a negative one goes down first."""
    angle = math.radians(world.slope)
    run, rise = RAMP * math.cos(angle), RAMP * math.sin(angle)
    floor = min(0.0, rise)
    top, down = BEGIN + run, BEGIN + run + LANDING
    boxes = []
    if rise < 0.0:  # a plateau at the start, and behind
        for name, begin, end in (("start", -3.0, BEGIN), ("end", down + run, down + run + 5.0)):
            boxes.append(_slab(name, begin, end, 0.0, floor, world))
    else:
        boxes.append(_slab("top", top, down, rise, 0.0, world))
    # A board whose upper face goes from one end of the slope to the other.
    for name, begin, low, tilt in (("up", BEGIN, 0.0, angle), ("down", down, rise, -angle)):
        along, normal = (math.cos(tilt), math.sin(tilt)), (-math.sin(tilt), math.cos(tilt))
        x = begin + RAMP / 2 * along[0] - THICK / 2 * normal[0]
        z = low + RAMP / 2 * along[1] - THICK / 2 * normal[1]
        boxes.append(Fixture(name, (x, 0.0, z), (RAMP, WIDTH, THICK), (0.0, -tilt, 0.0), world.friction))
    return Terrain(tuple(boxes), floor, ramps=((BEGIN, top, 0.0, rise), (down, down + run, rise, 0.0)))


def _rough(world: World, robot: Robot) -> Terrain:
    """A field of blocks up to 2 cm high, each of its own height; flat where the robot stands at the start."""
    heights = np.random.default_rng(0).uniform(0.0, BLOCK_HEIGHT, (BLOCKS, BLOCKS))
    edge = np.abs(robot.soles[..., :2]).max(axis=(0, 1))
    free = edge + np.array([0.05, 0.05 + robot.stance_width / 2])
    slope, boxes = math.radians(world.tilt), []
    for i, j in np.ndindex(BLOCKS, BLOCKS):
        x, y = (BLOCK_SIZE * (k - BLOCKS // 2) for k in (i, j))
        if abs(x) - BLOCK_SIZE / 2 < free[0] and abs(y) - BLOCK_SIZE / 2 < free[1]:
            continue
        height = float(heights[i, j])
        place = (
            x * math.cos(slope) - height / 2 * math.sin(slope),
            y,
            x * math.sin(slope) + height / 2 * math.cos(slope),
        )
        size = 0.98 * BLOCK_SIZE, 0.98 * BLOCK_SIZE, height
        boxes.append(Fixture(f"block_{i}_{j}", place, size, (0.0, -slope, 0.0), world.friction))
    return Terrain(tuple(boxes), slope=slope)


MAKERS: dict[str, Callable[[World, Robot], Terrain]] = {
    "stairs": _stairs, "tiles": _tiles, "drop": _drop, "hole": _hole, "slope": _slope, "rough": _rough,
}  # fmt: skip


@dataclass(frozen=True)
class Cart:
    """A box of a tenth of the robot's mass on four castors without friction, at arm's length in front."""

    ahead: float  # where it stands at the start [m]
    mass: float
    height: float  # [m]
    box: tuple[float, float, float]  # its size [m]
    castor: float = 0.03  # radius [m]

    @property
    def inertia(self) -> tuple[float, float, float]:
        length, width, _ = self.box
        sides = ((width, self.height), (length, self.height), (length, width))
        x, y, z = (self.mass * (a * a + b * b) / 12 for a, b in sides)
        return x, y, z

    @property
    def castors(self) -> tuple[tuple[float, float], ...]:
        """Their places below the box [m]."""
        x, y = (size / 2 - self.castor for size in self.box[:2])
        return (x, y), (x, -y), (-x, y), (-x, -y)


def cart_of(robot: Robot) -> Cart:
    height = 0.9 * robot.com_height
    return Cart(0.45 * robot.com_height + 0.25, robot.mass / 10, height, (0.4, 0.4, height - 0.06))
