"""One step of one foot: unload it, swing it, let it find the ground, load it again."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.balance.situation import LIGHT, Situation
from humanoid_balance.balance.swing import Rolled, Swing
from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SOLES, Array, Flags, Foothold, FootReference

UNLOAD, SWING, LOAD = "unload", "swing", "load"
LOAD_TIME = 0.04  # a landed foot takes its share of the weight over this time [s]: no jump of torque
EARLY = 0.45  # share of the swing before which a contact is the lift-off's, not the landing's: the foot is still rising
DEPTH = 0.006  # a landing is planned this far below the ground, in CoM heights: the foot is not late
LATE = 0.25  # so long after the planned landing the foot counts as down [s]: at the landing speed, 9 cm below


class StepCycle:
    """State of a step. ``update`` gives contacts, load limits and the foot's reference for this tick."""

    def __init__(self, robot: Robot, depth: float = DEPTH, touchdown: float = 0.0, scuff: float = 0.0) -> None:
        self.robot = robot
        self.phase = LOAD
        self.side = 0
        self.began = -math.inf
        self.swing: Swing | None = None
        self.clearance = robot.config.steps.clearance * robot.com_height  # [m]
        self.touchdown = touchdown  # [m/s]
        self.scuff = scuff  # a foot that should be high may touch the ground so long before it counts as down [s]
        self._touched = -math.inf  # since when it does [s]
        self.depth = depth  # a landing is planned this far below the ground, in CoM heights

    def begin(self, now: Situation, side: int, unload: float) -> None:
        self.phase, self.side, self.began, self.unload = UNLOAD, side, now.state.stamp, unload
        self.swing = None

    def lift(self, now: Situation, duration: float, heel_up: bool = False, higher: float = 0.0) -> None:
        """The foot leaves the ground; ``heel_up``: from its front edge; so much ``higher`` than over a floor [m]."""
        state, side = now.state, self.side
        self.phase, self.began = SWING, state.stamp
        position, rotation = state.sole_position[side], state.sole_rotation[side]
        rolled = None
        if heel_up:
            vx, vy = state.sole_velocity[side][:2].tolist()
            rolled = Rolled(float(self.robot.soles[side][:, 0].max()), (vx, vy))
        self.swing = Swing(state.stamp, duration, position, rotation, self.clearance + higher, self.touchdown, rolled)

    def retarget(
        self, now: Situation, place: Point, yaw: float, left: float, height: float | None = None,
        normal: Array | None = None, put_off: bool = False,
    ) -> None:  # fmt: skip
        """Land with the sole's centre at ``place`` in ``left`` seconds; ``put_off``: later, however late that is said.

        Without a ``height`` [m] and a ``normal`` of the ground there, on the plane through the other sole.
        """
        assert self.swing is not None
        rotation = ground_rotation(now.ground if normal is None else normal, yaw)
        if height is None:
            nx, ny, nz = now.ground.tolist()
            x, y, z = now.state.sole_position[1 - self.side].tolist()
            height = z - (nx * (place[0] - x) + ny * (place[1] - y)) / max(nz, 0.5)
        centre = np.array((place[0], place[1], height - self.depth * now.height))
        centre -= rotation.dot(self.robot.sole_centres[self.side])
        self.swing.retarget(centre, rotation, now.state.stamp + left, put_off)

    @property
    def footholds(self) -> tuple[Foothold, ...]:
        """Where the swinging foot is going to land."""
        if self.phase != SWING or self.swing is None:
            return ()
        return (Foothold(SOLES[self.side], self.swing.target, self.swing.target_rotation, self.swing.end),)

    @property
    def under_way(self) -> tuple[float, float]:
        """Time since lift-off and until the planned landing; only while swinging [s]."""
        assert self.swing is not None
        return self._now - self.swing.start, self.swing.end - self._now

    @property
    def late(self) -> float:
        """How far below its landing place the foot is seeking the ground [m]."""
        return 0.0 if self.swing is None else self.swing.late

    @property
    def velocity(self) -> Point:
        """Of the swinging foot as it should be, world x y [m/s]."""
        assert self.swing is not None
        return self.swing.velocity

    def update(self, now: Situation) -> tuple[Flags, Array, tuple[FootReference | None, FootReference | None]]:
        """Contacts (2,), load limits (2,) and foot references; moves on from swing to load when the foot is down."""
        stamp, side = now.state.stamp, self.side
        self._now = stamp
        contact, load = np.array([True, True]), np.array([1.5, 1.5])
        feet: list[FootReference | None] = [None, None]
        if self.phase == SWING:
            assert self.swing is not None
            if not now.state.contact[side]:
                self._touched = stamp
            share = (stamp - self.swing.start) / self.swing.duration
            if (now.state.contact[side] and share > EARLY and not self._scuffs(stamp)) or stamp > self.swing.end + LATE:
                self.phase, self.began = LOAD, stamp
        if self.phase == UNLOAD:
            share = min(1.0, (stamp - self.began) / max(self.unload, 1e-3))
            load[side] = max(0.02, 0.7 * (1.0 - share))
        elif self.phase == SWING:
            assert self.swing is not None
            contact[side] = False
            feet[side] = self.swing.sample(stamp)
        elif stamp - self.began < LOAD_TIME:
            load[side] = 0.1 + 1.4 * (stamp - self.began) / LOAD_TIME
        return contact, load, (feet[0], feet[1])

    def _scuffs(self, stamp: float) -> bool:
        """The foot should be high above the ground that it has just touched: it goes on."""
        assert self.swing is not None
        return stamp - self._touched < self.scuff and self.swing.high

    def unloaded(self, now: Situation) -> bool:
        """Time to lift: the foot has been relieved, or carries nothing anyway."""
        if self.phase != UNLOAD:
            return False
        light = float(now.state.wrench[self.side, 2]) < LIGHT * self.robot.weight
        return light or now.state.stamp - self.began >= self.unload


def ground_rotation(normal: Array, yaw: float) -> Array:
    """A sole flat on the ground with its toes toward ``yaw``."""
    a, b, c = normal.tolist()
    size = math.sqrt(a * a + b * b + c * c)
    a, b, c = a / size, b / size, c / size  # z axis of the sole
    cos, sin = math.cos(yaw), math.sin(yaw)
    d, e, f = -c * sin, c * cos, a * sin - b * cos  # z x ahead
    size = math.sqrt(d * d + e * e + f * f)
    d, e, f = d / size, e / size, f / size  # y axis
    return np.array([[e * c - f * b, d, a], [f * a - d * c, e, b], [d * b - e * a, f, c]])
