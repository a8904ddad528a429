"""From what a simulator knows to what a robot's sensors say: noise, biases and the delay of the bus."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from humanoid_balance.types import Array, SensorFrame


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the sensors at noise scale 1, white at the control rate; biases are drawn once a run."""

    position: float = 1e-4  # [rad]
    velocity: float = 5e-3  # [rad/s]
    gyro: float = 2e-3  # [rad/s]
    acceleration: float = 0.05  # [m/s²]
    gyro_bias: float = 2e-3  # [rad/s]
    acceleration_bias: float = 0.02  # [m/s²]
    force: float = 1.0  # [N]
    moment: float = 0.1  # [N m]


class Sensing:
    """The sensors of one run with ``n`` joints. Same seed, same noise, whatever simulator is behind it."""

    def __init__(self, n: int, scale: float, seed: int, delay: int) -> None:
        """``delay`` is the latency in control periods."""
        self._n, self._scale = n, scale
        noise, one = Noise(), np.ones
        self._rng = np.random.default_rng(seed)
        self._noise = scale * np.concatenate([
            noise.position * one(n), noise.velocity * one(n), 0 * one(n), noise.gyro * one(3),
            noise.acceleration * one(3), *([noise.force * one(3), noise.moment * one(3)] * 2),
        ])  # fmt: skip
        self._bias = np.zeros(self._noise.size)
        imu = 3 * n
        self._bias[imu : imu + 3] = scale * noise.gyro_bias * self._rng.standard_normal(3)
        self._bias[imu + 3 : imu + 6] = scale * noise.acceleration_bias * self._rng.standard_normal(3)
        self._frames: deque[SensorFrame] = deque(maxlen=1 + delay)

    def frame(self, stamp: float, exact: Array) -> SensorFrame:
        """Sensors at ``stamp`` from exact values: encoders, speeds, torques, gyro, accelerometer, sole wrenches."""
        if self._scale:
            values = self._rng.standard_normal(exact.size)
            values *= self._noise
            values += self._bias
            values += exact
        else:
            values = exact.copy()
        n = self._n
        wrench = values[3 * n + 6 :].reshape(2, 6)
        frame = SensorFrame(
            stamp, values[:n], values[n : 2 * n], values[2 * n : 3 * n],
            values[3 * n : 3 * n + 3], values[3 * n + 3 : 3 * n + 6], wrench,
        )  # fmt: skip
        self._frames.append(frame)
        return self._frames[0]
