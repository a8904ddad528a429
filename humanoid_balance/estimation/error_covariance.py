"""Covariance of the base filter's error: how it grows with the IMU and shrinks with a measurement.

The error has 18 components: tilt θ, velocity ξ_v, the two soles ξ_i, gyro bias ζ_g, accelerometer bias ζ_a; see
``base_filter.py`` for what they mean and how they evolve.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.estimation.settings import BaseSettings
from humanoid_balance.types import GRAVITY, Array

Floats = list[float]
TILT, SPEED, GYRO, ACCEL = slice(0, 3), slice(3, 6), slice(12, 15), slice(15, 18)
FOOT = (slice(6, 9), slice(9, 12))
SIZE = 18


class ErrorCovariance:
    """P, with P <- Φ P Φᵀ + Q and the Kalman update."""

    def __init__(self, settings: BaseSettings, period: float) -> None:
        self._settings, self._period = settings, period
        self.transition = np.eye(SIZE)  # Φ of the last propagation
        self._arms = np.zeros((9, 3))  # [v; r_left; r_right]x, negative
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
        self.matrix = np.diag(np.square([*first, *(0.0,) * 6]))
        self.matrix[12:, 12:] = biases
        self.speed_variance = 3.0 * speed**2  # of the velocity before the last update, all axes [m²/s²]

    def place_sole(self, side: int) -> None:
        """A sole stands anew: its error is the noise of the kinematics, uncorrelated with all else."""
        block = FOOT[side]
        self.matrix[block, :] = 0.0
        self.matrix[:, block] = 0.0
        self.matrix[block, block] = self._settings.kinematics**2 * np.eye(3)

    def propagate(
        self, t: float, rotation: Array, velocity: Floats, arms: tuple[Floats, Floats], creep: Floats, jumps: float
    ) -> None:
        """Over t [s] with the present mean; ``arms``: soles from the IMU [m], ``creep`` of the anchors [m/√s].

        ``jumps``: sum of the squares of (change of the specific force x dt) meanwhile [m²/s²].
        """
        s, phi = self._settings, self.transition
        phi[3, 1], phi[4, 0] = t * GRAVITY, -t * GRAVITY  # t [g]x
        for row in (6, 9):
            phi[row, 1], phi[row + 1, 0] = -0.5 * t * t * GRAVITY, 0.5 * t * t * GRAVITY
            phi[row, 3] = phi[row + 1, 4] = phi[row + 2, 5] = -t
        phi[TILT, GYRO] = phi[SPEED, ACCEL] = -t * rotation
        phi[6:9, ACCEL] = phi[9:12, ACCEL] = (0.5 * t * t) * rotation
        (ax, ay, az), (bx, by, bz), (vx, vy, vz) = *arms, velocity
        self._arms[:] = (
            (0.0, vz, -vy), (-vz, 0.0, vx), (vy, -vx, 0.0),
            (0.0, az, -ay), (-az, 0.0, ax), (ay, -ax, 0.0),
            (0.0, bz, -by), (-bz, 0.0, bx), (by, -bx, 0.0),
        )  # fmt: skip
        phi[3:12, GYRO] = self._arms.dot(t * rotation)
        p = phi.dot(self.matrix).dot(phi.T)
        gyro = phi[:12, GYRO]  # white gyro noise enters like its bias
        p[:12, :12] += gyro.dot((s.gyro**2 * self._period / t) * gyro.T)
        speed = s.acceleration**2 * self._period * t + s.impact**2 * jumps
        left, right = creep[0] ** 2 * t, creep[1] ** 2 * t
        turn, drift = s.gyro_walk**2 * t, s.acceleration_walk**2 * t
        p.ravel()[:: SIZE + 1] += (
            0.0, 0.0, 0.0, speed, speed, speed, left, left, left, right, right, right,
            turn, turn, turn, drift, drift, drift,
        )  # fmt: skip
        self.matrix = p
        self.speed_variance = float(p[SPEED, SPEED].trace())

    def update(self, columns: Array, small: Array, measured: Floats, noise: Floats) -> Array:
        """Kalman step for y = H x + noise; the estimated error (18,).

        ``columns`` = P Hᵀ, ``small`` = H P Hᵀ, ``noise`` variances.
        """
        small = small.copy()
        small.ravel()[:: len(noise) + 1] += noise
        gain = columns.dot(np.linalg.inv(small))
        p = self.matrix - gain.dot(columns.T)
        p += p.T
        p *= 0.5
        self.matrix = p
        error: Array = gain.dot(measured)
        return error
