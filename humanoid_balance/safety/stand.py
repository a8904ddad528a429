"""The way into the stance: joints go from where they are to the nominal posture, slowly, with little strength first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, SensorFrame, TorqueCommand


@dataclass(frozen=True)
class StandSettings:
    """How gently. Defaults let a person follow every joint with the eyes."""

    time: float = 4.0  # of the ramp at least [s]
    speed: float = 0.3  # mean speed of the joint with the longest way [rad/s]
    yielding: float = 0.2  # the whole torque limit holds against this deviation [rad]
    reaction: float = 0.03  # damping = stiffness times this [s], ...
    light: float = 0.3  # ... but not above this share of inertia / period, at which a light joint would chatter
    strength: float = 0.3  # share of the torque limit at the beginning; rises to 1 ...
    reserve: float = 2.0  # ... but at least so many times what carries the body now


class StandRamp:
    """Impedance about a moving posture, with the weight of the body as feed-forward."""

    def __init__(
        self, robot: Robot, frame: SensorFrame, base: Array, load: float, settings: StandSettings, period: float
    ) -> None:
        """Starts at ``frame``; ``base`` and ``load`` as in ``command``, ``period`` is the drives' [s]."""
        self.robot, self.settings = robot, settings
        self._start, self._from = frame.stamp, np.clip(frame.position, robot.lower, robot.upper)
        self._way = robot.posture - self._from
        self.duration = max(settings.time, float(np.abs(self._way).max()) / settings.speed)
        self._data = robot.model.createData()
        inertia = np.diag(pin.crba(robot.model, self._data, robot.q_nominal))[6:]
        self.stiffness = robot.torque_limit / settings.yielding
        self.damping = np.minimum(settings.reaction * self.stiffness, settings.light * inertia / period)
        carrying = np.abs(self._weight(frame.position, base, min(max(load, 0.0), 1.0))) / robot.torque_limit
        self._first = min(1.0, max(settings.strength, settings.reserve * float(carrying.max())))

    def progress(self, stamp: float) -> float:
        """Share of the time that has passed, 0 to 1."""
        return min(max((stamp - self._start) / self.duration, 0.0), 1.0)

    def posture(self, stamp: float) -> tuple[Array, Array]:
        """Wanted positions and velocities: the smoothest way that starts and ends at rest (fifth order)."""
        s = self.progress(stamp)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        rate = 30.0 * s**2 * (1.0 - s) ** 2 / self.duration
        return self._from + share * self._way, rate * self._way

    def strength(self, stamp: float) -> float:
        """Share of the torque limit that may be used."""
        return self._first + (1.0 - self._first) * self.progress(stamp)

    def command(self, frame: SensorFrame, base: Array, load: float) -> TorqueCommand:
        """``base`` is the orientation x y z w; ``load`` the share of the weight that the soles carry."""
        position, velocity = self.posture(frame.stamp)
        torque = self._weight(frame.position, base, min(max(load, 0.0), 1.0))
        return TorqueCommand(frame.stamp, torque, position, velocity, self.stiffness, self.damping)

    def _weight(self, position: Array, base: Array, load: float) -> Array:
        """Torques that carry the body: partly standing on the soles, partly hanging from its base."""
        q = np.concatenate([np.zeros(3), base, np.where(np.isfinite(position), position, self.robot.posture)])
        hanging = pin.computeGeneralizedGravity(self.robot.model, self._data, q)[6:]
        standing = self.robot.standing_torque(q) if load > 0.0 else hanging
        return load * standing + (1.0 - load) * hanging
