"""The posture of a robot's clip at any time: smooth in position, speed and acceleration."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

SMOOTH = 0.04  # standard deviation of the filter over time [s]: recorded accelerations are noise above 4 Hz
OFF_STOP = 0.03  # joints are not wanted nearer to their stops [rad]: there limits would have to be kept in every tick


class PosturePlayer:
    """``follows`` are the joints above the legs; others have the nominal posture. A clip begins again at its end."""

    def __init__(self, clip: RobotClip, robot: Robot) -> None:
        legs = {k for f in robot.sole_frames for k in robot.model.supports[robot.model.frames[f].parentJoint]}
        self.nominal = robot.posture
        self.follows = np.array([k not in legs for k in range(2, robot.model.njoints)])
        room = np.minimum(OFF_STOP, 0.1 * (robot.upper - robot.lower))
        q = np.clip(clip.q[:, 7:], robot.lower + room, robot.upper - room)
        q = gaussian_filter1d(q, SMOOTH * clip.rate, axis=0, mode="nearest")
        q[:, ~self.follows] = robot.posture[~self.follows]
        self.duration = max(clip.duration, 1.0 / clip.rate)
        if len(q) < 2:
            q = np.repeat(q[:1], 2, axis=0)
        spline = CubicSpline(np.arange(len(q)) / clip.rate, q, bc_type="clamped")
        self._rate, self._c = clip.rate, np.ascontiguousarray(np.moveaxis(spline.c, 1, 0))  # (pieces, 4, n)

    def turn(self, time: float) -> int:
        """How often the clip has ended by this time [s]."""
        return int(time // self.duration)

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of all joints, a time [s] after the clip began (n,)."""
        time %= self.duration
        piece = min(int(time * self._rate), len(self._c) - 1)
        a, b, c, d = self._c[piece]
        s = time - piece / self._rate
        return ((a * s + b) * s + c) * s + d, (3 * a * s + 2 * b) * s + c, 6 * a * s + 2 * b
