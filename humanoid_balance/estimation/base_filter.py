"""The floating base: contact-aided inertial-kinematic filter, a right-invariant EKF seen from the robot.

After Hartley, Ghaffari, Eustice, Grizzle, "Contact-aided invariant extended Kalman filtering for robot state
estimation" (IJRR 2020). State: orientation R and velocity v of the IMU, position of each sole seen from it
r_i = d_i - p in world axes, biases of gyro and accelerometer. With the right-invariant error

    R̂ = exp(θ) R,   v̂ = exp(θ) v + ξ_v,   r̂_i = exp(θ) r_i + ξ_i,   b̂ = b + ζ

the error dynamics do not depend on the estimate but for the biases:

    θ' = -R ζ_g     ξ_v' = g x θ - v x R ζ_g - R ζ_a     ξ_i' = -ξ_v - r_i x R ζ_g

A foot at rest measures, with its kinematics h_i(q) and the rate w_i of its sole, single components of the error:

    r̂_i - R̂ h_i = ξ_i + noise          -R̂ᵀ ŵ_i = ζ_g + noise

Positions enter only as seen from the robot (absolute position is not observable anyway), so the filter does not know
how far from the world origin it is. Every tick integrates the IMU and sums the innovations; every few ticks their
mean corrects the state. The IMU bridges the gap, so nothing lags.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation.settings import BaseSettings
from humanoid_balance.types import GRAVITY, Array

Floats = list[float]
TILT, SPEED, FEET, GYRO, ACCEL = slice(0, 3), slice(3, 6), slice(6, 12), slice(12, 15), slice(15, 18)
FOOT = (slice(6, 9), slice(9, 12))
SIZE = 18


def skew(x: float, y: float, z: float) -> Array:
    """[a]x with [a]x b = a x b."""
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


class BaseFilter:
    """Pose and velocity of the IMU in the world; ``anchor`` holds the world positions of the standing soles."""

    def __init__(self, settings: BaseSettings, period: float) -> None:
        self._settings = settings
        self._period = period
        self._decimation = settings.decimation
        self._gravity = skew(0.0, 0.0, -GRAVITY)
        self._identity = np.eye(3)
        self._transition = np.eye(SIZE)
        self.start(np.eye(3), [0.0, 0.0, 0.0])

    def start(self, rotation: Array, position: Floats) -> None:
        """Begin at rest with a known orientation (world <- IMU) and position [m]."""
        s = self._settings
        self.rotation = rotation.copy()
        self.position, self.velocity = list(position), [0.0, 0.0, 0.0]
        self.gyro_bias, self.acceleration_bias = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self.rate = [0.0, 0.0, 0.0]  # without bias, IMU axes [rad/s]
        self.acceleration = [0.0, 0.0, GRAVITY]  # specific force without bias, world axes [m/s²]
        self.anchor: list[Floats] = [[0.0] * 3, [0.0] * 3]
        self.trusted = [False, False]
        spread = [s.tilt_start, s.tilt_start, 1e-6, *(0.05,) * 3, *(s.kinematics,) * 6]
        spread += [*(s.gyro_bias,) * 3, *(s.acceleration_bias,) * 3]
        self.covariance = np.diag(np.square(spread))
        self._elapsed, self._ticks = 0.0, 0
        self._sums = [[0.0] * 6, [0.0] * 6]  # of each foot's innovation [m] and angular velocity, world [rad/s]

    # ---- every tick ----

    def predict(self, gyro: Floats, acceleration: Floats, dt: float) -> None:
        """Integrate one IMU sample (IMU axes) over dt [s]."""
        bx, by, bz = self.gyro_bias
        wx, wy, wz = gyro
        wx, wy, wz = wx - bx, wy - by, wz - bz
        self.rate = [wx, wy, wz]
        self.rotation = rotation = self.rotation.dot(pin.exp3(np.array((wx * dt, wy * dt, wz * dt))))
        (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
        bx, by, bz = self.acceleration_bias
        ax, ay, az = acceleration
        ax, ay, az = ax - bx, ay - by, az - bz
        fx, fy, fz = a * ax + b * ay + c * az, d * ax + e * ay + f * az, g * ax + h * ay + i * az
        self.acceleration = [fx, fy, fz]
        x, y, z = self.position
        vx, vy, vz = self.velocity
        ux, uy, uz = vx + fx * dt, vy + fy * dt, vz + (fz - GRAVITY) * dt
        half = 0.5 * dt
        self.position = [x + (vx + ux) * half, y + (vy + uy) * half, z + (vz + uz) * half]
        self.velocity = [ux, uy, uz]
        self._elapsed += dt
        self._ticks += 1

    def collect(self, side: int, sole: Floats, rate: Floats) -> None:
        """Take the kinematic position [m] and angular velocity [rad/s] of a trusted sole, world axes."""
        x, y, z = self.anchor[side]
        sums = self._sums[side]
        sums[0] += x - sole[0]
        sums[1] += y - sole[1]
        sums[2] += z - sole[2]
        sums[3] += rate[0]
        sums[4] += rate[1]
        sums[5] += rate[2]

    def roll(self, side: int, x: float, y: float, z: float) -> None:
        """Move the anchor of a sole that rolls over its edge [m]."""
        anchor = self.anchor[side]
        anchor[0] += x
        anchor[1] += y
        anchor[2] += z

    @property
    def due(self) -> bool:
        """Is it time to correct?"""
        return self._ticks >= self._decimation

    # ---- every few ticks ----

    def set_trust(self, side: int, trusted: bool, sole: Floats) -> None:
        """A foot becomes, or stops being, a fixed point at ``sole`` (kinematic position, world [m]).

        The new anchor has no error of its own but the kinematics': ξ_i = noise, uncorrelated with all else.
        """
        if self._ticks > 1:
            self.correct()
        self.trusted[side] = trusted
        self.anchor[side] = list(sole)
        self._sums[side] = [0.0] * 6
        block = FOOT[side]
        self.covariance[block, :] = 0.0
        self.covariance[:, block] = 0.0
        self.covariance[block, block] = self._settings.kinematics**2 * self._identity

    def correct(self) -> None:
        """Kalman step with the mean innovation of the trusted soles since the last one."""
        ticks, sums = self._ticks, self._sums
        self._propagate_covariance()
        self._sums = [[0.0] * 6, [0.0] * 6]
        sides = [side for side in (0, 1) if self.trusted[side]]
        if not sides:
            return
        s = self._settings
        measured: list[float] = []
        rows: list[int] = []
        for side in sides:
            measured += [value / ticks for value in sums[side][:3]]
            rows += range(FOOT[side].start, FOOT[side].stop)
        noise = [s.kinematics**2 / ticks] * len(rows)
        samples = ticks * len(sides)
        rate = np.array([sum(sums[side][axis] for side in sides) / samples for axis in (3, 4, 5)])
        if float(rate.dot(rate)) < s.still_rate**2:
            measured += (-self.rotation.T.dot(rate)).tolist()
            rows += range(GYRO.start, GYRO.stop)
            noise += [s.foot_rate**2 / samples] * 3
        self._update(np.array(rows), None, np.array(measured), np.array(noise))
        # Keep the rotation a rotation: one Newton step of the polar decomposition.
        rotation = self.rotation
        self.rotation = 0.5 * rotation @ (3.0 * self._identity - rotation.T @ rotation)

    def observe_acceleration(self, error: Array) -> None:
        """Horizontal error of the specific force against the force plates, world x y [m/s²]: -R ζ_a (mean of a window)."""
        if self._ticks:
            self.correct()
        noise = np.full(2, self._settings.sole_force**2)
        self._update(np.arange(ACCEL.start, ACCEL.stop), -self.rotation[:2], error, noise)

    def _propagate_covariance(self) -> None:
        """P <- Φ P Φᵀ + Q over the time since the last correction."""
        s, t, rotation = self._settings, self._elapsed, self.rotation
        self._elapsed, self._ticks = 0.0, 0
        if t <= 0.0:
            return
        phi = self._transition
        phi[TILT, GYRO] = phi[SPEED, ACCEL] = -t * rotation
        phi[SPEED, TILT] = t * self._gravity
        phi[SPEED, GYRO] = (-t * skew(*self.velocity)) @ rotation
        px, py, pz = self.position
        for block, (x, y, z) in zip(FOOT, self.anchor, strict=True):
            phi[block, TILT] = (-0.5 * t * t) * self._gravity
            phi[block, SPEED] = -t * self._identity
            phi[block, GYRO] = (-t * skew(x - px, y - py, z - pz)) @ rotation
            phi[block, ACCEL] = (0.5 * t * t) * rotation
        p = phi @ self.covariance @ phi.T
        gyro = phi[:12, GYRO]  # white gyro noise enters like its bias
        p[:12, :12] += (s.gyro**2 * self._period / t) * (gyro @ gyro.T)
        walks = (0.0, s.acceleration**2 * self._period, s.anchor**2, s.anchor**2, s.gyro_walk**2, s.acceleration_walk**2)
        p.flat[:: SIZE + 1] += np.repeat(walks, 3) * t
        self.covariance = p

    def _update(self, rows: Array, jacobian: Array | None, measured: Array, noise: Array) -> None:
        """Kalman step: ``measured`` = jacobian @ error[rows] + noise (variances); the identity when None."""
        p = self.covariance
        left = p[:, rows] if jacobian is None else p[:, rows] @ jacobian.T
        small = left[rows] if jacobian is None else jacobian @ left[rows]
        small = small.copy()
        small.flat[:: len(noise) + 1] += noise
        gain = np.linalg.solve(small, left.T).T
        p = p - gain @ left.T
        self.covariance = 0.5 * (p + p.T)
        self._apply(gain @ measured)

    def _apply(self, error: Array) -> None:
        """Take the estimated error out of the mean: first order in the tiny rotation, exact for R."""
        turn = -error[TILT]
        self.rotation = pin.exp3(turn).dot(self.rotation)
        self.velocity = (self.velocity + np.cross(turn, self.velocity) - error[SPEED]).tolist()
        position = np.array(self.position)
        moved = []
        for block, anchor in zip(FOOT, self.anchor, strict=True):
            moved.append(np.cross(turn, anchor - position) - error[block])
        # The sole seen from the body moved by moved[i]. The body takes the common part, so that the ground under the
        # robot stays where it is; the feet share the difference.
        sides = [side for side in (0, 1) if self.trusted[side]]
        if sides:
            shift = -sum(moved[side] for side in sides) / len(sides)
            self.position = (position + shift).tolist()
            for side in sides:
                self.anchor[side] = (self.anchor[side] + moved[side] + shift).tolist()
        self.gyro_bias = (self.gyro_bias - error[GYRO]).tolist()
        self.acceleration_bias = (self.acceleration_bias - error[ACCEL]).tolist()
