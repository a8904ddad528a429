"""Covariance of the base filter's error: how it grows with the IMU and shrinks with a measurement.

The error has 18 components: tilt θ, velocity ξ_v, the two soles ξ_i, gyro bias ζ_g, accelerometer bias ζ_a; see
``base_filter.py`` for what they mean and how they evolve.
"""

from __future__ import annotations

import struct

import numpy as np
from scipy.linalg.lapack import dposv

from humanoid_balance.estimation.settings import BaseSettings
from humanoid_balance.types import GRAVITY, Array

Floats = list[float]
Rows = slice | Array
TILT, SPEED, GYRO, ACCEL = slice(0, 3), slice(3, 6), slice(12, 15), slice(15, 18)
FOOT = (slice(6, 9), slice(9, 12))
SIZE = 18
BIASES = struct.Struct("63d").pack  # faster than assigning numbers to an array
NOISES = struct.Struct("18d").pack


class ErrorCovariance:
    """P, with P <- Φ P Φᵀ + Q and the Kalman update; always the same memory, so views of it are taken once."""

    def __init__(self, settings: BaseSettings, period: float) -> None:
        self._settings, self._period = settings, period
        self.transition = phi = np.eye(SIZE)  # Φ of the last propagation
        self._gyro_part, self._accel_part = phi[:12, GYRO], phi[3:12, ACCEL]
        self.matrix = np.zeros((SIZE, SIZE))
        self._diagonal = self.matrix.ravel()[:: SIZE + 1]
        self._mean_part = self.matrix[:12, :12]
        self._half, self._square = np.zeros((SIZE, SIZE)), np.zeros((12, 12))
        self._time = 0.0
        self.start()

    def start(self) -> None:
        """Nothing known but that the robot stands, level by its first sample; heading is zero by definition."""
        s = self._settings
        biases = [*(s.gyro_bias,) * 3, *(s.acceleration_bias,) * 3]
        self._spread(s.tilt_start, 1e-6, 0.05, np.diag(np.square(biases)))

    def resume(self) -> None:
        """Data was missing: the biases are still known, tilt and velocity roughly."""
        self._spread(0.05, 0.05, 0.3, self.matrix[12:, 12:].copy())

    def _spread(self, tilt: float, heading: float, speed: float, biases: Array) -> None:
        """From standard deviations [rad, rad, m/s] and the covariance of the biases."""
        first = [tilt, tilt, heading, speed, speed, speed, *(self._settings.kinematics,) * 6]
        self.matrix[...] = np.diag(np.square([*first, *(0.0,) * 6]))
        self.matrix[12:, 12:] = biases
        # Before the last update, all axes together: of the velocity [m²/s²] and of the gyro's bias [rad²/s²].
        self.speed_variance, self.gyro_variance = 3.0 * speed**2, float(biases[:3, :3].trace())

    def place_sole(self, side: int) -> None:
        """A sole stands anew: its error is the noise of the kinematics, uncorrelated with all else."""
        block = FOOT[side]
        self.matrix[block, :] = 0.0
        self.matrix[:, block] = 0.0
        self.matrix[block, block] = self._settings.kinematics**2 * np.eye(3)

    def doubt_speed(self, variance: float) -> None:
        """The velocity is less sure than the IMU says, by this much an axis [m²/s²]."""
        self._diagonal[SPEED] += variance
        self.speed_variance += 3.0 * variance

    def propagate(
        self, t: float, rotation: Array, velocity: Floats, arms: tuple[Floats, Floats], creep: Floats, jumps: float
    ) -> None:
        """Over t [s] with the present mean; ``arms``: soles from the IMU [m], ``creep`` of the anchors [m/√s].

        ``jumps``: sum of the squares of (change of the specific force x dt) meanwhile [m²/s²].
        """
        s, phi, p = self._settings, self.transition, self.matrix
        half = 0.5 * t * t
        if t != self._time:
            self._time = t
            phi[3, 1], phi[4, 0] = t * GRAVITY, -t * GRAVITY  # t [g]x
            for row in (6, 9):
                phi[row, 1], phi[row + 1, 0] = -half * GRAVITY, half * GRAVITY
                phi[row, 3] = phi[row + 1, 4] = phi[row + 2, 5] = -t
        (ax, ay, az), (bx, by, bz), (vx, vy, vz) = *arms, velocity
        ax, ay, az, bx, by, bz, vx, vy, vz = t * ax, t * ay, t * az, t * bx, t * by, t * bz, t * vx, t * vy, t * vz
        turned = np.frombuffer(BIASES(
            -t, 0.0, 0.0, 0.0, -t, 0.0, 0.0, 0.0, -t,  # tilt, by the gyro's bias
            0.0, vz, -vy, -vz, 0.0, vx, vy, -vx, 0.0,  # velocity
            0.0, az, -ay, -az, 0.0, ax, ay, -ax, 0.0,  # left sole
            0.0, bz, -by, -bz, 0.0, bx, by, -bx, 0.0,  # right sole
            -t, 0.0, 0.0, 0.0, -t, 0.0, 0.0, 0.0, -t,  # velocity, by the accelerometer's bias
            half, 0.0, 0.0, 0.0, half, 0.0, 0.0, 0.0, half,
            half, 0.0, 0.0, 0.0, half, 0.0, 0.0, 0.0, half,
        )).reshape(21, 3).dot(rotation)  # fmt: skip
        gyro = self._gyro_part
        gyro[...] = turned[:12]
        self._accel_part[...] = turned[12:]
        phi.dot(p, out=self._half).dot(phi.T, out=p)
        square = gyro.dot(gyro.T, out=self._square)  # white gyro noise enters like its bias
        square *= s.gyro**2 * self._period / t
        mean = self._mean_part
        mean += square
        speed = s.acceleration**2 * self._period * t + s.impact**2 * jumps
        left, right = creep[0] ** 2 * t, creep[1] ** 2 * t
        turn, drift = s.gyro_walk**2 * t, s.acceleration_walk**2 * t
        diagonal = self._diagonal
        diagonal += np.frombuffer(NOISES(
            0.0, 0.0, 0.0, speed, speed, speed, left, left, left, right, right, right,
            turn, turn, turn, drift, drift, drift,
        ))  # fmt: skip
        _, _, _, x, y, z, _, _, _, _, _, _, u, v, w, _, _, _ = diagonal.tolist()
        self.speed_variance, self.gyro_variance = x + y + z, u + v + w

    def gain(self, rows: Rows, noise: Floats) -> Array:
        """Kalman step for a measurement of the components ``rows``; the transposed gain (k, 18).

        ``noise``: variances. What is measured, times the gain, is the estimated error.
        """
        measured = self.matrix[rows]
        small = measured[:, rows].copy()
        small.ravel()[:: len(noise) + 1] += noise
        return self._update(measured, small)

    def update(self, columns: Array, small: Array, measured: Floats, noise: Floats) -> Array:
        """Kalman step for y = H x + noise; the estimated error (18,).

        ``columns`` = P Hᵀ, ``small`` = H P Hᵀ, ``noise`` variances.
        """
        small = small.copy()
        small.ravel()[:: len(noise) + 1] += noise
        error: Array = np.dot(measured, self._update(columns.T, small))
        return error

    def _update(self, rows: Array, small: Array) -> Array:
        """P <- P - P Hᵀ S⁻¹ H P; the transposed gain. ``rows`` = H P, ``small`` = S."""
        _, gain, failed = dposv(small, rows)
        if failed:  # rounding has eaten the covariance: begin anew
            self.resume()
            return np.zeros(rows.shape)
        p = self.matrix
        p -= rows.T.dot(gain)
        p += p.T
        p *= 0.5
        out: Array = gain
        return out
