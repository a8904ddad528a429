"""A body that moves by formula: trunk and soles follow analytic paths, sensors come from rigid-body dynamics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, LEFT, RIGHT, Array, SensorFrame

LOCAL = pin.ReferenceFrame.LOCAL
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
H = 1e-4  # step of the finite differences [s]


class Motion:
    """The trunk sways by ``size``, the arms swing, both soles stand; by ``lift`` the right one rises [m].

    ``place`` moves the whole scene: far away, turned, or onto a slope. ``push``: force on the torso frame [N].
    """

    def __init__(
        self,
        robot: Robot,
        size: float = 1.0,
        place: pin.SE3 | None = None,
        push: Callable[[float], Array] = lambda t: np.zeros(3),
        lift: Callable[[float], float] = lambda t: 0.0,
    ) -> None:
        self.robot, self.size, self.place, self.push, self.lift = robot, size, place or pin.SE3.Identity(), push, lift
        model, self.data = robot.model, robot.model.createData()
        pin.framesForwardKinematics(model, self.data, robot.q_nominal)
        self.soles = [self.data.oMf[f].copy() for f in robot.sole_frames]
        self.legs = [
            [model.joints[j].idx_v for j in model.supports[model.frames[f].parentJoint] if j > 1]
            for f in robot.sole_frames
        ]

    def q(self, t: float) -> Array:
        """Configuration; the legs by Newton's method, to rounding error."""
        robot, model, data = self.robot, self.robot.model, self.data
        wave = self.size * (1.0 - np.cos(4.0 * t)) * (1.0 - np.exp(-((t / 0.2) ** 2)))  # begins like t⁴: at rest
        sway = pin.exp6(np.array([0.01, 0.006, -0.01, 0.02, 0.03, -0.02]) * wave)
        q = robot.q_nominal.copy()
        q[:7] = pin.SE3ToXYZQUAT(self.place * pin.XYZQUATToSE3(q[:7]) * sway)
        q[7 + robot.groups["arms"]] += 0.2 * wave
        targets = [self.place * s for s in self.soles]
        targets[RIGHT] = targets[RIGHT] * pin.SE3(np.eye(3), np.array([0.0, 0.0, self.lift(t)]))
        for _ in range(8):
            pin.computeJointJacobians(model, data, q)
            worst = 0.0
            for frame, target, leg in zip(robot.sole_frames, targets, self.legs, strict=True):
                miss = pin.log6(pin.updateFramePlacement(model, data, frame).actInv(target)).vector
                jacobian = pin.getFrameJacobian(model, data, frame, LOCAL)[:, leg]
                q[np.array(leg) + 1] += np.linalg.lstsq(jacobian, miss, rcond=None)[0]
                worst = max(worst, float(np.abs(miss).max()))
            if worst < 1e-9:
                return q
        raise AssertionError(f"the legs do not reach: {worst}")

    def v(self, t: float) -> Array:
        return pin.difference(self.robot.model, self.q(t - H), self.q(t + H)) / (2 * H)

    def a(self, t: float) -> Array:
        return (self.v(t + H) - self.v(t - H)) / (2 * H)

    def com(self, t: float) -> Array:
        return pin.centerOfMass(self.robot.model, self.data, self.q(t)).copy()

    def com_velocity(self, t: float) -> Array:
        q, v = self.q(t), self.v(t)
        pin.centerOfMass(self.robot.model, self.data, q, v)
        return self.data.vcom[0].copy()

    def imu(self, t: float) -> tuple[Array, Array, Array, Array]:
        """Rotation, position, velocity (world axes) and angular velocity (IMU axes) of the IMU."""
        model, data, frame = self.robot.model, self.robot.model.createData(), self.robot.imu_frame
        pin.forwardKinematics(model, data, self.q(t), self.v(t))
        pose = pin.updateFramePlacement(model, data, frame)
        speed = pin.getFrameVelocity(model, data, frame, WORLD).linear
        return pose.rotation, pose.translation, speed, pin.getFrameVelocity(model, data, frame, LOCAL).angular

    def frame(self, t: float) -> SensorFrame:
        """What perfect sensors read."""
        robot, model, data = self.robot, self.robot.model, self.data
        q, v, a = self.q(t), self.v(t), self.a(t)
        needed = pin.rnea(model, data, q, v, a).copy()
        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacements(model, data)
        pin.computeJointJacobians(model, data, q)
        needed -= pin.getFrameJacobian(model, data, robot.torso_frame, WORLD)[:3].T @ self.push(t)
        standing = (LEFT, RIGHT) if self.lift(t) == 0.0 else (LEFT,)
        jacobians = [pin.getFrameJacobian(model, data, robot.sole_frames[side], LOCAL) for side in standing]
        scale = np.array([1, 1, 1, 0.1, 0.1, 0.1])  # little moment: the pressure stays inside the soles
        base = np.hstack([jacobian[:, :6].T * scale for jacobian in jacobians])
        solution = np.linalg.lstsq(base, needed[:6], rcond=None)[0].reshape(-1, 6) * scale
        wrench = np.zeros((2, 6))
        for side, jacobian, w in zip(standing, jacobians, solution, strict=True):
            wrench[side] = w
            needed -= jacobian.T @ w
        imu = robot.imu_frame
        acceleration = pin.getFrameClassicalAcceleration(model, data, imu, LOCAL).linear
        return SensorFrame(
            stamp=t,
            position=q[7:].copy(),
            velocity=v[6:].copy(),
            torque=needed[6:] + robot.damping * v[6:],
            gyro=pin.getFrameVelocity(model, data, imu, LOCAL).angular.copy(),
            acceleration=acceleration + data.oMf[imu].rotation.T @ np.array([0.0, 0.0, GRAVITY]),
            wrench=wrench,
        )

    def frames(self, seconds: float) -> list[SensorFrame]:
        return [self.frame(0.001 * k) for k in range(round(1000 * seconds))]


def noisy(frame: SensorFrame, rng: np.random.Generator, bias: Array | None = None) -> SensorFrame:
    """The frame with the sensor noise of scale 1; ``bias``: of gyro and accelerometer (6,)."""
    b = np.zeros(6) if bias is None else bias
    n = len(frame.position)
    return SensorFrame(
        frame.stamp,
        frame.position + 1e-4 * rng.standard_normal(n),
        frame.velocity + 5e-3 * rng.standard_normal(n),
        frame.torque,
        frame.gyro + b[:3] + 2e-3 * rng.standard_normal(3),
        frame.acceleration + b[3:] + 0.05 * rng.standard_normal(3),
        frame.wrench + np.array([1, 1, 1, 0.1, 0.1, 0.1]) * rng.standard_normal((2, 6)),
    )
