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
mean corrects the state. The IMU bridges the gap, so nothing lags. The gain does not depend on what is measured, so it
is made ahead, a part at a tick: no tick takes much longer than the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from humanoid_balance.estimation.error_covariance import ACCEL, ErrorCovariance, Rows
from humanoid_balance.estimation.settings import BaseSettings
from humanoid_balance.types import GRAVITY, Array

Floats = list[float]
Matrix = Sequence[Sequence[float]]
TRUST: dict[tuple[bool, bool, bool], Rows] = {  # components that are measured: a slice where possible, it avoids copies
    (True, True, True): slice(6, 15),
    (True, True, False): slice(6, 12),
    (True, False, True): np.r_[6:9, 12:15],
    (True, False, False): slice(6, 9),
    (False, True, True): slice(9, 15),
    (False, True, False): slice(9, 12),
}
BIAS_LIMIT = 10.0  # times its spread: no sensor on the market is worse
NOTHING = [0.0, 0.0, 0.0]
SMALL_SQ = 1e-3  # [rad²]; the series leave out 2e-15 there
SETTLING, SETTLED = 4, 250  # ticks between the first corrections, and their number: biases are not known yet
ROUND = 16  # corrections after which the rotation matrix is made orthogonal again


class BaseFilter:
    """Pose and velocity of the IMU in the world; ``anchor`` holds the world positions of the standing soles."""

    def __init__(self, settings: BaseSettings, period: float) -> None:
        self._settings, self._period = settings, period
        self._pace(SETTLING)
        self.covariance = ErrorCovariance(settings, period)
        self.start(np.eye(3), [0.0, 0.0, 0.0])

    def start(self, rotation: Array, position: Floats) -> None:
        """Begin at rest with a known orientation (world <- IMU) and position [m]."""
        s = self._settings
        self.rotation = rotation
        self.position, self.velocity = list(position), [0.0, 0.0, 0.0]
        self.gyro_bias, self.acceleration_bias = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self.rate = [0.0, 0.0, 0.0]  # without bias, IMU axes [rad/s]
        self.acceleration = [0.0, 0.0, GRAVITY]  # specific force without bias, world axes [m/s²]
        self.anchor: list[Floats] = [[0.0] * 3, [0.0] * 3]
        self.trusted = [False, False]
        self.creep = [s.anchor, s.anchor]  # of each anchor [m/√s]
        self._flat: list[Matrix] = [self.rows, self.rows]  # orientation of each sole when it was last flat
        self.covariance.start()
        self._corrections = 0
        self._pace(SETTLING)
        self._begin()

    def _pace(self, ticks: int) -> None:
        """Ticks from one correction to the next; on the way the covariance is propagated and the gain made."""
        self._decimation, self.look_ahead, self.weigh_at = ticks, ticks // 2, 3 * ticks // 4

    def resume(self) -> None:
        """Go on at rest after data was missing: the biases are still known, tilt and velocity roughly."""
        self.velocity, self.rate = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self.trusted = [False, False]
        self.covariance.resume()
        self._begin()

    @property
    def rotation(self) -> Array:
        """World <- IMU (3, 3)."""
        return np.array(self.rows)

    @rotation.setter
    def rotation(self, rotation: Array) -> None:
        self.rows: Matrix = rotation.tolist()

    def _begin(self) -> None:
        self._jumps = 0.0  # sum of the squares of (change of the specific force x dt), not yet propagated [m²/s²]
        self._corrected: Floats | None = None  # by how much corrections changed the velocity [m/s]
        self._lag = 0.0  # time the covariance has to make up; negative while it is ahead [s]
        self._adrift = 0.0  # time without a fixed point though there are soles on the ground [s]
        self._mark, self._impulse = list(self.velocity), [0.0, 0.0, 0.0, 0.0]
        self._open_window()

    def _open_window(self) -> None:
        """Sums begin anew after a correction."""
        self._elapsed, self.ticks = 0.0, 0
        self._gain: Array | None = None  # of the coming correction
        self._weighed = (False, False, False)  # left sole, right sole, rates: what it measures
        self._sums = [0.0] * 3, [0.0] * 3  # of the innovation of each foot [m]
        self._rates = [0.0] * 4, [0.0] * 4  # of the angular velocity of each flat sole, its axes [rad/s]; their number

    # ---- every tick ----

    def predict(self, gyro: Floats, acceleration: Floats, dt: float) -> None:
        """Integrate one IMU sample (IMU axes) over dt [s]."""
        bx, by, bz = self.gyro_bias
        wx, wy, wz = gyro
        wx, wy, wz = wx - bx, wy - by, wz - bz
        self.rate = [wx, wy, wz]
        self.rows = (a, b, c), (d, e, f), (g, h, i) = _turned(self.rows, wx * dt, wy * dt, wz * dt)
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
        self._lag += dt
        self.ticks += 1

    def coast(self, dt: float) -> None:
        """Without IMU: keep the orientation, let the velocity die out within a tenth of a second."""
        keep = max(1.0 - 10.0 * dt, 0.0)
        vx, vy, vz = self.velocity = [keep * speed for speed in self.velocity]
        x, y, z = self.position
        self.position = [x + vx * dt, y + vy * dt, z + vz * dt]
        self.rate, self.acceleration = [0.0, 0.0, 0.0], [0.0, 0.0, GRAVITY]
        self._elapsed += dt
        self._lag += dt
        self.ticks += 1

    def collect(self, side: int, sole: Floats) -> None:
        """Take the kinematic position of a trusted sole, world [m]."""
        x, y, z = self.anchor[side]
        u, v, w = sole
        sums = self._sums[side]
        sums[0] += x - u
        sums[1] += y - v
        sums[2] += z - w

    def collect_rate(self, side: int, rows: Matrix, twist: Floats) -> None:
        """Take the twist of a flat sole, linear and angular, in its own axes [m/s, rad/s], and its rotation."""
        _, _, _, x, y, z = twist
        sums = self._rates[side]
        sums[0] += x
        sums[1] += y
        sums[2] += z
        sums[3] += 1.0
        self._flat[side] = rows  # it turns by less than a milliradian until the correction

    def roll(self, side: int, x: float, y: float, z: float) -> None:
        """Move the anchor of a sole that rolls over its edge [m]."""
        anchor = self.anchor[side]
        anchor[0] += x
        anchor[1] += y
        anchor[2] += z

    @property
    def due(self) -> bool:
        """Is it time to correct?"""
        return self.ticks >= self._decimation

    def prepare(self) -> None:
        """After each tick: do the part of the coming correction whose turn it is."""
        if self.ticks == self.look_ahead:
            self._propagate((self._decimation - self.ticks) * self._period)
        elif self.ticks == self.weigh_at and self._gain is None:
            self._weigh()

    # ---- every few ticks ----

    def set_trust(self, side: int, trusted: bool, sole: Floats) -> None:
        """A foot becomes, or stops being, a fixed point at ``sole`` (kinematic position, world [m])."""
        if self.ticks > 1 or self._gain is not None:
            self.correct()
        self.trusted[side] = trusted
        self._plant(side, sole)

    def _plant(self, side: int, sole: Floats) -> None:
        """The new anchor has no error of its own but the kinematics': ξ_i = noise, uncorrelated with all else."""
        self.anchor[side] = list(sole)
        self._sums[side][:] = NOTHING
        self.covariance.place_sole(side)

    def take_correction(self) -> Floats | None:
        """By how much corrections changed the velocity since the last call, world [m/s]; None when there was none."""
        corrected, self._corrected = self._corrected, None
        return corrected

    def take_impulse(self) -> Floats:
        """∫ R (a - b) dt since the last call, world [m/s], and the time it took [s]."""
        impulse, self._impulse = self._impulse, [0.0, 0.0, 0.0, 0.0]
        return impulse

    def _add_impulse(self) -> None:
        """What the prediction gained since the last correction, without gravity."""
        (x, y, z), (u, v, w), (a, b, c, t), dt = self.velocity, self._mark, self._impulse, self._elapsed
        self._impulse = [a + x - u, b + y - v, c + z - w + GRAVITY * dt, t + dt]

    def drift(self) -> None:
        """Soles stand on the ground and all seem to slip. They, or the velocity: the longer, the less that is sure.

        Else a wrong velocity would keep soles that stand still from ever being trusted again.
        """
        before, self._adrift = self._adrift, self._adrift + self._elapsed
        self.covariance.doubt_speed(self._settings.doubt**2 * (self._adrift**2 - before**2))

    def correct(self) -> None:
        """Kalman step with the mean innovation of the trusted soles since the last one."""
        if self.trusted[0] or self.trusted[1]:
            self._adrift = 0.0
        self._add_impulse()
        self._fuse()
        self._mark = self.velocity

    def _fuse(self) -> None:
        if self._gain is None:
            self._propagate(0.0)
            self._weigh()
        gain, (left, right, still), measured = self._gain, self._weighed, []
        if gain is not None:
            if left:
                measured += self._innovation(0)
            if right:
                measured += self._innovation(1)
            if still:
                measured += self._turn()
        self._open_window()
        if gain is None:
            return
        self._apply(np.dot(measured, gain))
        self._corrections += 1
        if self._corrections == SETTLED:
            self._pace(self._settings.decimation)
        if self._corrections % ROUND == 0:  # one Newton step of the polar decomposition
            rotation = self.rotation
            self.rotation = rotation @ (1.5 * np.eye(3) - 0.5 * rotation.T @ rotation)

    def _innovation(self, side: int) -> Floats:
        """Mean innovation of a sole. One that is nowhere near its anchor was moved, or its encoders lied: it stands
        anew where it is."""
        (x, y, z), ticks = self._sums[side], self.ticks
        x, y, z = x / ticks, y / ticks, z / ticks
        if x * x + y * y + z * z < self._settings.stray**2:
            return [x, y, z]
        anchor = self.anchor[side]
        self._plant(side, [anchor[0] - x, anchor[1] - y, anchor[2] - z])
        return NOTHING

    def _turn(self) -> Floats:
        """Minus the mean angular velocity of the flat soles, IMU axes [rad/s]."""
        x = y = z = flat = 0.0
        for (u, v, w, count), ((a, b, c), (d, e, f), (g, h, i)) in zip(self._rates, self._flat, strict=True):
            x, y, z = x + a * u + b * v + c * w, y + d * u + e * v + f * w, z + g * u + h * v + i * w
            flat += count
        x, y, z = x / flat, y / flat, z / flat
        if x * x + y * y + z * z > self._turn_limit:  # more than three sigma off is no bias: a foot turns
            return NOTHING
        return [-(a * x + b * y + c * z) for a, b, c in zip(*self.rows, strict=True)]

    def observe_acceleration(self, error: Floats) -> None:
        """Specific force minus that of the force plates, mean of a window, world x y [m/s²]: -R ζ_a."""
        if self.ticks:
            self.correct()
        jacobian = -self.rotation[:2]
        columns = self.covariance.matrix[:, ACCEL] @ jacobian.T
        noise = [self._settings.sole_force**2] * 2
        self._apply(self.covariance.update(columns, jacobian @ columns[ACCEL], error, noise))
        self._mark = self.velocity

    def _propagate(self, ahead: float) -> None:
        """Let the covariance follow the ticks until ``ahead`` from now [s]."""
        time, jumps, self._jumps = self._lag + ahead, self._jumps, 0.0
        (x, y, z), (left, right) = self.position, self.anchor
        arms = [left[0] - x, left[1] - y, left[2] - z], [right[0] - x, right[1] - y, right[2] - z]
        if time > 0.0:
            self._lag -= time
            self.covariance.propagate(time, self.rotation, self.velocity, arms, self.creep, jumps)

    def _weigh(self) -> None:
        """The gain of the coming correction, for as many samples as there will be."""
        s, (left, right) = self._settings, self.trusted
        flat = self._rates[0][3] + self._rates[1][3]
        if not (left or right):
            return
        samples = max(self._decimation, self.ticks) if self._lag < 0.0 else self.ticks
        noise = [s.kinematics**2 / samples] * (6 if left and right else 3)
        if flat:
            spread = s.foot_rate**2 * self.ticks / (flat * samples)
            self._turn_limit = 9.0 * (spread + self.covariance.gyro_variance)
            noise += [spread] * 3
        self._weighed = left, right, flat > 0.0
        self._gain = self.covariance.gain(TRUST[self._weighed], noise)

    def _apply(self, error: Array) -> None:
        """Take the estimated error out of the mean: first order in the tiny rotation, exact for R."""
        tx, ty, tz, sx, sy, sz, lx, ly, lz, rx, ry, rz, gx, gy, gz, ax, ay, az = error.tolist()
        # exp(-θ) R, by its transposed: as floats, see _turned.
        self.rows = tuple(zip(*_turned(tuple(zip(*self.rows, strict=True)), tx, ty, tz), strict=True))
        x, y, z = self.velocity
        dx, dy, dz = tz * y - ty * z - sx, tx * z - tz * x - sy, ty * x - tx * y - sz
        self.velocity = [x + dx, y + dy, z + dz]
        x, y, z = self._corrected or NOTHING
        self._corrected = [x + dx, y + dy, z + dz]
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


def _turned(rows: Matrix, x: float, y: float, z: float) -> Matrix:
    """R exp([x y z]): Rodrigues' formula, for a turn as small as that of a tick with sine and cosine as series.

    Floats: three numpy calls take twice as long, four times with cold caches.
    """
    (a, b, c), (d, e, f), (g, h, i) = rows
    square = x * x + y * y + z * z
    if square < SMALL_SQ:
        s, k = 1.0 - square * (1.0 / 6.0 - square / 120.0), 0.5 - square * (1.0 / 24.0 - square / 720.0)
    else:
        angle = math.sqrt(square)
        s, k = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    u, v, w = s * x, s * y, s * z
    xy, xz, yz = k * x * y, k * x * z, k * y * z
    p, q, r = 1.0 - k * (y * y + z * z), 1.0 - k * (x * x + z * z), 1.0 - k * (x * x + y * y)
    j, k, m, n, o, t = yz + u, xy - w, xz + v, xy + w, yz - u, xz - v
    return (
        (a * p + b * n + c * t, a * k + b * q + c * j, a * m + b * o + c * r),
        (d * p + e * n + f * t, d * k + e * q + f * j, d * m + e * o + f * r),
        (g * p + h * n + i * t, g * k + h * q + i * j, g * m + h * o + i * r),
    )
