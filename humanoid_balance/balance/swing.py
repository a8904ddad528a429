"""The path of a swinging sole: a quintic in the plane to a landing place that may move; lift and soft landing above."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.types import Array, FootReference

Point3 = tuple[float, float, float]

LATEST_CHANGE = 0.06  # before landing the target is no longer moved [s]
LANDING_SPEED = 0.35  # downward at touch-down, and afterwards until the ground is found [m/s]
HOLD = 0.2  # share of the swing in which a foot that goes up a stair only rises ...
LEAD = 0.5  # ... and share in which all of that rise happens: before the edge, or behind it
THERE = 0.15  # share in which one that goes down is over its place already: its heel gets over the edge as its toes
TIPPED = 0.7  # ... point down by this share of the slope of its way,
TIP, LEVELLED = (0.05, 0.55), (0.65, 1.0)  # from the first share on, level again after the last: slow ankles follow
LEVEL = 0.3  # a foot that goes up or down by less than this share of its clearance flies as over a floor
STOPS = 0.01  # a foot that waits for longer stops, also one that rolled off [s]


@dataclass(frozen=True, slots=True)
class Rolled:
    """A sole at lift-off whose heel is up: heights are those of its front edge, and it goes on as it moved."""

    toe: float  # the front edge ahead of the sole's origin [m]
    velocity: tuple[float, float]  # in the plane, world x y [m/s]


@dataclass(frozen=True, slots=True)
class Pitch:
    """Of a sole in the air, toes down, beyond what its path has anyway; rate and acceleration [rad, s]."""

    angle: float
    rate: float
    acceleration: float


class Swing:
    """From the sole's pose at lift-off to a target pose in ``duration`` seconds; ``retarget`` may move both."""

    def __init__(
        self, start: float, duration: float, position: Array, rotation: Array, clearance: float, touchdown: float = 0.0,
        rolled: Rolled | None = None,
    ) -> None:  # fmt: skip
        """``rolled``: how a foot leaves that stands on its front edge."""
        self.start, self.duration = start, duration
        self.clearance, self.touchdown = clearance, touchdown
        self.rotation, self.target_rotation = rotation.copy(), rotation
        self.target, self._rolled = position.copy(), rolled
        x, y, self._floor = position.tolist()
        self._goal = (x, y, self._floor)
        vx = vy = 0.0
        if rolled is not None:
            vx, vy = rolled.velocity
            self._floor += rolled.toe * float(rotation[2, 0])
        self._from = (x, y)
        self._along = [(x, vx, 0.0), (y, vy, 0.0)]  # position, velocity, acceleration of both axes of the plane
        self._time = start
        self.pitch: Pitch | None = None  # about the sole's origin; heights are those of its front edge then
        self.front = 0.0  # how far that is ahead of the origin [m]

    @property
    def end(self) -> float:
        return self.start + self.duration

    @property
    def high(self) -> bool:
        """It should be half of its clearance above the ground where it lands, or higher."""
        share = (self._time - self.start) / self.duration
        return 0.0 < share < 1.0 and self._lift(share, self._time)[0] > self._goal[2] + self.clearance / 2

    @property
    def late(self) -> float:
        """How far below its landing place it should be by now [m]."""
        return LANDING_SPEED * max(0.0, self._time - self.end)

    @property
    def velocity(self) -> tuple[float, float]:
        """In the plane, world x y [m/s]."""
        return self._along[0][1], self._along[1][1]

    def retarget(self, position: Array, rotation: Array, end: float, put_off: bool = False) -> None:
        """Move the landing place and time; too late changes are left out, unless the landing is ``put_off``."""
        if self.end - self._waits[1] - self._time > LATEST_CHANGE or (put_off and end > self.end):
            self.target, self.target_rotation = position, rotation
            x, y, z = position.tolist()
            if self._rolled is not None:
                z += self._rolled.toe * float(rotation[2, 0])
            self._goal = (x, y, z)
            self.duration = end - self.start

    def sample(self, time: float) -> FootReference:
        """The reference at ``time``; the horizontal state is integrated: a moved target bends the path smoothly."""
        dt = max(0.0, time - self._time)
        self._time = time
        left = max(self.end - time, 1e-3)
        goal_x, goal_y, _ = self._goal
        along_x, along_y = self._along
        wait, early = self._waits
        if time >= self.start + wait:
            left -= early
            self._along = [
                _quintic_step(*along_x, goal_x, left + dt, dt),
                _quintic_step(*along_y, goal_y, left + dt, dt),
            ]
        elif wait > STOPS:
            self._along = [(along_x[0], 0.0, 0.0), (along_y[0], 0.0, 0.0)]
        (x, vx, ax), (y, vy, ay) = self._along
        share = min(1.0, max(0.0, (time - self.start) / self.duration))
        z, vz, az = self._lift(share, time)
        turn = pin.log3(self.rotation.T.dot(self.target_rotation))
        rotation = self.rotation.dot(pin.exp3(share * share * (3 - 2 * share) * turn))
        spin = 6 * share * (1 - share) / self.duration
        wx, wy, wz = self.rotation.dot(turn).tolist()
        wx, wy, wz = spin * wx, spin * wy, spin * wz
        bend = 0.0
        if self.pitch is not None:
            level = float(rotation[2, 0])
            cos, sin = math.cos(self.pitch.angle), math.sin(self.pitch.angle)
            rotation = rotation.dot(np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]]))
            ux, uy, uz = rotation[:, 1].tolist()
            rate, bend = self.pitch.rate, self.pitch.acceleration
            wx, wy, wz = wx + rate * ux, wy + rate * uy, wz + rate * uz
            if self._rolled is None:
                z, vz = z + self.front * (level - float(rotation[2, 0])), vz + self.front * cos * rate
        if self._rolled is not None:
            ex, ey, ez = rotation[:, 0].tolist()
            z, vz = z - self._rolled.toe * ez, vz - self._rolled.toe * (wx * ey - wy * ex)
        reference = FootReference(
            position=np.array((x, y, z)),
            rotation=rotation,
            velocity=np.array((vx, vy, vz, wx, wy, wz)),
            acceleration=np.array((ax, ay, az, 0.0, 0.0, 0.0)),
        )
        if bend:
            reference.acceleration[3:] = bend * rotation[:, 1]
        return reference

    def tipped(self, time: float) -> float:
        """How far the toes of a foot that goes down a stair point down: its heel has to get over the edge [rad]."""
        x, y, z = self._goal
        fall = self._floor - z
        if fall <= 0.0:
            return 0.0
        steep = math.atan2(fall, max(math.hypot(x - self._from[0], y - self._from[1]), self.front))
        share = (time - self.start) / self.duration
        (begin, high), (low, end) = TIP, LEVELLED
        up, down = _minimum_jerk((share - begin) / (high - begin))[0], _minimum_jerk((share - low) / (end - low))[0]
        return TIPPED * self._steep**2 * steep * (up - down)

    def ahead(self, time: float) -> tuple[Point3, float]:
        """About where the origin of a sole without a pitch will be, and how far its toes point down [m, rad]."""
        later = time - self._time
        (x, vx, _), (y, vy, _) = self._along
        share = min(1.0, max(0.0, (time - self.start) / self.duration))
        z = self._lift(share, time)[0]
        turned = share * share * (3 - 2 * share)
        start, end = float(self.rotation[2, 0]), float(self.target_rotation[2, 0])
        down = start + turned * (end - start)
        if self._rolled is not None:
            z -= self._rolled.toe * down
        return (x + later * vx, y + later * vy, z), math.asin(max(-1.0, min(1.0, -down)))

    @property
    def _steep(self) -> float:
        """0 to 1: a foot that goes up or down by as much as its clearance or more takes a stair."""
        return min(1.0, max(0.0, (abs(self._goal[2] - self._floor) / self.clearance - LEVEL) / (1.0 - LEVEL)))

    @property
    def _waits(self) -> tuple[float, float]:
        """How long the foot stays over its place after lift-off, and how long before the landing it is there [s]."""
        hold = self._steep**2 * self.duration
        return (HOLD * hold, 0.0) if self._goal[2] > self._floor else (0.0, THERE * hold)

    def _rise(self, share: float) -> tuple[float, float, float]:
        """Share of the way up or down, and its derivatives: a foot that takes a stair rises first and sinks last."""
        steep = self._steep**2
        begin = 0.0 if self._goal[2] > self._floor else 1.0 - LEAD
        p, v, a = _minimum_jerk((share - begin) / LEAD)
        return share + steep * (p - share), 1.0 + steep * (v / LEAD - 1.0), steep * a / LEAD**2

    def _lift(self, share: float, time: float) -> tuple[float, float, float]:
        """Height over the line from lift-off to landing: rises fast, comes down slowly; then seeks the ground."""
        goal = self._goal[2]
        if share >= 1.0:
            return goal - LANDING_SPEED * (time - self.end), -LANDING_SPEED, 0.0
        rise = goal - self._floor
        up, up_rate, up_bend = self._rise(share)
        # sin² over a warped phase: the peak comes early, the landing is soft.
        phase = math.pi * share**0.8
        rate = math.pi * 0.8 * max(share, 1e-3) ** -0.2 / self.duration
        # share³ (1 - share) brings the foot down with a speed, so that the time of its landing is certain.
        down = self.touchdown
        return (
            self._floor
            + rise * up
            + self.clearance * math.sin(phase) ** 2
            + down * self.duration * share**3 * (1 - share),
            rise * up_rate / self.duration
            + self.clearance * math.sin(2 * phase) * rate
            + down * share**2 * (3 - 4 * share),
            rise * up_bend / self.duration**2
            + 2 * self.clearance * math.cos(2 * phase) * rate**2
            + down * share * (6 - 12 * share) / self.duration,
        )


def _minimum_jerk(share: float) -> tuple[float, float, float]:
    """From 0 to 1 and at rest at both ends; value and derivatives."""
    s = min(1.0, max(0.0, share))
    return s**3 * (10 - 15 * s + 6 * s * s), 30 * s * s * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)


def _quintic_step(p: float, v: float, a: float, goal: float, time: float, dt: float) -> tuple[float, float, float]:
    """One step of length ``dt`` along the quintic from (p, v, a) to (goal, 0, 0) in ``time``."""
    if time <= dt:
        return goal, 0.0, 0.0
    d, vT, aTT, cube = goal - p, v * time, a * time * time, 2 * time**3
    c3 = (20 * d - 12 * vT - 3 * aTT) / cube
    c4 = (-30 * d + 16 * vT + 3 * aTT) / (cube * time)
    c5 = (12 * d - 6 * vT - aTT) / (cube * time * time)
    t = dt
    return (
        p + t * (v + t * (a / 2 + t * (c3 + t * (c4 + t * c5)))),
        v + t * (a + t * (3 * c3 + t * (4 * c4 + t * (5 * c5)))),
        a + t * (6 * c3 + t * (12 * c4 + t * (20 * c5))),
    )
