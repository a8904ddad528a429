"""The last word before the motors: it can only make a command smaller.

States: ``disarmed`` (no torque), ``armed`` (damping), ``active`` (the controller's torques). A trip is latched: damping
until ``reset``, ``arm``, ``activate``. Every trip names what, where, the value and the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import RobotState, SensorFrame, TorqueCommand

COMMAND_AGE = 0.020  # [s]


class Arming(Enum):
    DISARMED = "disarmed"
    ARMED = "armed"
    ACTIVE = "active"
    TRIPPED = "tripped"


@dataclass(frozen=True)
class SafetyLimits:
    """What is still normal. The defaults are generous: they stop accidents, they do not shape motion."""

    velocity_factor: float = 1.5  # of the joint's velocity limit ...
    velocity_margin: float = 3.0  # ... and this much more: a push throws a light joint, that alone is no fault [rad/s]
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
    """Checks the sensors, then bounds torque and torque rate."""

    def __init__(self, robot: Robot, limits: SafetyLimits | None = None) -> None:
        self.robot = robot
        self.limits = limits or SafetyLimits()
        self.arming = Arming.DISARMED
        self.trip: Trip | None = None
        self._previous: np.ndarray | None = None
        self._rate = self.limits.rate * robot.torque_limit
        self._low = robot.lower - self.limits.position_margin
        self._high = robot.upper + self.limits.position_margin
        self._speed = self.limits.velocity_factor * robot.velocity_limit + self.limits.velocity_margin

    def arm(self) -> None:
        if self.arming is Arming.DISARMED:
            self.arming = Arming.ARMED

    def activate(self, torque: np.ndarray) -> None:
        """Let the controller through; its torque continues from ``torque``, the one the motors give now."""
        if self.arming is Arming.ARMED:
            self.arming = Arming.ACTIVE
            self._previous = np.array(torque, dtype=float)

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
            trip = self._check(frame, state, command)
            if trip is not None:
                self.stop(trip)
        if self.arming is Arming.ACTIVE:
            return self._bounded(command)
        if self.arming is Arming.DISARMED:
            return TorqueCommand.damp(frame.stamp, np.zeros(self.robot.n))
        return TorqueCommand.damp(frame.stamp, self.robot.brake)

    def _check(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> Trip | None:
        names = self.robot.joint_names
        if not state.valid:
            return Trip("no usable sensors", "estimator", frame.stamp - state.stamp, COMMAND_AGE)
        if frame.stamp - command.stamp > COMMAND_AGE:
            return Trip("old command", "controller", frame.stamp - command.stamp, COMMAND_AGE)
        finite = np.isfinite(command.torque)
        if not finite.all():
            i = int(np.argmin(finite))
            return Trip("torque is not a number", names[i], float(command.torque[i]), self.robot.torque_limit[i])
        q, v = state.q[7:], state.v[6:]
        speeding = np.abs(v) > self._speed
        if speeding.any():
            i = int(np.argmax(speeding))
            return Trip("joint too fast [rad/s]", names[i], float(v[i]), float(self._speed[i]))
        outside = (q < self._low) | (q > self._high)
        if outside.any():
            i = int(np.argmax(outside))
            limit = self._low[i] if q[i] < self._low[i] else self._high[i]
            return Trip("joint outside its range [rad]", names[i], float(q[i]), float(limit))
        return None

    def _bounded(self, command: TorqueCommand) -> TorqueCommand:
        limit = self.robot.torque_limit
        torque = np.minimum(np.maximum(command.torque, -limit), limit)
        if self._previous is not None:
            torque = np.minimum(np.maximum(torque, self._previous - self._rate), self._previous + self._rate)
        self._previous = torque
        return TorqueCommand(
            command.stamp,
            torque,
            command.position,
            command.velocity,
            command.stiffness,
            command.damping,
            command.damped,
        )
