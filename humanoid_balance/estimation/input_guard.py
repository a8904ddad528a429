"""Sensor frames as they come: bad values are replaced and named, so that the filter only sees numbers.

Replaced by: encoders - the other reading of the same joint (velocity integrated, position differenced), else the last
good value; IMU and soles - the last good sample. A fault clears with the first good sample.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, Flags, SensorFrame

FEET = ("left", "right")


class InputGuard:
    """Checks a frame; afterwards its attributes hold data that can be used."""

    def __init__(self, robot: Robot, settings: GuardSettings) -> None:
        self._settings = settings
        self._names = robot.joint_names
        n = robot.n
        self._shapes = ((n,), (n,), (n,), (3,), (3,), (2, 6))
        self._critical = _joints_between_feet_and_imu(robot)
        self._lower = robot.lower - settings.position_margin
        self._upper = robot.upper + settings.position_margin
        self._speed = settings.velocity_factor * robot.velocity_limit
        self._torque = 10.0 * robot.torque_limit
        self._load = settings.load * robot.weight
        self._position_bound = float((np.maximum(-self._lower, self._upper) ** 2).max())
        self._speed_bound = float((self._speed**2).min())
        self._torque_bound = float((self._torque**2).min())
        self._nominal = robot.posture, robot.weight
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        posture, weight = self._nominal
        n = len(posture)
        self.stamp = math.nan
        self.dt = self._settings.period
        self.faults: tuple[str, ...] = ()
        self.restart = False  # the gap was too long to dead-reckon
        self.position, self.velocity, self.torque = posture.copy(), np.zeros(n), np.zeros(n)
        self.gyro, self.acceleration = np.zeros(3), np.array([0.0, 0.0, GRAVITY])
        self.wrench = np.zeros((2, 6))
        self.wrench[:, 2] = weight / 2
        self.imu_ok, self.complete = False, False
        self._age_joint = np.zeros(n)  # time since the last good reading [s]
        self._age_imu, self._age_feet, self._age_frame = 0.0, [0.0, 0.0], 0.0
        self._rejected: list[float] = []
        self._faulty = False
        self._same = np.zeros(n, dtype=int)  # ticks for which a position did not change by a bit
        self._travel = np.zeros(n)  # reported by the velocity meanwhile [rad]
        self._change_rate = np.zeros(n)  # share of ticks at which a joint's reading changes, recent mean
        self._frozen: Flags = np.zeros(n, dtype=bool)
        self._previous = np.full(n, math.nan)

    @property
    def valid(self) -> bool:
        """False once something essential was missing for too long."""
        limit = self._settings.outage + 0.5 * self._settings.period
        if self._age_frame > limit:
            return False
        if not self._faulty:
            return True
        return (
            self._age_imu <= limit
            and max(self._age_feet) <= limit
            and bool((self._age_joint[self._critical] <= limit).all())
        )

    def accept(self, frame: SensorFrame) -> bool:
        """Take a frame; False when its stamp makes it useless, then only ``faults`` and ``valid`` changed."""
        self._check_shapes(frame)
        if not self._accept_stamp(frame.stamp):
            return False
        dt = self.dt
        late = f"stamp: late by {dt - self._settings.period:.3f} s" if dt > self._settings.late else ""
        if self._clean(frame):
            if self._faulty:
                self._age_joint[:] = 0.0
                self._age_imu, self._age_feet = 0.0, [0.0, 0.0]
                self._faulty = False
            self.position, self.velocity, self.torque = frame.position, frame.velocity, frame.torque
            self.gyro, self.acceleration, self.wrench = frame.gyro, frame.acceleration, frame.wrench
            self.imu_ok = self.complete = True
            self.faults = (late,) if late else ()
        else:
            faults = [late] if late else []
            self._faulty = True
            self._repair_joints(frame, faults)
            self._repair_imu(frame, faults)
            self._repair_feet(frame, faults)
            self.complete = not faults
            self.faults = tuple(faults)
        return True

    def _check_shapes(self, frame: SensorFrame) -> None:
        fields = (frame.position, frame.velocity, frame.torque, frame.gyro, frame.acceleration, frame.wrench)
        if tuple([x.shape for x in fields]) != self._shapes:
            names = ("position", "velocity", "torque", "gyro", "acceleration", "wrench")
            for name, value, shape in zip(names, fields, self._shapes, strict=True):
                if value.shape != shape:
                    raise InputError(f"sensor frame: {name} has shape {value.shape}, expected {shape}")

    def _accept_stamp(self, stamp: float) -> bool:
        s = self._settings
        last = self.stamp
        if not math.isfinite(stamp):
            return self._reject("stamp: not finite", stamp)
        if math.isnan(last):
            self.stamp, self.dt = stamp, s.period
            return True
        dt = stamp - last
        self.restart = False
        if dt <= 0.0:
            if self._rejected and stamp > self._rejected[-1] and len(self._rejected) * s.period > s.outage:
                # The sender's clock was set back and runs on: follow it.
                self.restart, dt = True, s.period
            else:
                return self._reject("stamp: repeated" if dt == 0.0 else "stamp: runs backward", stamp)
        elif dt > s.restart:
            self.restart, dt = True, s.period
        self.stamp, self.dt = stamp, dt
        self._rejected, self._age_frame = [], 0.0
        return True

    def _reject(self, fault: str, stamp: float) -> bool:
        if math.isfinite(stamp):
            self._rejected.append(stamp)
            del self._rejected[:-100]
        self._age_frame += self._settings.period
        self.faults = (fault,)
        return False

    def _clean(self, frame: SensorFrame) -> bool:
        """All readings finite and plausible? Squared norms: one product sees NaN, infinity and absurd size."""
        s = self._settings
        position, velocity, torque, wrench = frame.position, frame.velocity, frame.torque, frame.wrench.ravel()
        return bool(
            position.dot(position) < self._position_bound
            and velocity.dot(velocity) < self._speed_bound
            and torque.dot(torque) < self._torque_bound
            and frame.gyro.dot(frame.gyro) < s.gyro**2
            and frame.acceleration.dot(frame.acceleration) < s.acceleration**2
            and wrench.dot(wrench) < self._load**2
            and not self._any_frozen(frame)
        )

    def _any_frozen(self, frame: SensorFrame) -> bool:
        return False

    def _repair_joints(self, frame: SensorFrame, faults: list[str]) -> None:
        dt = self.dt
        with np.errstate(invalid="ignore", over="ignore"):
            position_ok = (frame.position > self._lower) & (frame.position < self._upper) & ~self._frozen
            velocity_ok = np.abs(frame.velocity) < self._speed
            torque_ok = np.abs(frame.torque) < self._torque
            rate = np.where(velocity_ok, frame.velocity, 0.0)
            position = np.where(position_ok, frame.position, self.position + rate * dt)
            difference = np.clip((position - self.position) / dt, -self._speed / 3, self._speed / 3)
        velocity = np.where(velocity_ok, frame.velocity, difference)
        position = np.clip(position, self._lower, self._upper)
        ok = position_ok & velocity_ok
        self._age_joint = np.where(position_ok, 0.0, self._age_joint + dt)
        for i in np.flatnonzero(~(ok & torque_ok)):
            name = self._names[i]
            if not position_ok[i]:
                faults.append(f"encoder {name}: {'frozen' if self._frozen[i] else _what(frame.position[i])}")
            if not velocity_ok[i]:
                faults.append(f"encoder {name}: velocity {_what(frame.velocity[i])}")
            if not torque_ok[i]:
                faults.append(f"torque {name}: {_what(frame.torque[i])}")
        self.torque = np.where(torque_ok, frame.torque, self.torque)
        self.position, self.velocity = position, velocity

    def _repair_imu(self, frame: SensorFrame, faults: list[str]) -> None:
        s = self._settings
        gyro_ok = bool(frame.gyro.dot(frame.gyro) < s.gyro**2)
        accel_ok = bool(frame.acceleration.dot(frame.acceleration) < s.acceleration**2)
        if not gyro_ok:
            faults.append(f"imu: gyro {_what(float(np.abs(frame.gyro).max()))}")
        if not accel_ok:
            faults.append(f"imu: accelerometer {_what(float(np.abs(frame.acceleration).max()))}")
        self.imu_ok = gyro_ok and accel_ok
        self._age_imu = 0.0 if self.imu_ok else self._age_imu + self.dt
        self.gyro = frame.gyro if gyro_ok else self.gyro.copy() * (1.0 if self._age_imu <= s.outage else 0.0)
        self.acceleration = frame.acceleration if accel_ok else self.acceleration

    def _repair_feet(self, frame: SensorFrame, faults: list[str]) -> None:
        wrench = self.wrench.copy()
        for side in (0, 1):
            measured = frame.wrench[side]
            if measured.dot(measured) < self._load**2:
                wrench[side] = measured
                self._age_feet[side] = 0.0
            else:
                faults.append(f"{FEET[side]} foot: {_what(float(np.abs(measured).max()))}")
                self._age_feet[side] += self.dt
        self.wrench = wrench


def _what(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "infinite" if math.isinf(value) else f"out of range ({value:.3g})"


def _joints_between_feet_and_imu(robot: Robot) -> Array:
    """Indices of the joints without which the base cannot be known: those on the way from each sole to the IMU."""
    model = robot.model
    imu = set(model.supports[model.frames[robot.imu_frame].parentJoint].tolist())
    found: set[int] = set()
    for frame in robot.sole_frames:
        found |= imu ^ set(model.supports[model.frames[frame].parentJoint].tolist())
    return np.array(sorted(j - 2 for j in found if j > 1), dtype=int)


