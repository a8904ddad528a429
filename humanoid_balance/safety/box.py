"""The last word before the motors: it can only make a command smaller.

States: ``disarmed`` (no torque), ``armed`` (damping), ``active`` (the controller's torques). A trip is latched: damping
until ``reset``, ``arm``, ``activate``. Every trip names what, where, the value and the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bounds import TorqueBounds
from humanoid_balance.safety.glance import Glance, finite
from humanoid_balance.safety.runaway import RunawayWatch
from humanoid_balance.safety.speed import SpeedWatch
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand

COMMAND_AGE = 0.020  # [s]
POSITION, VELOCITY, EFFORT = range(3)  # what is seen at a glance
SILENCE = 0.020  # a joint without a reading for longer has stopped answering [s]


class Arming(Enum):
    DISARMED = "disarmed"
    ARMED = "armed"
    ACTIVE = "active"
    TRIPPED = "tripped"


@dataclass(frozen=True)
class SafetyLimits:
    """What is still normal. The defaults are generous: they stop accidents, they do not shape motion."""

    velocity_factor: float = 1.5  # of the joint's velocity limit ...
    velocity_margin: float = 3.0  # ... and this much more [rad/s]; short excursions pass, see ``speed``
    position_margin: float = 0.15  # beyond the joint's range [rad]
    rate: float = 0.2  # largest change of torque in a tick, as a share of the torque limit


@dataclass(frozen=True)
class Trip:
    """Why the box opened."""

    what: str
    where: str
    value: float
    limit: float

    def __str__(self) -> str:
        return f"{self.what} at {self.where}: {self.value:.4g}, limit {self.limit:.4g}"


class SafetyBox:
    """Checks the sensors, then bounds torque and torque rate. ``bounds.share`` lowers the limit of hot joints."""

    def __init__(self, robot: Robot, limits: SafetyLimits | None = None) -> None:
        self.robot = robot
        self.limits = limits or SafetyLimits()
        self.arming = Arming.DISARMED
        self.trip: Trip | None = None
        self.bounds = TorqueBounds(robot.torque_limit, self.limits.rate)
        self.runaway = RunawayWatch(robot)
        self.speed = SpeedWatch(self.limits.velocity_factor * robot.velocity_limit + self.limits.velocity_margin)
        self._low = robot.lower - self.limits.position_margin
        self._high = robot.upper + self.limits.position_margin
        high = np.stack([self._high, self.speed.limit, self.runaway.effort])
        low = np.stack([self._low, -self.speed.limit, -self.runaway.effort])
        self._glance = Glance(low, high)
        self._stamp = np.inf  # of the last frame [s]
        self._complete: float | None = np.inf  # stamp of the last frame, if it had a reading of every joint [s]
        self._heard = np.full(robot.n, np.inf)  # stamp of each joint's last reading, while one is missing [s]

    def arm(self) -> None:
        if self.arming is Arming.DISARMED:
            self.arming = Arming.ARMED

    def activate(self, torque: Array) -> None:
        """Let the controller through; its torque continues from ``torque``, the one the motors give now."""
        if self.arming is Arming.ARMED:
            self.arming = Arming.ACTIVE
            self.bounds.start(torque)
            self.runaway.reset()
            self.speed.reset()
            self._stamp = self._complete = np.inf  # the first reading tells

    def disarm(self) -> None:
        if self.arming is not Arming.TRIPPED:
            self.arming = Arming.DISARMED

    def stop(self, trip: Trip) -> None:
        """Emergency stop or any fault: damping, latched."""
        if self.arming is not Arming.TRIPPED:
            self.trip = trip
        self.arming = Arming.TRIPPED

    def reset(self) -> None:
        """Clear a trip; the robot is disarmed afterwards."""
        self.arming, self.trip = Arming.DISARMED, None

    def update(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> TorqueCommand:
        """The command that may go to the motors."""
        if self.arming is Arming.ACTIVE:
            trip = self._check_command(frame, state, command) or self._check_joints(frame, state)
            if trip is not None:
                self.stop(trip)
        if self.arming is Arming.ACTIVE:
            return self.bounds.apply(command, state.q[7:], state.v[6:])
        if self.arming is Arming.DISARMED:
            return TorqueCommand.damp(frame.stamp, np.zeros(self.robot.n))
        return TorqueCommand.damp(frame.stamp, self.robot.brake)

    def _check_command(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> Trip | None:
        if not state.valid:
            return Trip("no usable sensors", "estimator", frame.stamp - state.stamp, COMMAND_AGE)
        if frame.stamp - command.stamp > COMMAND_AGE:
            return Trip("old command", "controller", frame.stamp - command.stamp, COMMAND_AGE)
        if not finite(command.torque) and not (good := np.isfinite(command.torque)).all():
            i = int(np.argmin(good))
            where = self.robot.joint_names[i]
            return Trip("torque is not a number", where, float(command.torque[i]), self.robot.torque_limit[i])
        return None

    def _check_joints(self, frame: SensorFrame, state: RobotState) -> Trip | None:
        names = self.robot.joint_names
        q, v = state.q[7:], state.v[6:]
        period = frame.stamp - self._stamp
        self._stamp = frame.stamp
        glance = self._glance
        glance.look(q, v, frame.torque)
        if not (glance.well(POSITION) and glance.well(VELOCITY)):
            trip = self._check_motion(frame.stamp, period, q, v)
            if trip is not None:
                return trip
        silent = self._silent(frame)
        if glance.well(EFFORT):
            self.runaway.reset()
            away = None
        else:
            away = self.runaway.update(frame, state)
        if silent is not None:
            age = float(frame.stamp - self._heard[silent])
            return Trip("joint does not answer [s]", names[silent], age, SILENCE)
        if away is not None:
            limit = self.runaway.limit(away)
            return Trip("joint moves against its torque [rad/s]", names[away], float(v[away]), limit)
        return None

    def _check_motion(self, stamp: float, period: float, q: Array, v: Array) -> Trip | None:
        names = self.robot.joint_names
        fast = self.speed.update(stamp, max(period, 0.0), v)
        if fast is not None:
            return Trip("joint too fast [rad/s]", names[fast], float(v[fast]), float(self.speed.limit[fast]))
        outside = (q < self._low) | (q > self._high)
        if outside.any():
            i = int(np.argmax(outside))
            limit = self._low[i] if q[i] < self._low[i] else self._high[i]
            return Trip("joint outside its range [rad]", names[i], float(q[i]), float(limit))
        return None

    def _silent(self, frame: SensorFrame) -> int | None:
        """A joint that has had no reading for too long."""
        if finite(frame.position):
            self._complete = frame.stamp
            return None
        if self._complete is not None:  # the first gap
            self._heard[:] = self._complete
            self._complete = None
        answered = np.isfinite(frame.position)
        self._heard = np.where(answered, frame.stamp, np.minimum(self._heard, frame.stamp))
        silent = frame.stamp - self._heard > SILENCE
        return int(np.argmax(silent)) if silent.any() else None
