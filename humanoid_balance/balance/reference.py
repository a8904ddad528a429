"""Makes References: the parts that every mode shares, scaled to the robot."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.balance import laws
from humanoid_balance.balance.polygon import Point
from humanoid_balance.balance.situation import Situation
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, Flags, FootReference, Reference, Stack

# The CoM law first; then the upright trunk and the posture share what is left.
STAND = Stack("stand", (("com",), ("torso", "posture")))
SWING = Stack("swing", (("com", "feet"), ("torso", "posture")))
KUDOH = Stack("kudoh", (("com",), ("kudoh",)))
LOOSE = Stack("loose", (("posture",),))

HEIGHT_WEIGHT = 0.1  # of the vertical acceleration inside its level: a fall matters more than a squat
BOTH = np.array([True, True])
FULL = np.array([1.5, 1.5])  # no limit on a foot's load below one and a half times the weight


class ReferenceMaker:
    """Turns a mode's wish into a Reference."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.zero_joints = np.zeros(robot.n)
        self.com_weight = np.array([1.0, 1.0, HEIGHT_WEIGHT])
        self.posture = robot.posture
        self.zmp_margin = 0.03 * float(np.ptp(robot.soles[0][:, 0]))

    def vertical(self, now: Situation, height: float | None) -> float:
        """Vertical CoM acceleration toward a height above the ground [m/s²], at most a third of gravity.

        Without a height the fall is only braked: a bending trunk takes the CoM down, and legs that resist go straight.
        """
        gains, w = self.robot.config.gains, self.robot.omega
        k, z = gains.height * w, gains.height_damping
        error = 0.0 if height is None else height - now.height
        wish = k * k * error - 2 * z * k * float(now.state.com_velocity[2])
        return max(-GRAVITY / 3, min(GRAVITY / 3, wish))

    def make(
        self,
        mode: str,
        now: Situation,
        e: Point,
        *,
        stack: Stack = STAND,
        height: float | None = None,
        contact: Flags = BOTH,
        load_max: Array = FULL,
        feet: tuple[FootReference | None, FootReference | None] = (None, None),
        posture: Array | None = None,
    ) -> Reference:
        """``e`` is where the ground force should come from; ``height`` of the CoM, if it matters."""
        robot = self.robot
        up = self.vertical(now, height)
        zero = np.zeros(3)
        cos, sin = math.cos(now.yaw), math.sin(now.yaw)
        heading = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        return Reference(
            stamp=now.state.stamp,
            mode=mode,
            stack=stack,
            contact=contact,
            load_max=load_max,
            com_acceleration=np.array(laws.acceleration(now, e, up)),
            com_weight=self.com_weight,
            angular_momentum_rate=zero,
            momentum_weight=zero,
            torso_rotation=heading @ robot.torso_nominal,
            torso_velocity=zero,
            feet=feet,
            posture=self.posture if posture is None else posture,
            posture_velocity=self.zero_joints,
            zmp_margin=self.zmp_margin,
        )
