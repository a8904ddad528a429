"""The path of a swinging sole: a quintic in the plane to a landing place that may move; lift and soft landing above."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.types import Array, FootReference

LATEST_CHANGE = 0.06  # before landing the target is no longer moved [s]
LANDING_SPEED = 0.35  # downward at touch-down, and afterwards until the ground is found [m/s]


class Swing:
    """From the sole's pose at lift-off to a target pose in ``duration`` seconds; ``retarget`` may move both."""

    def __init__(self, start: float, duration: float, position: Array, rotation: Array, clearance: float) -> None:
        self.start, self.duration = start, duration
        self.clearance = clearance
        self.position, self.velocity, self.acceleration = position.copy(), np.zeros(3), np.zeros(3)
        self.origin, self.rotation = position.copy(), rotation.copy()
        self.target, self.target_rotation = position.copy(), rotation.copy()
        self._time = start

    @property
    def end(self) -> float:
        return self.start + self.duration

    def retarget(self, position: Array, rotation: Array, end: float) -> None:
        """Move the landing place and time; too late changes are left out."""
        if self.end - self._time > LATEST_CHANGE:
            self.target = np.array(position, dtype=float)
            self.target_rotation = rotation
            self.duration = end - self.start

    def sample(self, time: float) -> FootReference:
        """The reference at ``time``; the horizontal state is integrated: a moved target bends the path smoothly."""
        dt = max(0.0, time - self._time)
        self._time = time
        left = max(self.end - time, 1e-3)
        for axis in range(2):
            self.position[axis], self.velocity[axis], self.acceleration[axis] = _quintic_step(
                self.position[axis], self.velocity[axis], self.acceleration[axis], self.target[axis], left + dt, dt
            )
        share = min(1.0, max(0.0, (time - self.start) / self.duration))
        self._lift(share, time)
        smooth = share * share * (3 - 2 * share)
        turn = pin.log3(self.rotation.T @ self.target_rotation)
        rotation = self.rotation @ pin.exp3(smooth * turn)
        spin = 6 * share * (1 - share) / self.duration
        angular = self.rotation @ (spin * turn)
        velocity = np.concatenate([self.velocity, angular])
        acceleration = np.concatenate([self.acceleration, np.zeros(3)])
        return FootReference(self.position.copy(), rotation, velocity, acceleration)

    def _lift(self, share: float, time: float) -> None:
        """Height over the line from lift-off to landing: rises fast, comes down slowly; then seeks the ground."""
        base = self.origin[2] + (self.target[2] - self.origin[2]) * share
        slope = (self.target[2] - self.origin[2]) / self.duration
        if share >= 1.0:
            late = time - self.end
            self.position[2] = self.target[2] - LANDING_SPEED * late
            self.velocity[2], self.acceleration[2] = -LANDING_SPEED, 0.0
            return
        # sin² over a warped phase: the peak comes early, the landing is soft.
        phase = math.pi * share**0.8
        rate = math.pi * 0.8 * max(share, 1e-3) ** -0.2 / self.duration
        self.position[2] = base + self.clearance * math.sin(phase) ** 2
        self.velocity[2] = slope + self.clearance * math.sin(2 * phase) * rate
        self.acceleration[2] = 2 * self.clearance * math.cos(2 * phase) * rate**2


def _quintic_step(p: float, v: float, a: float, goal: float, time: float, dt: float) -> tuple[float, float, float]:
    """One step of length ``dt`` along the quintic from (p, v, a) to (goal, 0, 0) in ``time``."""
    if time <= dt:
        return goal, 0.0, 0.0
    T = time
    d = goal - p
    c3 = (20 * d - 12 * v * T - 3 * a * T**2) / (2 * T**3)
    c4 = (-30 * d + 16 * v * T + 3 * a * T**2) / (2 * T**4)
    c5 = (12 * d - 6 * v * T - a * T**2) / (2 * T**5)
    t = dt
    return (
        p + v * t + a * t**2 / 2 + c3 * t**3 + c4 * t**4 + c5 * t**5,
        v + a * t + 3 * c3 * t**2 + 4 * c4 * t**3 + 5 * c5 * t**4,
        a + 6 * c3 * t + 12 * c4 * t**2 + 20 * c5 * t**3,
    )
