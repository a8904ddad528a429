"""Sensor frames as they come: bad values are replaced and named, so that the filters only see numbers.

Replaced by: an encoder's position by its velocity added up, a velocity by the difference of positions; IMU, torque and
soles by the last good sample. A fault clears with the first good sample.
"""

from __future__ import annotations

import math
from math import hypot

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.estimation.frozen import FROZEN, FrozenWatch
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.estimation.stamps import StampGuard
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, Flags, SensorFrame

FEET = ("left", "right")


class InputGuard:
    """Checks a frame; afterwards its attributes hold data that can be used."""

    def __init__(self, robot: Robot, settings: GuardSettings) -> None:
        self._settings = settings
        self._names = robot.joint_names
        self._n = robot.n
        self._frozen_every = settings.frozen_every
        self._foot_sensors = robot.config.estimation.foot_sensors
        self._critical = _joints_between_feet_and_imu(robot)
        self._lower = robot.lower - settings.position_margin
        self._upper = robot.upper + settings.position_margin
        self._speed = settings.velocity_factor * robot.velocity_limit + settings.velocity_margin
        self._torque = settings.torque_factor * robot.torque_limit
        self._speed_sq, self._torque_sq = float((self._speed**2).min()), float((self._torque**2).min())
        self._gyro, self._acceleration, self._load = settings.gyro, settings.acceleration, settings.load * robot.weight
        self._jump = float(self._speed.max())
        self._nominal = robot.posture, robot.weight
        self._stamps = StampGuard(settings)
        self._frozen = FrozenWatch(robot.n, settings)
        self.reset()

    def reset(self) -> None:
        """Forget all samples; until the first good one the robot is thought to stand."""
        posture, weight = self._nominal
        n = len(posture)
        self._stamps.reset()
        self._frozen.reset()
        self.stamp, self.dt = 0.0, self._settings.period
        self.faults: tuple[str, ...] = ()
        self.gap = False  # too much time passed to dead-reckon
        self.position, self.velocity, self.torque = posture.copy(), np.zeros(n), np.zeros(n)
        self.gyro, self.acceleration = [0.0, 0.0, 0.0], [0.0, 0.0, GRAVITY]
        self.wrench = np.zeros((2, 6))
        self.wrench[:, 2] = weight / 2
        self.loads: list[list[float]] = self.wrench.tolist()  # the same as floats
        self.complete = False  # the frame had no fault
        self.valid = True  # False: something essential was missing for too long
        self.imu_lost = False  # missing for too long to go on with its last sample
        self._first = True
        self._ticks = 0
        self._step = np.zeros(n)
        self._age_joint = np.zeros(n)  # time since the last good reading [s]
        self._age_imu, self._age_feet = 0.0, [0.0, 0.0]

    def accept(self, frame: SensorFrame) -> bool:
        """Take a frame; False when its stamp makes it useless, then only ``faults`` and ``valid`` changed."""
        n = self._n
        if (
            frame.position.size != n
            or frame.velocity.size != n
            or frame.torque.size != n
            or frame.gyro.size != 3
            or frame.acceleration.size != 3
            or frame.wrench.shape != (2, 6)
        ):
            raise _wrong_shape(frame, n)
        stamps = self._stamps
        usable, fault = stamps.accept(frame.stamp), stamps.fault
        if not usable:
            self.faults, self.valid = (fault,), stamps.valid and self.valid
            return False
        self.stamp, self.dt, self.gap = stamps.stamp, stamps.dt, stamps.gap
        self._ticks += 1
        if self._ticks % self._frozen_every == 0:
            self._frozen.update(frame.position, frame.velocity, self._frozen_every * self.dt)
        try:
            clean = self._clean(frame)
        except (RuntimeWarning, FloatingPointError):  # an overflow, where the caller made it an error
            clean = False
        if clean:
            self.position, self.velocity, self.torque = frame.position, frame.velocity, frame.torque
            self.wrench = frame.wrench
            self.faults = (fault,) if fault else ()
            self.valid = stamps.valid
            if not self.complete:
                self._age_joint[:] = 0.0
                self._age_imu, self._age_feet = 0.0, [0.0, 0.0]
                self.complete, self.imu_lost, self._first = True, False, False
        else:
            with np.errstate(all="ignore"):
                self._repair(frame, [fault] if fault else [])
        return True

    def _clean(self, frame: SensorFrame) -> bool:
        """All readings finite and plausible? Norms see NaN, infinity and absurd size; details are looked at later.

        A norm below the smallest limit needs no look at the single joints.
        """
        step, velocity, torque = self._step, frame.velocity, frame.torque
        np.subtract(frame.position, self.position, out=step)
        gyro, acceleration = frame.gyro.tolist(), frame.acceleration.tolist()
        left, right = loads = frame.wrench.tolist()
        if (
            step.dot(step) < (self._jump * self.dt) ** 2
            and (velocity.dot(velocity) < self._speed_sq or _all_below(velocity, self._speed))
            and (torque.dot(torque) < self._torque_sq or _all_below(torque, self._torque))
            and hypot(*gyro) < self._gyro
            and hypot(*acceleration) < self._acceleration
            and (not self._foot_sensors or (hypot(*left) < self._load and hypot(*right) < self._load))
            and not self._frozen.any
        ):
            self.gyro, self.acceleration, self.loads = gyro, acceleration, loads
            return True
        return False

    def _repair(self, frame: SensorFrame, faults: list[str]) -> None:
        stamps = len(faults)
        self._repair_joints(frame, faults)
        self._repair_imu(frame, faults)
        if self._foot_sensors:
            self._repair_feet(frame, faults)
        self.complete = len(faults) == stamps
        self._first = self._first and not self.complete
        self.faults = tuple(faults)
        outage, period = self._settings.outage, self._settings.period
        essential = float(self._age_joint[self._critical].max(initial=0.0))
        self.valid = self._stamps.valid and max(self._age_imu, *self._age_feet, essential) <= outage + 0.5 * period
        self.imu_lost = self._age_imu > outage

    def _repair_joints(self, frame: SensorFrame, faults: list[str]) -> None:
        dt, frozen = self.dt, self._frozen.frozen
        position_ok: Flags = (frame.position > self._lower) & (frame.position < self._upper)
        velocity_ok: Flags = np.abs(frame.velocity) < self._speed
        torque_ok: Flags = np.abs(frame.torque) < self._torque
        # A jump is a bad reading, unless there is nothing recent to compare with.
        known = (self._age_joint <= self._settings.outage) & (not (self._first or self.gap))
        jumped = position_ok & known & (np.abs(frame.position - self.position) > self._speed * dt)
        ok = position_ok & ~jumped & ~frozen
        rate = np.where(velocity_ok, frame.velocity, 0.0)
        position = np.where(ok, frame.position, np.clip(self.position + rate * dt, self._lower, self._upper))
        difference = np.clip((position - self.position) / dt, -self._speed, self._speed) if not self._first else rate
        unseen = (
            FROZEN * self._settings.frozen_every * self._settings.period
        )  # a frozen joint was so already for a while
        self._age_joint = np.where(ok, 0.0, np.where(frozen, np.maximum(self._age_joint, unseen), self._age_joint) + dt)
        for i in np.flatnonzero(~(ok & velocity_ok & torque_ok)):
            name = self._names[i]
            if not ok[i]:
                what = "frozen" if frozen[i] else "jump" if jumped[i] else _what(frame.position[i])
                faults.append(f"encoder {name}: {what}")
            if not velocity_ok[i]:
                faults.append(f"encoder {name}: velocity {_what(frame.velocity[i])}")
            if not torque_ok[i]:
                faults.append(f"torque {name}: {_what(frame.torque[i])}")
        self.torque = np.where(torque_ok, frame.torque, self.torque)
        self.velocity = np.where(velocity_ok, frame.velocity, difference)
        self.position = position

    def _repair_imu(self, frame: SensorFrame, faults: list[str]) -> None:
        gyro_ok = hypot(*frame.gyro.tolist()) < self._gyro
        accel_ok = hypot(*frame.acceleration.tolist()) < self._acceleration
        if gyro_ok:
            self.gyro = frame.gyro.tolist()
        else:
            faults.append(f"imu: gyro {_what(float(np.abs(frame.gyro).max()))}")
        if accel_ok:
            self.acceleration = frame.acceleration.tolist()
        else:
            faults.append(f"imu: accelerometer {_what(float(np.abs(frame.acceleration).max()))}")
        self._age_imu = 0.0 if gyro_ok and accel_ok else self._age_imu + self.dt

    def _repair_feet(self, frame: SensorFrame, faults: list[str]) -> None:
        wrench = self.wrench.copy()
        for side in (0, 1):
            measured = frame.wrench[side]
            if hypot(*measured.tolist()) < self._load:
                wrench[side] = measured
                self._age_feet[side] = 0.0
            else:
                faults.append(f"{FEET[side]} foot: {_what(float(np.abs(measured).max()))}")
                self._age_feet[side] += self.dt
        self.wrench, self.loads = wrench, wrench.tolist()


def _all_below(values: Array, limits: Array) -> bool:
    """No value beyond its limit; the norm of their ratios is the fast way to say so."""
    ratio = values / limits
    return bool(ratio.dot(ratio) < 1.0 or (np.abs(ratio) < 1.0).all())


def _what(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "infinite" if math.isinf(value) else f"out of range ({value:.3g})"


def _wrong_shape(frame: SensorFrame, n: int) -> InputError:
    expected: dict[str, tuple[int, ...]] = dict.fromkeys(("position", "velocity", "torque"), (n,))
    expected |= {"gyro": (3,), "acceleration": (3,), "wrench": (2, 6)}
    name = next(key for key, shape in expected.items() if getattr(frame, key).shape != shape)
    return InputError(f"sensor frame: {name} has shape {getattr(frame, name).shape}, expected {expected[name]}")


def _joints_between_feet_and_imu(robot: Robot) -> Array:
    """Indices of the joints without which the base cannot be known: those on the way from each sole to the IMU."""
    model = robot.model
    imu = set(model.supports[model.frames[robot.imu_frame].parentJoint].tolist())
    found: set[int] = set()
    for frame in robot.sole_frames:
        found |= imu ^ set(model.supports[model.frames[frame].parentJoint].tolist())
    return np.array(sorted(j - 2 for j in found if j > 1), dtype=int)
