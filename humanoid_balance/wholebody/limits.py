"""Limits of the joints as bounds that never contradict each other.

Position, velocity and acceleration are bounds on joint acceleration.

Where a joint will be in the horizon T, q + v T, it may not be faster than it can brake before its end stop,

    v_up = min(v_max, sqrt(2 d (q_max - q - v T)))     v_low = -min(v_max, sqrt(2 d (q + v T - q_min)))

with the braking deceleration d and no room counting as zero. The bounds on its acceleration lead to these speeds in T:

    (v_low - v) / T <= a <= (v_up - v) / T             both clipped to +-a_max

A joint that takes its upper bound all the way brakes with d and comes to rest at its end stop, not beyond. As
v_low <= 0 <= v_up the interval is never empty: at or beyond its end stop a joint may only brake or turn back.
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
        twice = 2 * BRAKING * robot.acceleration_limit  # 2 d
        self._ends = np.stack([-robot.lower, robot.upper]) * twice
        self._towards = np.stack([-twice, twice])
        self._v_max = robot.velocity_limit
        share = 1 / (HORIZON * robot.acceleration_limit)
        self._share = np.stack([-share, share])
        self._work, self._ahead, self._slow = np.zeros((2, robot.n)), np.zeros(robot.n), np.zeros(robot.n)

    def shares(self, q: Array, v: Array, out: Array) -> None:
        """Lowest and highest acceleration, as shares of a_max, at position ``q`` and velocity ``v`` into (2, n)."""
        work, ahead, slow = self._work, self._ahead, self._slow
        np.multiply(v, HORIZON, out=ahead)
        ahead += q
        np.multiply(self._towards, ahead, out=work)
        np.subtract(self._ends, work, out=work)  # 2 d times the room to each end stop
        np.maximum(work, 0.0, out=work)
        np.sqrt(work, out=work)
        np.minimum(work, self._v_max, out=work)  # allowed speed towards each end stop
        work *= self._share
        np.multiply(v, self._share[1], out=slow)
        work -= slow
        np.maximum(work, -1.0, out=work)
        np.minimum(work, 1.0, out=out)
