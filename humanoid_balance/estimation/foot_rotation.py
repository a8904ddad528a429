"""Foot-rotation indicator (Goswami; Yin Y0): where the ground would have to push to keep a tilting foot still.

The wrench that the rest of the body needs from a foot at rest is the wrench of the ground minus what accelerates the
foot itself; its moment-free point is the FRI. It equals the ZMP while the feet are still and leaves the support
polygon when a foot starts to roll over its edge.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from humanoid_balance.estimation.sole import Sole
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

Floats = list[float]


class FootInertia:
    """The rigid foot behind one sole, and the wrench that its motion takes."""

    def __init__(self, robot: Robot, side: int, span: int = 10) -> None:
        model = robot.model
        frame = model.frames[robot.sole_frames[side]]
        inertia = model.inertias[frame.parentJoint]
        self.mass = float(inertia.mass)
        self._centre: Array = frame.placement.actInv(inertia.lever)  # in the sole frame
        turn = frame.placement.rotation
        self._inertia: Array = turn.T @ inertia.inertia @ turn
        self._twists: deque[Floats] = deque(maxlen=span + 1)

    def remember(self, twist: Floats) -> None:
        """Keep the sole's twist; the acceleration is its mean over the last ten samples."""
        self._twists.append(twist)

    def wrench(self, sole: Sole, com: Floats, dt: float) -> tuple[Array, Array]:
        """Rate of the foot's momentum: force, and moment about the CoM, world axes [N, N m]."""
        rotation = np.array(sole.rows)
        arm = rotation @ self._centre
        old, new = np.array(self._twists[0]), np.array(self._twists[-1])
        change = (new - old) / (max(len(self._twists) - 1, 1) * dt)
        spin, rate = change[3:], new[3:]
        acceleration = change[:3] + _cross(spin, arm) + _cross(rate, _cross(rate, arm))
        inertia = rotation @ self._inertia @ rotation.T
        force = self.mass * acceleration
        place = np.array(sole.position) + arm - np.array(com)
        return force, _cross(place, force) + inertia @ spin + _cross(rate, inertia @ rate)


def _cross(a: Array, b: Array) -> Array:
    """Ten times faster than numpy's for single vectors."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))
