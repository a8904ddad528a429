"""The body in the world: one pass of forward kinematics and momentum per tick, read through fixed views."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation.sole import turned_twist
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

Floats = list[float]
Matrix = Sequence[Sequence[float]]
PUT_POSE, PUT_TWIST = struct.Struct("7d").pack_into, struct.Struct("6d").pack_into  # numbers into an array, fast
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def quaternion(rotation: Matrix) -> tuple[float, float, float, float]:
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
        self._joints, self._joint_rates = self.q[7:], self.v[6:]
        self._pose_memory, self._twist_memory = self.q.data, self.v.data
        data = self._data
        pin.forwardKinematics(model, data, self.q, self.v)
        pin.computeCentroidalMomentum(model, data)
        self.com, self.com_velocity = data.com[0], data.vcom[0]
        self._momentum = data.hg
        self.angular_momentum = self._momentum.angular
        soles = [data.oMf[f] for f in self._frames]
        self.sole_position = (soles[0].translation, soles[1].translation)
        self.sole_rotation = (soles[0].rotation, soles[1].rotation)
        frames = [model.frames[f] for f in self._frames]
        self._ankle_twist = [data.v[frame.parentJoint].vector for frame in frames]  # in and about the joint frame
        self._sole_arm: list[Floats] = [frame.placement.translation.tolist() for frame in frames]
        self._sole_turn: list[Matrix | None] = [  # sole <- joint, where they differ
            None if _is_identity(frame.placement.rotation) else frame.placement.rotation.T.tolist() for frame in frames
        ]
        # The IMU seen from the base: constant when it sits on the root link, else from the joints between them.
        imu = model.frames[robot.imu_frame]
        self._neck = None if imu.parentJoint == 1 else ImuChain(robot)
        self._imu_rotation: Matrix = imu.placement.rotation.tolist()  # base <- IMU
        self._imu_position: Floats = imu.placement.translation.tolist()  # in the base frame
        self._imu_speed: Floats = [0.0, 0.0, 0.0]  # of the IMU against the base, base axes
        self._imu_rate: Floats = [0.0, 0.0, 0.0]
        self._imu_aligned = self._neck is None and _is_identity(imu.placement.rotation)
        self._rows: Matrix = np.eye(3).tolist()

    @property
    def rotation(self) -> Array:
        """World <- base (3, 3)."""
        return np.array(self._rows)

    def update(
        self, position: Array, velocity: Array, rotation: Matrix, origin: Floats, speed: Floats, rate: Floats
    ) -> None:
        """Place the body by its IMU.

        ``rotation`` world <- IMU; ``origin`` and ``speed`` of the IMU in world axes [m, m/s]; ``rate`` its angular
        velocity in IMU axes [rad/s].
        """
        wx, wy, wz = rate
        if self._neck is not None:
            self._imu_rotation, self._imu_position, self._imu_speed, self._imu_rate = self._neck.look(
                position, velocity
            )
        if not self._imu_aligned:
            (k, m, n), (o, p, r), (s, t, u) = self._imu_rotation
            wx, wy, wz = k * wx + m * wy + n * wz, o * wx + p * wy + r * wz, s * wx + t * wy + u * wz
            rotation = [
                (a * k + b * m + c * n, a * o + b * p + c * r, a * s + b * t + c * u) for a, b, c in rotation
            ]  # times the transposed
        self._rows = (a, b, c), (d, e, f), (g, h, i) = rotation
        x, y, z = self._imu_position
        vx, vy, vz = speed
        sx, sy, sz = self._imu_speed
        rx, ry, rz = self._imu_rate
        wx, wy, wz = wx - rx, wy - ry, wz - rz  # angular velocity of the base, base axes
        qx, qy, qz, qw = quaternion(rotation)
        PUT_POSE(
            self._pose_memory, 0,
            origin[0] - (a * x + b * y + c * z),
            origin[1] - (d * x + e * y + f * z),
            origin[2] - (g * x + h * y + i * z),
            qx, qy, qz, qw,
        )  # fmt: skip
        # v_base = Rᵀ v_imu - w x r - (velocity of the IMU on the body)
        PUT_TWIST(
            self._twist_memory, 0,
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
        """Velocity of a sole frame: linear, angular, its own axes [m/s, rad/s].

        From the twist of its joint, in floats: half the time of asking Pinocchio.
        """
        vx, vy, vz, wx, wy, wz = self._ankle_twist[side].tolist()
        x, y, z = self._sole_arm[side]
        vx, vy, vz = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
        turn = self._sole_turn[side]
        return [vx, vy, vz, wx, wy, wz] if turn is None else turned_twist(turn, [vx, vy, vz, wx, wy, wz])


def _is_identity(rotation: Array) -> bool:
    return bool(np.allclose(rotation, np.eye(3), atol=1e-12))


class ImuChain:
    """The joints between the root and an IMU that sits elsewhere: a model of these alone, as it is asked every tick."""

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        between = [int(j) for j in model.supports[model.frames[robot.imu_frame].parentJoint] if j > 1]
        locked = [j for j in range(2, model.njoints) if j not in between]
        self._model = pin.buildReducedModel(model, locked, pin.neutral(model))
        self._data = self._model.createData()
        self._frame = self._model.getFrameId(model.frames[robot.imu_frame].name)
        first, last = between[0] - 2, between[-1] - 2
        neighbours = between == list(range(between[0], between[-1] + 1))  # a slice is read faster
        self._joints: slice | Array = slice(first, last + 1) if neighbours else np.array(between) - 2
        self._q, self._v = pin.neutral(self._model), np.zeros(self._model.nv)
        self._chain, self._chain_rates = self._q[7:], self._v[6:]
        placement = self._data.oMf[self._frame]
        self._rotation, self._position = placement.rotation, placement.translation

    def look(self, position: Array, velocity: Array) -> tuple[Matrix, Floats, Floats, Floats]:
        """Rotation base <- IMU; position, velocity, angular velocity of the IMU in the base frame [m, m/s, rad/s]."""
        model, data, joints = self._model, self._data, self._joints
        self._chain[...], self._chain_rates[...] = position[joints], velocity[joints]
        pin.forwardKinematics(model, data, self._q, self._v)
        pin.updateFramePlacement(model, data, self._frame)
        speed = pin.getFrameVelocity(model, data, self._frame, WORLD).vector.tolist()
        return self._rotation.tolist(), self._position.tolist(), speed[:3], speed[3:]
