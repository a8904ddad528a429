"""Has somebody lifted a robot that balances? Soles without load alone do not say so: their sensors may have failed.

A lifted robot is upright, feels its weight (a falling one does not), has its legs about as long as in the stance (a
sitting one does not), and its legs do not carry it: either the motors give no torque that would, or the legs give way
to that torque. Legs that give the torque of standing and stay where they are have the ground below them, whatever the
soles say.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, SensorFrame

EMPTY = 0.1  # share of the weight on the soles below which they count as without load
LASTING = 0.1  # shorter is a hop: both feet leave the ground for a moment in a hard step [s]
AGAIN = 0.01  # a look at the evidence takes a third of a tick: not at each one [s]
UPRIGHT = 0.3  # lean of the base below which it is lifted, not falling [rad]
FELT = 0.5  # share of gravity that the accelerometer feels at least, in the mean: less is a fall
LEGS = 0.8  # share of the height of the base above the soles in the stance; below, the robot sits or kneels
CARRIED = 0.5  # share of the weight that the torques of the joints show; half way between standing and hanging
STILL = 1.0  # unloaded legs with half the torque of standing are faster than this after 30 ms [rad/s]


class LiftWatch:
    """Collects evidence from the moment the soles are empty."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._data = robot.model.createData()
        self._legs = self._legs_of(robot)
        self._stance = self._height(robot.q_nominal)
        self.reset()

    def reset(self) -> None:
        self.since: float | None = None  # stamp since which the soles are empty [s]
        self.lifted = False
        self.dead_soles = False  # they read nothing while the legs carry the robot
        self._felt, self._ticks = 0.0, 0
        self._speed = np.zeros(self.robot.n)
        self._next = 0.0

    def update(self, frame: SensorFrame, q: Array, load: float) -> bool:
        """True: lifted. ``q`` is the Pinocchio configuration, ``load`` the soles' as a share of the weight."""
        if not load < EMPTY:
            if self.since is not None:
                self.reset()
            return False
        if self.since is None:
            self.since, self._next = frame.stamp, frame.stamp + LASTING
        felt = float(np.linalg.norm(frame.acceleration))
        if math.isfinite(felt):
            self._felt += felt
            self._ticks += 1
        self._speed += 0.05 * (np.abs(np.nan_to_num(frame.velocity)) - self._speed)  # mean over 20 samples
        if frame.stamp < self._next or not np.isfinite(q).all():
            return False
        self._next = frame.stamp + AGAIN
        return self._decide(frame, q)

    def _decide(self, frame: SensorFrame, q: Array) -> bool:
        x, y = q[3:5]
        upright = 2.0 * math.asin(min(1.0, math.hypot(x, y))) < UPRIGHT
        weighty = self._ticks > 0 and self._felt / self._ticks > FELT * GRAVITY
        stretched = self._height(q) > LEGS * self._stance
        still = bool(self._speed[self._legs].max() < STILL)
        self.dead_soles = upright and still and self.carried(frame.torque, q) > CARRIED
        self.lifted = upright and weighty and stretched and not self.dead_soles
        return self.lifted

    def carried(self, torque: Array, q: Array) -> float:
        """Share of the weight that the legs carry by their torques (n,): 1 standing, 0 hanging; 0 if not known."""
        hanging = pin.computeGeneralizedGravity(self.robot.model, self._data, q)[6:][self._legs]
        standing = self.robot.standing_torque(q)[self._legs] - hanging
        share = float((torque[self._legs] - hanging).dot(standing) / standing.dot(standing))
        return share if math.isfinite(share) else 0.0

    def _height(self, q: Array) -> float:
        """Of the base above the lower sole [m]."""
        pin.framesForwardKinematics(self.robot.model, self._data, q)
        return float(q[2] - min(self._data.oMf[frame].translation[2] for frame in self.robot.sole_frames))

    @staticmethod
    def _legs_of(robot: Robot) -> Array:
        """Indices of the joints between the base and the soles."""
        model = robot.model
        joints = {j for f in robot.sole_frames for j in model.supports[model.frames[f].parentJoint].tolist()}
        return np.array(sorted(j - 2 for j in joints if j > 1), dtype=int)
