"""The path of a swinging sole: a quintic in the plane to a landing place that may move; lift and soft landing above."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.types import Array, FootReference

LATEST_CHANGE = 0.06  # before landing the target is no longer moved [s]
LANDING_SPEED = 0.35  # downward at touch-down, and afterwards until the ground is found [m/s]


@dataclass(frozen=True, slots=True)
class Rolled:
    """A sole at lift-off whose heel is up: heights are those of its front edge, and it goes on as it moved."""

    toe: float  # the front edge ahead of the sole's origin [m]
    velocity: tuple[float, float]  # in the plane, world x y [m/s]


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
        self._along = [(x, vx, 0.0), (y, vy, 0.0)]  # position, velocity, acceleration of both axes of the plane
        self._time = start

    @property
    def end(self) -> float:
        return self.start + self.duration

    @property
    def high(self) -> bool:
        """It should be half of its clearance above the ground where it lands, or higher."""
        share = (self._time - self.start) / self.duration
        return 0.0 < share < 1.0 and self._lift(share, self._time)[0] > self._goal[2] + self.clearance / 2

    @property
    def velocity(self) -> tuple[float, float]:
        """In the plane, world x y [m/s]."""
        return self._along[0][1], self._along[1][1]

    def retarget(self, position: Array, rotation: Array, end: float) -> None:
        """Move the landing place and time; too late changes are left out."""
        if self.end - self._time > LATEST_CHANGE:
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
        x, vx, ax = along_x = _quintic_step(*along_x, goal_x, left + dt, dt)
        y, vy, ay = along_y = _quintic_step(*along_y, goal_y, left + dt, dt)
        self._along = [along_x, along_y]
        share = min(1.0, max(0.0, (time - self.start) / self.duration))
        z, vz, az = self._lift(share, time)
        turn = pin.log3(self.rotation.T.dot(self.target_rotation))
        rotation = self.rotation.dot(pin.exp3(share * share * (3 - 2 * share) * turn))
        spin = 6 * share * (1 - share) / self.duration
        wx, wy, wz = self.rotation.dot(turn).tolist()
        wx, wy, wz = spin * wx, spin * wy, spin * wz
        if self._rolled is not None:
            ex, ey, ez = rotation[:, 0].tolist()
            z, vz = z - self._rolled.toe * ez, vz - self._rolled.toe * (wx * ey - wy * ex)
        return FootReference(
            position=np.array((x, y, z)),
            rotation=rotation,
            velocity=np.array((vx, vy, vz, wx, wy, wz)),
            acceleration=np.array((ax, ay, az, 0.0, 0.0, 0.0)),
        )

    def _lift(self, share: float, time: float) -> tuple[float, float, float]:
        """Height over the line from lift-off to landing: rises fast, comes down slowly; then seeks the ground."""
        goal = self._goal[2]
        if share >= 1.0:
            return goal - LANDING_SPEED * (time - self.end), -LANDING_SPEED, 0.0
        rise = goal - self._floor
        # sin² over a warped phase: the peak comes early, the landing is soft.
        phase = math.pi * share**0.8
        rate = math.pi * 0.8 * max(share, 1e-3) ** -0.2 / self.duration
        # share³ (1 - share) brings the foot down with a speed, so that the time of its landing is certain.
        down = self.touchdown
        return (
            self._floor
            + rise * share
            + self.clearance * math.sin(phase) ** 2
            + down * self.duration * share**3 * (1 - share),
            rise / self.duration + self.clearance * math.sin(2 * phase) * rate + down * share**2 * (3 - 4 * share),
            2 * self.clearance * math.cos(2 * phase) * rate**2 + down * share * (6 - 12 * share) / self.duration,
        )


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
