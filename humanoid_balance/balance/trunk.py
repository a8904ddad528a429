"""How the trunk leans: the mean of the base's and the torso's up axes, from encoders and the base's orientation."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import RobotState


class Trunk:
    """Turns with the joints between base and torso; plain floats, as there are only a few."""

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        frame = model.frames[robot.torso_frame]
        chain, joint = [], frame.parentJoint
        while joint > 1:
            chain.append(joint)
            joint = model.parents[joint]
        self._joints = []  # from the torso down: index in q, axis, rotation before the joint if it is not the identity
        for joint in chain:
            column = model.joints[joint].createData()
            model.joints[joint].calc(column, np.zeros(model.nq), np.ones(model.nv))
            axis = np.array(column.S).ravel()[3:]
            before = model.jointPlacements[joint].rotation
            turned = None if np.array_equal(before, np.eye(3)) else before.tolist()
            self._joints.append((model.idx_qs[joint], axis.tolist(), turned))
        # What is up in the nominal stance, seen from the torso's joint and from the base.
        up = np.array([0.0, 0.0, 1.0])
        pin.forwardKinematics(model, robot.data, robot.q_nominal)
        self._torso_up = tuple((robot.data.oMi[frame.parentJoint].rotation.T @ up).tolist())
        self._base_up = tuple((robot.data.oMi[1].rotation.T @ up).tolist())

    def lean(self, state: RobotState) -> Point:
        """Horizontal part of the mean up axis, world x y."""
        q = state.q
        base = q[3:7].tolist()
        x, y, z = self._torso_up
        for index, (ax, ay, az), before in self._joints:
            angle = q.item(index)
            cos, sin = math.cos(angle), math.sin(angle)
            along = (1.0 - cos) * (ax * x + ay * y + az * z)  # Rodrigues' formula
            x, y, z = (
                cos * x + sin * (ay * z - az * y) + along * ax,
                cos * y + sin * (az * x - ax * z) + along * ay,
                cos * z + sin * (ax * y - ay * x) + along * az,
            )
            if before is not None:
                (a, b, c), (d, e, f), (g, h, i) = before
                x, y, z = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
        bx, by, bz = self._base_up
        # The rotation is linear: the mean is turned, not each of them.
        return _rotated(base, (x + bx) / 2, (y + by) / 2, (z + bz) / 2)


def _rotated(quaternion: list[float], vx: float, vy: float, vz: float) -> Point:
    """x and y of a vector turned by a quaternion x y z w."""
    x, y, z, w = quaternion
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    return vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz
