"""Sensor frames as topics: ``joint_states``, ``imu``, ``left_foot/wrench`` and ``right_foot/wrench``."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import Vector3, WrenchStamped
from sensor_msgs.msg import Imu, JointState

from humanoid_balance.plants.ros.joints import NameMap, WireJoints
from humanoid_balance.plants.ros.stamps import from_time, to_time
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, SensorFrame

SOLE_FRAMES = ("l_sole", "r_sole")
SIDES = ("left", "right")
SENSOR_AGE = 0.020  # a sample this much older than the joints' counts as missing [s]
AHEAD = 1.0  # [s]
SET = 0.1  # a stamp that is older, or ahead by more, is believed when no other came for so long: the clock was set [s]

ROUNDING = 1e-9  # [s]

Complain = Callable[[str, str], None]


class SensorMessages:
    """A frame as four messages. The objects are used again with the next frame."""

    def __init__(self, robot: Robot, joints: WireJoints) -> None:
        self._joints = joints
        self.joints = JointState(name=joints.names)
        self.imu = Imu()
        self.imu.header.frame_id = robot.config.imu
        self.imu.orientation_covariance[0] = -1.0  # it measures no orientation
        self.wrenches = (WrenchStamped(), WrenchStamped())
        for message, frame in zip(self.wrenches, SOLE_FRAMES, strict=True):
            message.header.frame_id = frame

    def fill(self, frame: SensorFrame) -> None:
        stamp = to_time(frame.stamp)
        for message in (self.joints, self.imu, *self.wrenches):
            message.header.stamp = stamp
        pack = self._joints.pack
        self.joints.position, self.joints.velocity = pack(frame.position), pack(frame.velocity)
        self.joints.effort = pack(frame.torque)
        _put(self.imu.angular_velocity, frame.gyro)
        _put(self.imu.linear_acceleration, frame.acceleration)
        for message, wrench in zip(self.wrenches, frame.wrench, strict=True):
            _put(message.wrench.force, wrench[:3])
            _put(message.wrench.torque, wrench[3:])


def _put(vector: Vector3, values: Array) -> None:
    vector.x, vector.y, vector.z = values.tolist()


class FrameReader:
    """Puts the newest samples of the four topics together. Handlers only store; ``take`` makes the frame.

    The joints lead: their sample waits at most ``patience`` [s] for samples with the same stamp, then the newest
    of the others are taken. One that is missing or too old is NaN, which the estimator names and replaces. Stamps
    within a nanosecond of a multiple of ``period`` [s] are that multiple: messages round, the sender's clock does not.
    """

    def __init__(self, robot: Robot, period: float, patience: float, complain: Complain) -> None:
        self._period, self._patience, self._complain = period, patience, complain
        self._names = NameMap(robot)
        self._vectors: tuple[Array, Array, Array] | None = None
        self._stamps = [float("nan")] * 4  # joints, imu, left, right
        self._arrived = [0.0] * 4  # on the steady clock
        self._imu = np.full(6, np.nan)
        self._wrench = np.full((2, 6), np.nan)
        self._fresh = False
        self.repeated = False  # the last joint sample came once more: its answer may have been lost

    def on_joints(self, message: JointState) -> None:
        if not self._names.accept(message.name):
            self._complain("joint_states refused: a joint is missing", self._names.missing)
            return
        sizes = {len(message.position), len(message.velocity), len(message.effort)}
        if sizes != {len(message.name)}:
            self._complain(
                "joint_states refused: wrong length",
                f"{len(message.name)} names, {len(message.position)} positions, "
                f"{len(message.velocity)} velocities, {len(message.effort)} efforts",
            )
            return
        stamp = from_time(message.header.stamp)
        if stamp == self._stamps[0]:
            self.repeated = True
            return
        if not self._in_order(0, stamp, "joint_states"):
            return
        unpack = self._names.unpack
        self._vectors = unpack(message.position), unpack(message.velocity), unpack(message.effort)
        self._fresh, self.repeated = True, False

    def on_imu(self, message: Imu) -> None:
        if self._in_order(1, from_time(message.header.stamp), "imu"):
            turn, push = message.angular_velocity, message.linear_acceleration
            self._imu = np.array((turn.x, turn.y, turn.z, push.x, push.y, push.z))

    def on_wrench(self, side: int) -> Callable[[WrenchStamped], None]:
        """The handler of one foot, left = 0, right = 1."""

        def handle(message: WrenchStamped) -> None:
            if self._in_order(2 + side, from_time(message.header.stamp), f"{SIDES[side]}_foot/wrench"):
                force, moment = message.wrench.force, message.wrench.torque
                self._wrench[side] = force.x, force.y, force.z, moment.x, moment.y, moment.z

        return handle

    def _in_order(self, source: int, stamp: float, topic: str) -> bool:
        """Note a sample; False when its stamp is older than, or far ahead of, what is known already."""
        now, last = time.monotonic(), self._stamps[source]
        if (stamp < last or stamp > last + AHEAD) and now - self._arrived[source] < SET:
            what = "old stamp" if stamp < last else "stamp far ahead"
            self._complain(f"{topic} refused: {what}", f"{stamp:.4f} s after {last:.4f} s")
            return False
        self._stamps[source], self._arrived[source] = stamp, now
        return True

    @property
    def incomplete_for(self) -> float:
        """How long a joint sample may still wait for the others [s]; infinity when there is none."""
        if not self._fresh:
            return float("inf")
        return max(0.0, self._arrived[0] + self._patience - time.monotonic())

    def take(self) -> SensorFrame | None:
        """A new frame, once; None while there is none or it is incomplete."""
        if not self._fresh or self._vectors is None:
            return None
        stamp = self._stamps[0]
        if not all(other == stamp for other in self._stamps[1:]) and self.incomplete_for > 0.0:
            return None
        self._fresh = False
        near = [abs(stamp - other) <= SENSOR_AGE for other in self._stamps]  # NaN is not near
        imu = self._imu if near[1] else np.full(6, np.nan)
        wrench = self._wrench.copy()
        for side in range(2):
            if not near[2 + side]:
                wrench[side] = np.nan
        position, velocity, effort = self._vectors
        whole = round(stamp / self._period) * self._period
        if abs(whole - stamp) < ROUNDING:
            stamp = whole
        return SensorFrame(stamp, position, velocity, effort, imu[:3], imu[3:], wrench)
