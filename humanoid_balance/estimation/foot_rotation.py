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
        """Keep the sole's twist, its own axes; the acceleration is its mean change over the last ten samples."""
        self._twists.append(twist)

    def wrench(self, sole: Sole, com: Floats, dt: float) -> tuple[Array, Array]:
        """Rate of the foot's momentum: force, and moment about the CoM, world axes [N, N m]."""
        rotation, centre = np.array(sole.rows), self._centre
        old, new = np.array(self._twists[0]), np.array(self._twists[-1])
        change, middle = (new - old) / (max(len(self._twists) - 1, 1) * dt), 0.5 * (new + old)
        spin, rate = change[3:], new[3:]
        # In the sole's own axes, which turn: v' + w x v.
        acceleration = change[:3] + _cross(middle[3:], middle[:3]) + _cross(spin, centre)
        force = rotation @ (self.mass * (acceleration + _cross(rate, _cross(rate, centre))))
        moment = rotation @ (self._inertia @ spin + _cross(rate, self._inertia @ rate))
        place = np.array(sole.position) + rotation @ centre - np.array(com)
        return force, _cross(place, force) + moment


def _cross(a: Array, b: Array) -> Array:
    """Ten times faster than numpy's for single vectors."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))
