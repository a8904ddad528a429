"""How the trunk leans: the mean of the base's and the torso's up axes, from encoders and the base's orientation."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.polygon import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, RobotState

Quaternion = tuple[float, float, float, float]  # x y z w


class Trunk:
    """Turns with the joints between base and torso; plain floats, as there are only a few."""

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        frame = model.frames[robot.torso_frame]
        chain, joint = [], frame.parentJoint
        while joint > 1:
            chain.append(joint)
            joint = model.parents[joint]
        self._joints = []  # (index of the joint, rotation before it, axis)
        for joint in reversed(chain):
            column = model.joints[joint].createData()
            model.joints[joint].calc(column, np.zeros(model.nq), np.ones(model.nv))
            axis = np.array(column.S).ravel()[3:]
            before = pin.Quaternion(model.jointPlacements[joint].rotation)
            self._joints.append((model.idx_qs[joint] - 7, _floats(before), tuple(axis.tolist())))
        # What is up in the nominal stance, seen from the torso's joint and from the base.
        up = np.array([0.0, 0.0, 1.0])
        pin.forwardKinematics(model, robot.data, robot.q_nominal)
        self._torso_up = tuple((robot.data.oMi[frame.parentJoint].rotation.T @ up).tolist())
        self._base_up = tuple((robot.data.oMi[1].rotation.T @ up).tolist())

    def lean(self, state: RobotState) -> Point:
        """Horizontal part of the mean up axis, world x y."""
        x, y, z, w = state.q[3:7].tolist()
        turn: Quaternion = (x, y, z, w)
        bx, by = _rotated(turn, self._base_up)
        joints: Array = state.q
        for index, before, (ax, ay, az) in self._joints:
            half = float(joints[7 + index]) / 2
            s = math.sin(half)
            turn = _product(_product(turn, before), (s * ax, s * ay, s * az, math.cos(half)))
        tx, ty = _rotated(turn, self._torso_up)
        return (bx + tx) / 2, (by + ty) / 2


def _floats(q: pin.Quaternion) -> Quaternion:
    return float(q.x), float(q.y), float(q.z), float(q.w)


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _rotated(q: Quaternion, v: tuple[float, ...]) -> Point:
    """x and y of a rotated vector."""
    x, y, z, w = q
    vx, vy, vz = v
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    return vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz
