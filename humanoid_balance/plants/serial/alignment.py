"""Samples of several boards, made one frame: boards have clocks and rates of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_balance.plants.serial.line import Bus, Sample
from humanoid_balance.types import SensorFrame

STALE = 0.010  # a bus that has been silent for longer has no readings any more: NaN [s]
LEAST = 1e-6  # by which stamps increase at least [s]


class Alignment:
    """Knows which sample of each board was used last."""

    def __init__(self, joints: int, lockstep: bool) -> None:
        self._n, self._lockstep = joints, lockstep
        self._used: dict[Bus, int] = {}  # stamp of the sample [µs]
        self._stamp = -np.inf  # of the last frame [s]

    def fresh(self, bus: Bus) -> bool:
        """It has a sample that was not used yet."""
        return bus.sample is not None and bus.sample.stamp != self._used.get(bus, -1)

    def forget(self) -> None:
        """The samples that are there count as new again."""
        self._used.clear()

    def frame(self, buses: Sequence[Bus], now: float) -> SensorFrame:
        """At the time of the bus with the IMU; joints of other buses are carried on to it. ``now`` [s]."""
        n, lockstep = self._n, self._lockstep
        position, velocity, torque = (np.full(n, np.nan) for _ in range(3))
        gyro, acceleration, wrench = np.full(3, np.nan), np.full(3, np.nan), np.full((2, 6), np.nan)
        samples = [bus.sample for bus in buses if bus.sample is not None]
        master = max(samples, key=_importance)
        at = master.time
        for bus in buses:
            sample = bus.sample
            if sample is None:
                continue
            self._used[bus] = sample.stamp
            if not lockstep and now - sample.time > STALE:
                continue
            i = bus.index
            shift = 0.0 if lockstep else min(max(at - sample.time, -STALE), STALE)
            position[i] = sample.position if shift == 0.0 else sample.position + shift * sample.velocity
            velocity[i], torque[i] = sample.velocity, sample.torque
            if sample.imu is not None:
                gyro, acceleration = sample.imu.gyro, sample.imu.acceleration
            for side, measured in sample.feet.items():
                wrench[side] = measured
        # Without lock-step stamps increase also when another board has to give the time.
        self._stamp = 1e-6 * master.stamp if lockstep else max(at, self._stamp + LEAST)
        return SensorFrame(self._stamp, position, velocity, torque, gyro, acceleration, wrench)


def _importance(sample: Sample) -> tuple[bool, float]:
    """Who gives the time: the IMU, then the latest."""
    return sample.imu is not None, sample.time
