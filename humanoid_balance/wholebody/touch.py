"""A planned contact beside the soles, as the QP sees it in a tick.

A point (a hand on a rail) does not move and takes a force: three rows in the axes of what is touched, the last one its
normal, as the reference says. It may turn, as a hand on a rail does. A flat one (a knee, a forearm on the ground) is
held like a sole: six rows in the axes of the surface itself.

What is touched is fixed in the world, and no sensor tells how hard: so the surface is held where it was planned,

    acceleration = k² (p* - p) - 2 k v,    2 k = CONTACT_DAMPING
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.robot.surface import Surface
from humanoid_balance.types import Array, PlannedContact
from humanoid_balance.wholebody import contact

LOCAL = pin.ReferenceFrame.LOCAL
FLAT_ROWS, POINT_ROWS = 6, 3


class Touch:
    """Jacobian, drift and wanted acceleration of a contact, in its axes; see ``terms.Frame``."""

    def __init__(self, surface: Surface, planned: PlannedContact, damping: float) -> None:
        self.surface, self.rows = surface, FLAT_ROWS if planned.flat else POINT_ROWS
        self._damping = damping
        self.J = np.zeros((self.rows, 0))
        self.drift, self.rest = np.zeros(self.rows), np.zeros(self.rows)

    def update(self, model: pin.Model, data: pin.Data, v: Array, base: Array, planned: PlannedContact) -> None:
        """At the state that ``data`` has; its positions are from the ``base`` [m]."""
        joint, inside = self.surface.joint, self.surface.placement
        self.placement = place = data.oMi[joint] * inside
        J = pin.getFrameJacobian(model, data, joint, inside, LOCAL)
        drift = pin.getFrameClassicalAcceleration(model, data, joint, inside, LOCAL).vector
        self.position = place.translation + base  # world [m]
        self.axes = place.rotation if planned.flat else axes_of(planned.normal)  # of the rows, in the world (3, 3)
        if planned.flat:
            self.J, self.drift = J, drift
        else:
            turn = self.axes.T.dot(place.rotation)
            self.J, self.drift = turn.dot(J[:3]), turn.dot(drift[:3])
        self.rest = self.J.dot(v) * -self._damping
        self.rest[:3] += (self._damping / 2) ** 2 * self.axes.T.dot(planned.position - self.position)

    def world_wrench(self, wrench: Array) -> Array:
        """Force and moment about ``position``, world axes (6,), of rows (3,) or (6,)."""
        out = np.zeros(6)
        out[:3] = self.axes.dot(wrench[:3])
        if self.rows == FLAT_ROWS:
            out[3:] = self.axes.dot(wrench[3:])
        return out


def surface_of(robot: Robot, name: str) -> Surface:
    for surface in robot.contacts:
        if surface.name == name:
            return surface
    known = ", ".join(surface.name for surface in robot.contacts)
    raise ValueError(f"planned contact '{name}': the robot has no such surface; it has: {known}")


def axes_of(normal: Array) -> Array:
    """Two tangents and the normal as columns (3, 3), right-handed; the first lies as near to world x as it can."""
    n = normal / np.linalg.norm(normal)
    along = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
    t = along - n * n.dot(along)
    t /= np.linalg.norm(t)
    return np.stack([t, np.cross(n, t), n], axis=1)


def cone(surface: Surface, planned: PlannedContact, margin: float) -> Array:
    """Rows of the wrench cone; the last one is the normal force."""
    friction = surface.friction if planned.friction is None else planned.friction
    if planned.flat:
        return contact.wrench_cone(surface.corners, friction, margin)
    return contact.friction_cone(friction)
