"""Ground truth of a simulated robot, for recorders and tests only, and what counts as a fall."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.types import Array

FALL_COSINE = math.cos(1.4)  # of the torso's lean [rad]
FALL_HEIGHT = 0.6  # of the standing CoM height


@dataclass(frozen=True, slots=True)
class Truth:
    """What really happened, at the stamp of a sensor frame."""

    stamp: float
    com: Array  # (3,) [m]
    com_velocity: Array  # (3,) [m/s]
    angular_momentum: Array  # about the CoM (3,)
    base_position: Array  # (3,)
    base_quaternion: Array  # x y z w
    joint_position: Array  # (n,)
    torque: Array  # applied (n,)
    torso_axis: Array  # world direction that pointed up at the start (3,)
    sole_position: Array  # sole frames (2, 3)
    sole_rotation: Array  # (2, 3, 3)
    sole_force: Array  # ground on foot, world (2, 3)
    sole_moment: Array  # about the sole frame's origin, world (2, 3)
    push: Array  # external force (3,) [N]
    fell: bool


def height_above(com: Array, slope: float) -> float:
    """CoM above a ground that rises forward by ``slope`` [deg], measured along gravity [m]."""
    return float(com[2] - com[0] * math.tan(math.radians(slope)))


def has_fallen(touching: bool, lean_cosine: float, height: float, standing_height: float) -> bool:
    """Any part but the feet touches the ground, the torso leans over 1.4 rad, or the CoM is below 0.6."""
    return touching or lean_cosine < FALL_COSINE or height < FALL_HEIGHT * standing_height
