"""The torque that is sent when no optimum exists or none was found within the bound on iterations."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array
from humanoid_balance.wholebody.terms import Terms

DAMPING = 5.0  # of joint velocities [1/s]


def brake(robot: Robot, terms: Terms, pushing: list[int]) -> tuple[Array, Array, Array]:
    """Carry the weight on what pushes and brake every joint, clipped to what the actuators can deliver.

    The wanted acceleration brakes joints and base, a = -k v; the wrenches are the smallest that give the base its six
    equations. Friction and centre of pressure are not guaranteed: this is the case in which they cannot be.
    Returns torque (n,), acceleration (nv,) and the wrenches of all that pushes, stacked.
    """
    acceleration = -DAMPING * terms.v
    force = terms.M.dot(acceleration) + terms.h
    wrench = np.zeros(0)
    torque = force[6:].copy()
    if pushing:
        J = np.concatenate([terms.contacts[c].J for c in pushing])
        wrench = np.linalg.pinv(J[:, :6].T).dot(force[:6])
        torque -= J[:, 6:].T.dot(wrench)
    return np.clip(torque, *robot.actuation.bounds(terms.q, terms.v[6:])), acceleration, wrench
