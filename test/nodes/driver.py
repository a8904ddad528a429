"""Drives a robot along corners by velocities, as a simple planner does: it looks at odometry and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

SQUARE = ((2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 0.0))  # [m]
FAST, TURN = 0.4, 0.5  # [m/s], [rad/s]
ARRIVED = 0.02  # [m]
SPEED, RATE = 1.0, 1.5  # velocity per distance that is left, turn per error of the heading [1/s]
ASTRAY = 0.3  # beyond this error of the heading it turns on the spot [rad]


@dataclass
class Driver:
    """``velocity`` once per look; None when the last corner is reached."""

    corners: list[tuple[float, float]] = field(default_factory=lambda: list(SQUARE))
    heading: float = 0.0  # of the leg that is driven [rad]

    def velocity(self, x: float, y: float, yaw: float) -> tuple[float, float, float] | None:
        """Forward, left, turn, from the place in odom."""
        while self.corners:
            dx, dy = self.corners[0][0] - x, self.corners[0][1] - y
            if math.hypot(dx, dy) > ARRIVED:
                break
            self.corners.pop(0)
        else:
            return None
        distance = math.hypot(dx, dy)
        if distance > 0.3:
            self.heading = math.atan2(dy, dx)
        error = math.remainder(self.heading - yaw, math.tau)
        turn = max(-TURN, min(TURN, RATE * error))
        if abs(error) > ASTRAY:
            return 0.0, 0.0, turn
        speed = min(FAST, SPEED * distance) / distance
        cos, sin = math.cos(yaw), math.sin(yaw)
        return speed * (cos * dx + sin * dy), speed * (cos * dy - sin * dx), turn
