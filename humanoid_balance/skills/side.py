"""How a body lies: the side of its trunk that the ground carries."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

SUPINE, PRONE, LEFT_SIDE, RIGHT_SIDE, UPRIGHT = "supine", "prone", "left", "right", "upright"
LYING = (SUPINE, PRONE, LEFT_SIDE, RIGHT_SIDE)
UPRIGHT_COSINE = math.cos(0.8)  # a trunk nearer to the vertical than this does not lie: it sits, kneels or squats [rad]


class TrunkAxes:
    """Directions of the trunk in the world: front, left and up, as they are in the nominal stance."""

    def __init__(self, robot: Robot) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._frame = robot.torso_frame
        self._axes = robot.torso_nominal.T  # columns: the world's axes in the torso

    def of(self, q: Array) -> Array:
        """Columns: front, left, up in the world (3, 3)."""
        pin.forwardKinematics(self._model, self._data, q)
        pin.updateFramePlacement(self._model, self._data, self._frame)
        axes: Array = self._data.oMf[self._frame].rotation @ self._axes
        return axes


def side_of(axes: Array) -> str:
    """``supine`` on its back, ``prone`` on its front, ``left`` or ``right`` on that side, or ``upright``."""
    front, left, up = axes[2]
    if up > UPRIGHT_COSINE:
        return UPRIGHT
    if abs(front) >= abs(left):
        return SUPINE if front > 0 else PRONE
    return RIGHT_SIDE if left > 0 else LEFT_SIDE


def front_angle(axes: Array, side: str) -> float:
    """How far the trunk is from lying on a side, 0 to pi [rad]."""
    wanted = {SUPINE: (0, 1.0), PRONE: (0, -1.0), LEFT_SIDE: (1, -1.0), RIGHT_SIDE: (1, 1.0), UPRIGHT: (2, 1.0)}
    column, sign = wanted[side]
    return float(np.arccos(np.clip(sign * axes[2, column], -1.0, 1.0)))
