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
TRUST = {  # components that are measured: a slice where possible, it avoids copies
    (True, True, True): slice(6, 15),
    (True, True, False): slice(6, 12),
    (True, False, True): np.r_[6:9, 12:15],
    (True, False, False): slice(6, 9),
    (False, True, True): slice(9, 15),
    (False, True, False): slice(9, 12),
}
BIAS_LIMIT = 10.0  # times its spread: no sensor on the market is worse
ROUND = 16  # corrections after which the rotation matrix is made orthogonal again


class BaseFilter:
    """Pose and velocity of the IMU in the world; ``anchor`` holds the world positions of the standing soles."""

    def __init__(self, settings: BaseSettings, period: float) -> None:
        self._settings = settings
        self._period = period
        self._decimation = settings.decimation
        self._transition = np.eye(SIZE)  # of the error, Φ
        self._arms = np.zeros((9, 3))  # -t [v; r_left; r_right]x
        self._step = 0.0  # for which the constant blocks of Φ stand [s]
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
        self.creep = [s.anchor, s.anchor]  # of each anchor [m/√s]
        biases = [*(s.gyro_bias,) * 3, *(s.acceleration_bias,) * 3]
        self._spread(s.tilt_start, 1e-6, 0.05, np.diag(np.square(biases)))
        self._elapsed, self._ticks, self._corrections = 0.0, 0, 0
        self._mark, self._impulse = list(self.velocity), [0.0, 0.0, 0.0, 0.0]
        self.speed_variance = 0.0  # of the velocity before the last correction, all axes [m²/s²]
        self._clear_sums()

    def resume(self) -> None:
        """Go on at rest after data was missing: the biases are still known, tilt and velocity roughly."""
        self.velocity, self.rate = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self.trusted = [False, False]
        self._spread(0.05, 0.05, 0.3, self.covariance[12:, 12:].copy())
        self._elapsed, self._ticks = 0.0, 0
        self._mark, self._impulse = list(self.velocity), [0.0, 0.0, 0.0, 0.0]
        self._clear_sums()

    def _spread(self, tilt: float, heading: float, speed: float, biases: Array) -> None:
        """Set the covariance from standard deviations [rad, rad, m/s] and that of the biases."""
        first = [tilt, tilt, heading, speed, speed, speed, *(self._settings.kinematics,) * 6]
        self.covariance = np.diag(np.square([*first, *(0.0,) * 6]))
        self.covariance[12:, 12:] = biases

    def _clear_sums(self) -> None:
        self._jumps = 0.0  # sum of the squares of (change of the specific force x dt) [m²/s²]
        self._sums = [[0.0] * 3, [0.0] * 3]  # of the innovation of each foot [m]
        self._rates = [0.0] * 4  # of the angular velocity of flat soles [rad/s], and their number

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
        jx, jy, jz = self.acceleration
        jx, jy, jz = fx - jx, fy - jy, fz - jz
        self._jumps += (jx * jx + jy * jy + jz * jz) * dt * dt
        self.acceleration = [fx, fy, fz]
        x, y, z = self.position
        vx, vy, vz = self.velocity
        ux, uy, uz = vx + fx * dt, vy + fy * dt, vz + (fz - GRAVITY) * dt
        half = 0.5 * dt
        self.position = [x + (vx + ux) * half, y + (vy + uy) * half, z + (vz + uz) * half]
        self.velocity = [ux, uy, uz]
        self._elapsed += dt
        self._ticks += 1

    def coast(self, dt: float) -> None:
        """Without IMU: keep the orientation, let the velocity die out within a tenth of a second."""
        keep = max(1.0 - 10.0 * dt, 0.0)
        vx, vy, vz = self.velocity = [keep * speed for speed in self.velocity]
        x, y, z = self.position
        self.position = [x + vx * dt, y + vy * dt, z + vz * dt]
        self.rate, self.acceleration = [0.0, 0.0, 0.0], [0.0, 0.0, GRAVITY]
        self._elapsed += dt
        self._ticks += 1

    def collect(self, side: int, sole: Floats) -> None:
        """Take the kinematic position of a trusted sole, world [m]."""
        x, y, z = self.anchor[side]
        u, v, w = sole
        sums = self._sums[side]
        sums[0] += x - u
        sums[1] += y - v
        sums[2] += z - w

    def collect_rate(self, twist: Floats) -> None:
        """Take the angular part of the twist of a flat sole, world [rad/s]."""
        _, _, _, x, y, z = twist
        sums = self._rates
        sums[0] += x
        sums[1] += y
        sums[2] += z
        sums[3] += 1.0

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
        self._sums[side] = [0.0] * 3
        block = FOOT[side]
        self.covariance[block, :] = 0.0
        self.covariance[:, block] = 0.0
        self.covariance[block, block] = self._settings.kinematics**2 * np.eye(3)

    def take_impulse(self) -> Floats:
        """∫ R (a - b) dt since the last call, world [m/s], and the time it took [s]."""
        impulse, self._impulse = self._impulse, [0.0, 0.0, 0.0, 0.0]
        return impulse

    def _add_impulse(self) -> None:
        """What the prediction gained since the last correction, without gravity."""
        (x, y, z), (u, v, w), (a, b, c, t), dt = self.velocity, self._mark, self._impulse, self._elapsed
        self._impulse = [a + x - u, b + y - v, c + z - w + GRAVITY * dt, t + dt]

    def correct(self) -> None:
        """Kalman step with the mean innovation of the trusted soles since the last one."""
        self._add_impulse()
        self._fuse()
        self._mark = self.velocity

    def _fuse(self) -> None:
        s, ticks, sums, (rx, ry, rz, flat) = self._settings, self._ticks, self._sums, self._rates
        self._propagate_covariance()
        self._clear_sums()
        left, right = (self.trusted[side] and self._still_there(side, sums[side], ticks) for side in (0, 1))
        if not (left or right):
            return
        measured = [value / ticks for side in (0, 1) if (left, right)[side] for value in sums[side]]
        noise = [s.kinematics**2 / ticks] * len(measured)
        still = False
        if flat:
            rx, ry, rz = rx / flat, ry / flat, rz / flat
            spread = s.foot_rate**2 / flat
            # More than three sigma off is no bias: a foot turns.
            still = rx * rx + ry * ry + rz * rz < 9.0 * (spread + float(self.covariance[GYRO, GYRO].trace()))
            if still:
                measured += (-self.rotation.T.dot((rx, ry, rz))).tolist()
                noise += [spread] * 3
        rows = TRUST[left, right, still]
        columns = self.covariance[:, rows]
        self._update(columns, columns[rows], measured, noise)
        self._corrections += 1
        if self._corrections % ROUND == 0:  # one Newton step of the polar decomposition
            rotation = self.rotation
            self.rotation = rotation @ (1.5 * np.eye(3) - 0.5 * rotation.T @ rotation)

    def _still_there(self, side: int, sums: Floats, ticks: int) -> bool:
        """A sole that is nowhere near its anchor was moved, or its encoders lied: it stands anew where it is."""
        x, y, z = (value / ticks for value in sums)
        if x * x + y * y + z * z < self._settings.stray**2:
            return True
        anchor = self.anchor[side]
        self.set_trust(side, True, [anchor[0] - x, anchor[1] - y, anchor[2] - z])
        return False

    def observe_acceleration(self, error: Floats) -> None:
        """Specific force minus that of the force plates, mean of a window, world x y [m/s²]: -R ζ_a."""
        if self._ticks:
            self.correct()
        jacobian = -self.rotation[:2]
        columns = self.covariance[:, ACCEL] @ jacobian.T
        self._update(columns, jacobian @ columns[ACCEL], error, [self._settings.sole_force**2] * 2)
        self._mark = self.velocity

    def _propagate_covariance(self) -> None:
        """P <- Φ P Φᵀ + Q over the time since the last correction."""
        s, t, rotation, phi = self._settings, self._elapsed, self.rotation, self._transition
        self._elapsed, self._ticks = 0.0, 0
        if t <= 0.0:
            return
        if t != self._step:
            self._step = t
            phi[3, 1], phi[4, 0] = t * GRAVITY, -t * GRAVITY  # t [g]x
            for row in (6, 9):
                phi[row, 1], phi[row + 1, 0] = -0.5 * t * t * GRAVITY, 0.5 * t * t * GRAVITY
                phi[row, 3] = phi[row + 1, 4] = phi[row + 2, 5] = -t
        phi[TILT, GYRO] = phi[SPEED, ACCEL] = -t * rotation
        phi[6:9, ACCEL] = phi[9:12, ACCEL] = (0.5 * t * t) * rotation
        px, py, pz = self.position
        (ax, ay, az), (bx, by, bz) = self.anchor
        ax, ay, az, bx, by, bz = ax - px, ay - py, az - pz, bx - px, by - py, bz - pz
        vx, vy, vz = self.velocity
        self._arms[:] = (
            (0.0, vz, -vy), (-vz, 0.0, vx), (vy, -vx, 0.0),
            (0.0, az, -ay), (-az, 0.0, ax), (ay, -ax, 0.0),
            (0.0, bz, -by), (-bz, 0.0, bx), (by, -bx, 0.0),
        )  # fmt: skip
        phi[3:12, GYRO] = self._arms.dot(t * rotation)
        p = phi.dot(self.covariance).dot(phi.T)
        gyro = phi[:12, GYRO]  # white gyro noise enters like its bias
        p[:12, :12] += gyro.dot((s.gyro**2 * self._period / t) * gyro.T)
        speed = s.acceleration**2 * self._period * t + s.impact**2 * self._jumps
        left, right = self.creep[0] ** 2 * t, self.creep[1] ** 2 * t
        turn, drift = s.gyro_walk**2 * t, s.acceleration_walk**2 * t
        p.ravel()[:: SIZE + 1] += (
            0.0, 0.0, 0.0, speed, speed, speed, left, left, left, right, right, right,
            turn, turn, turn, drift, drift, drift,
        )  # fmt: skip
        self.covariance = p
        self.speed_variance = float(p[SPEED, SPEED].trace())

    def _update(self, columns: Array, small: Array, measured: Floats, noise: Floats) -> None:
        """Kalman step for y = H x + noise: ``columns`` = P Hᵀ, ``small`` = H P Hᵀ, ``noise`` variances."""
        small = small.copy()
        small.ravel()[:: len(noise) + 1] += noise
        gain = columns.dot(np.linalg.inv(small))
        p = self.covariance - gain.dot(columns.T)
        p += p.T
        p *= 0.5
        self.covariance = p
        self._apply(gain.dot(measured))

    def _apply(self, error: Array) -> None:
        """Take the estimated error out of the mean: first order in the tiny rotation, exact for R."""
        self.rotation = pin.exp3(-error[TILT]).dot(self.rotation)
        tx, ty, tz, sx, sy, sz, lx, ly, lz, rx, ry, rz, gx, gy, gz, ax, ay, az = error.tolist()
        x, y, z = self.velocity
        self.velocity = [x - (ty * z - tz * y) - sx, y - (tz * x - tx * z) - sy, z - (tx * y - ty * x) - sz]
        (x, y, z), limit = self.gyro_bias, BIAS_LIMIT * self._settings.gyro_bias
        self.gyro_bias = [min(max(b, -limit), limit) for b in (x - gx, y - gy, z - gz)]
        (x, y, z), limit = self.acceleration_bias, BIAS_LIMIT * self._settings.acceleration_bias
        self.acceleration_bias = [min(max(b, -limit), limit) for b in (x - ax, y - ay, z - az)]
        # Each sole moved as seen from the body. The body takes the common part, so that the ground under the robot
        # stays where it is; two feet share the difference.
        px, py, pz = self.position
        moved = []
        for (x, y, z), (ex, ey, ez) in zip(self.anchor, ((lx, ly, lz), (rx, ry, rz)), strict=True):
            x, y, z = x - px, y - py, z - pz
            moved.append((tz * y - ty * z - ex, tx * z - tz * x - ey, ty * x - tx * y - ez))
        (mx, my, mz), (nx, ny, nz) = moved
        left, right = self.trusted
        if left and right:
            self.position = [px - 0.5 * (mx + nx), py - 0.5 * (my + ny), pz - 0.5 * (mz + nz)]
            dx, dy, dz = 0.5 * (mx - nx), 0.5 * (my - ny), 0.5 * (mz - nz)
            (x, y, z), (u, v, w) = self.anchor
            self.anchor = [[x + dx, y + dy, z + dz], [u - dx, v - dy, w - dz]]
        elif left:
            self.position = [px - mx, py - my, pz - mz]
        elif right:
            self.position = [px - nx, py - ny, pz - nz]
