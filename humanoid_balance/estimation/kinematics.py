"""The body in the world: one pass of forward kinematics and momentum per tick, read through fixed views."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

Floats = list[float]
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def quaternion(rotation: list[Floats]) -> tuple[float, float, float, float]:
    """Unit quaternion x y z w of a rotation matrix (Shepperd: the largest component first)."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    if a + e + i > 0.0:
        s = 2.0 * math.sqrt(1.0 + a + e + i)
        return (h - f) / s, (c - g) / s, (d - b) / s, 0.25 * s
    if a > e and a > i:
        s = 2.0 * math.sqrt(1.0 + a - e - i)
        return 0.25 * s, (b + d) / s, (c + g) / s, (h - f) / s
    if e > i:
        s = 2.0 * math.sqrt(1.0 + e - a - i)
        return (b + d) / s, 0.25 * s, (f + h) / s, (c - g) / s
    s = 2.0 * math.sqrt(1.0 + i - a - e)
    return (c + g) / s, (f + h) / s, 0.25 * s, (d - b) / s


class BodyKinematics:
    """Forward kinematics, CoM and centroidal momentum of the body whose IMU pose and twist are known.

    Pinocchio's results are read through views of its own memory, taken once: an access costs nothing.
    """

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        self._model, self._data = model, model.createData()
        self._frames = robot.sole_frames
        self.q, self.v = np.zeros(model.nq), np.zeros(model.nv)
        self.q[6] = 1.0
        self._base_pose, self._joints = self.q[:7], self.q[7:]
        self._base_twist, self._joint_rates = self.v[:6], self.v[6:]
        data = self._data
        pin.forwardKinematics(model, data, self.q, self.v)
        pin.computeCentroidalMomentum(model, data)
        self.com, self.com_velocity = data.com[0], data.vcom[0]
        self._momentum = data.hg
        self.angular_momentum = self._momentum.angular
        soles = [data.oMf[f] for f in self._frames]
        self.sole_position = (soles[0].translation, soles[1].translation)
        self.sole_rotation = (soles[0].rotation, soles[1].rotation)
        # The IMU seen from the base: constant when it sits on the root link, else from a first pass.
        imu = model.frames[robot.imu_frame]
        self._imu_frame = robot.imu_frame
        self._imu_fixed = imu.parentJoint == 1
        self._pre = model.createData()
        self._pre_q, self._pre_v = self.q.copy(), self.v.copy()
        self._imu_rotation: Array = imu.placement.rotation.copy()  # base <- IMU
        self._imu_position: Floats = imu.placement.translation.tolist()  # in the base frame
        self._imu_rate: Floats = [0.0, 0.0, 0.0]  # of the IMU against the base, base axes
        self._imu_speed: Floats = [0.0, 0.0, 0.0]
        self._imu_aligned = self._imu_fixed and bool(np.allclose(self._imu_rotation, np.eye(3), atol=1e-12))
        self.rotation: Array = np.eye(3)  # world <- base

    def _locate_imu(self, position: Array, velocity: Array) -> None:
        """Where the IMU is on the body, when joints lie between it and the root."""
        model, data = self._model, self._pre
        self._pre_q[7:], self._pre_v[6:] = position, velocity
        pin.forwardKinematics(model, data, self._pre_q, self._pre_v)
        placement = pin.updateFramePlacement(model, data, self._imu_frame)
        twist = pin.getFrameVelocity(model, data, self._imu_frame, WORLD)
        self._imu_rotation = placement.rotation.copy()
        self._imu_position = placement.translation.tolist()
        self._imu_speed, self._imu_rate = twist.linear.tolist(), twist.angular.tolist()

    def update(
        self, position: Array, velocity: Array, rotation: Array, origin: Floats, speed: Floats, rate: Floats
    ) -> None:
        """Place the body by its IMU.

        ``rotation`` world <- IMU; ``origin`` and ``speed`` of the IMU in world axes [m, m/s]; ``rate`` its angular
        velocity in IMU axes [rad/s].
        """
        if not self._imu_fixed:
            self._locate_imu(position, velocity)
        base = rotation if self._imu_aligned else rotation @ self._imu_rotation.T
        self.rotation = base
        rows = base.tolist()
        (a, b, c), (d, e, f), (g, h, i) = rows
        x, y, z = self._imu_position
        vx, vy, vz = speed
        wx, wy, wz = rate
        if not self._imu_aligned:
            (k, m, n), (o, p, r), (s, t, u) = self._imu_rotation.tolist()
            wx, wy, wz = k * wx + m * wy + n * wz, o * wx + p * wy + r * wz, s * wx + t * wy + u * wz
        sx, sy, sz = self._imu_speed
        rx, ry, rz = self._imu_rate
        wx, wy, wz = wx - rx, wy - ry, wz - rz  # angular velocity of the base, base axes
        qx, qy, qz, qw = quaternion(rows)
        self._base_pose[...] = (
            origin[0] - (a * x + b * y + c * z),
            origin[1] - (d * x + e * y + f * z),
            origin[2] - (g * x + h * y + i * z),
            qx, qy, qz, qw,
        )  # fmt: skip
        # v_base = Rᵀ v_imu - w x r - (velocity of the IMU on the body)
        self._base_twist[...] = (
            a * vx + d * vy + g * vz - (wy * z - wz * y) - sx,
            b * vx + e * vy + h * vz - (wz * x - wx * z) - sy,
            c * vx + f * vy + i * vz - (wx * y - wy * x) - sz,
            wx, wy, wz,
        )  # fmt: skip
        self._joints[...], self._joint_rates[...] = position, velocity
        model, data = self._model, self._data
        pin.computeCentroidalMomentum(model, data, self.q, self.v)  # and forward kinematics
        left, right = self._frames
        pin.updateFramePlacement(model, data, left)
        pin.updateFramePlacement(model, data, right)

    def sole_twist(self, side: int) -> Floats:
        """Velocity of a sole frame: linear, angular, world axes [m/s, rad/s]."""
        twist: Floats = pin.getFrameVelocity(self._model, self._data, self._frames[side], WORLD).vector.tolist()
        return twist
