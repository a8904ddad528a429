"""Ground truth of a simulated robot, for recorders and tests only, and what counts as a fall."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from humanoid_balance.types import Array, PerJoint, Vector

FALL_COSINE = math.cos(1.4)  # of the torso's lean [rad]
FALL_HEIGHT = 0.6  # of the standing CoM height


@dataclass(frozen=True, slots=True)
class Truth:
    """What really happened, at the stamp of a sensor frame."""

    stamp: float
    com: Vector  # [m]
    com_velocity: Vector  # [m/s]
    angular_momentum: Vector  # about the CoM
    base_position: Vector
    base_quaternion: Annotated[Array, 4]  # x y z w
    joint_position: PerJoint
    torque: PerJoint  # applied
    torso_axis: Vector  # world direction that pointed up at the start
    sole_position: Annotated[Array, 2, 3]  # sole frames
    sole_rotation: Annotated[Array, 2, 3, 3]
    sole_force: Annotated[Array, 2, 3]  # ground on foot, world
    sole_moment: Annotated[Array, 2, 3]  # about the sole frame's origin, world
    push: Vector  # external force [N]
    push_point: Vector  # where the last of them acts; the CoM while nothing pushes
    fell: bool

    @property
    def q(self) -> Array:
        """Pose as Pinocchio has it: base position, base quaternion x y z w, joints (7 + n,)."""
        return np.concatenate((self.base_position, self.base_quaternion, self.joint_position))


def height_above(com: Array, slope: float) -> float:
    """CoM above a ground that rises forward by ``slope`` [deg], measured along gravity [m]."""
    return float(com[2] - ground_below(com, slope))


def ground_below(point: Array, slope: float) -> float:
    """Height of such a ground below a point (3,) [m]."""
    return float(point[0] * math.tan(math.radians(slope)))


def has_fallen(touching: bool, lean_cosine: float, height: float, standing_height: float) -> bool:
    """Any part but the feet touches the ground, the torso leans over 1.4 rad, or the CoM is below 0.6."""
    return touching or lean_cosine < FALL_COSINE or height < FALL_HEIGHT * standing_height
