"""The algebra of poses (specification A5) for a body of hinges: displacement, its application, and a share of it.

    P1 (x) P2 = (q1 v2 q1^-1 + v1, q1^i q2^i)
    P1 (/) P2 = (q2^-1 (v1 - v2) q2, (q2^i)^-1 q1^i)        so that P2 (x) (P1 (/) P2) = P1
    P^a       = exp(a log P), the root's position linearly

Rotations of one hinge commute: their product is the sum of the angles, their logarithm the angle itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.types import Array


@dataclass(frozen=True, eq=False, slots=True)
class Pose:
    """Where the root is and how it is turned, and the angles of all hinges; or the displacement between two poses."""

    position: Array  # (3,) [m]
    rotation: Array  # (3, 3)
    joints: Array  # (n,) [rad]

    def __matmul__(self, other: Pose) -> Pose:
        """This (x) other: the other as a displacement of this one."""
        return Pose(
            self.rotation.dot(other.position) + self.position,
            self.rotation.dot(other.rotation),
            self.joints + other.joints,
        )

    def __truediv__(self, other: Pose) -> Pose:
        """This (/) other: the displacement that leads from the other to this one."""
        back = other.rotation.T
        return Pose(back.dot(self.position - other.position), back.dot(self.rotation), self.joints - other.joints)

    def __pow__(self, share: float) -> Pose:
        return self.power(share, np.full(len(self.joints), share))

    def power(self, share: float, shares: Array) -> Pose:
        """With a share of the root's and shares of each joint's displacement (n,)."""
        return Pose(share * self.position, pin.exp3(share * pin.log3(self.rotation)), shares * self.joints)


def ease(t: float, begin: float = 0.0, end: float = 1.0) -> float:
    """s = 3 x² - 2 x³ on [begin, end], 0 before and 1 after it (A4, transition functions); r is 1 - s."""
    x = (t - begin) / (end - begin)
    x = 0.0 if x < 0.0 else 1.0 if x > 1.0 else x
    return x * x * (3.0 - 2.0 * x)
