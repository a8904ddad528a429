"""Joint position, velocity and acceleration limits as bounds on joint acceleration that never contradict each other.

A joint may not be faster than it can brake before its end stop,

    v_up = min(v_max, sqrt(2 d (q_max - q)))         v_low = -min(v_max, sqrt(2 d (q - q_min)))

with the braking deceleration d, and the bounds on its acceleration lead to these speeds within the horizon T:

    (v_low - v) / T <= a <= (v_up - v) / T           both clipped to +-a_max

v_low <= 0 <= v_up, so the interval is never empty: at or beyond its end stop a joint may only brake or turn back.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

HORIZON = 0.02  # T [s]; some ticks long, so that a limit is approached without a jump of torque
BRAKING = 0.2  # d as a share of the acceleration limit; the rest is reserve for gravity and the other tasks


class JointLimits:
    """Bounds on joint acceleration from position, velocity and acceleration limits."""

    def __init__(self, robot: Robot) -> None:
        n = robot.n
        self.q_min, self.q_max = robot.lower.copy(), robot.upper.copy()
        self.v_max, self.a_max = robot.velocity_limit.copy(), robot.acceleration_limit.copy()
        self._brake = 2 * BRAKING * self.a_max  # 2 d
        self._low_high = np.zeros((2, n))  # room to each end stop, then speed, then acceleration
        self._ends = np.stack([-self.q_min, self.q_max])
        self._sign = np.array([[-1.0], [1.0]])

    def bounds(self, q: Array, v: Array) -> Array:
        """Lowest and highest joint acceleration at position ``q`` and velocity ``v`` (2, n) [rad/s²]."""
        bounds = self._low_high
        np.multiply(self._sign, q, out=bounds)
        np.subtract(self._ends, bounds, out=bounds)  # room [rad]
        np.maximum(bounds, 0.0, out=bounds)
        bounds *= self._brake
        np.sqrt(bounds, out=bounds)
        np.minimum(bounds, self.v_max, out=bounds)  # allowed speed towards each end stop
        bounds *= self._sign
        bounds -= v
        bounds /= HORIZON
        np.minimum(np.maximum(bounds, -self.a_max, out=bounds), self.a_max, out=bounds)
        return bounds
