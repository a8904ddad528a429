"""Does a board's joint table fit the robot? If not, nothing is armed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.protocol import Joint
from humanoid_balance.plants.serial.calibration import Calibration, JointCalibration
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

SLACK = 1e-3  # of a comparison: tables are single precision [rad; share of a torque]


def indices(robot: Robot, board: str, joints: Sequence[Joint]) -> Array:
    """Where the board's joints are among the robot's."""
    for joint in joints:
        if joint.name not in robot.joint_names:
            known = ", ".join(robot.joint_names)
            raise InputError(f"board '{board}': joint '{joint.name}' is not one of robot '{robot.spec}': {known}")
    return np.array([robot.joint_names.index(joint.name) for joint in joints], dtype=int)


def calibration(joints: Sequence[str], known: Mapping[str, JointCalibration]) -> Calibration:
    return Calibration([known.get(name, JointCalibration()) for name in joints])


def check_limits(
    robot: Robot, board: str, joints: Sequence[Joint], index: Array, gauge: Calibration, torque: Array
) -> None:
    """The board must be able to do what the model is told that it can: range, and ``torque`` (robot.n,) [N m]."""
    lower, upper = gauge.range(np.array([j.lower for j in joints]), np.array([j.upper for j in joints]))
    strength = np.abs(gauge.torque(np.array([j.torque_limit for j in joints])))
    for row, i in enumerate(index):
        name, low, high = robot.joint_names[i], robot.lower[i], robot.upper[i]
        if lower[row] > low + SLACK or upper[row] < high - SLACK:
            raise InputError(
                f"board '{board}': joint '{name}' goes from {lower[row]:.4f} to {upper[row]:.4f} rad; "
                f"allowed: at least the model's {low:.4f} to {high:.4f}"
            )
        if strength[row] < torque[i] * (1 - SLACK):
            raise InputError(
                f"board '{board}': joint '{name}' is limited to {strength[row]:.4g} N m; "
                f"allowed: at least the {torque[i]:.4g} N m that the model may ask for"
            )


def check_complete(robot: Robot, boards: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Every joint on one board, and only one."""
    owner: dict[str, str] = {}
    for board, joints in boards:
        for joint in joints:
            if joint in owner:
                raise InputError(f"joint '{joint}' is on two boards: '{owner[joint]}' and '{board}'")
            owner[joint] = board
    missing = [name for name in robot.joint_names if name not in owner]
    if missing:
        raise InputError(f"no board has the joints {', '.join(missing)} of robot '{robot.spec}'")
