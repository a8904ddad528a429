"""``base_footprint``, where the robot stands on the floor, as REP 120 has it.

Between the soles, at the height of the lower one, level, with the heading of the base link. Its velocity is the base's:
the feet alone would go in jerks, and planners take it for the speed of the robot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.types import RobotState

NAME = "base_footprint"


@dataclass(frozen=True, slots=True)
class Footprint:
    position: tuple[float, float, float]  # in odom [m]
    yaw: float  # [rad]
    velocity: tuple[float, float, float]  # forward, left, up, in its own axes [m/s]
    turn: float  # about the vertical [rad/s]

    @staticmethod
    def of(state: RobotState) -> Footprint:
        (ax, ay, az), (bx, by, bz) = state.sole_position.tolist()
        x, y, z, w = state.q[3:7].tolist()
        yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        cos, sin = math.cos(yaw), math.sin(yaw)
        turned = rotation(x, y, z, w)
        (vx, vy, vz), (_, _, turn) = (
            [sum(r * u for r, u in zip(row, part, strict=True)) for row in turned]
            for part in (state.v[:3].tolist(), state.v[3:6].tolist())
        )
        return Footprint(
            ((ax + bx) / 2, (ay + by) / 2, min(az, bz)), yaw, (cos * vx + sin * vy, cos * vy - sin * vx, vz), turn
        )

    def base(self, state: RobotState) -> tuple[float, ...]:
        """The base link seen from here: position and quaternion x y z w."""
        x, y, z, qx, qy, qz, qw = state.q[:7].tolist()
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        dx, dy = x - self.position[0], y - self.position[1]
        c, s = math.cos(self.yaw / 2), -math.sin(self.yaw / 2)  # turned back about the vertical
        return (
            cos * dx + sin * dy, cos * dy - sin * dx, z - self.position[2],
            c * qx - s * qy, c * qy + s * qx, c * qz + s * qw, c * qw - s * qz,
        )  # fmt: skip


def rotation(x: float, y: float, z: float, w: float) -> tuple[tuple[float, ...], ...]:
    """The matrix of a unit quaternion."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
