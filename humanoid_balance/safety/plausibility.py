"""Do the sensors say what a robot that nobody moves must feel? Asked before anything is switched on."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, SensorFrame

POSITION_MARGIN = 0.02  # beyond the joint's range: encoders end a little later than the model [rad]
GRAVITY_MARGIN = 0.3  # [m/s²]
WEIGHT_MARGIN = 0.1  # share of the model's weight


def positions(robot: Robot, frame: SensorFrame) -> str | None:
    """Every joint has a reading, and inside its range; the reason if not."""
    low, high = robot.lower - POSITION_MARGIN, robot.upper + POSITION_MARGIN
    good = (frame.position >= low) & (frame.position <= high)
    if good.all():
        return None
    i = int(np.argmin(good))
    name, value = robot.joint_names[i], frame.position[i]
    if np.isnan(value):
        return f"joint '{name}' has no reading"
    return f"joint '{name}' is at {value:.3f} rad; allowed: {low[i]:.3f} to {high[i]:.3f}"


def gravity(acceleration: Array) -> str | None:
    """The accelerometer (3,) [m/s²] feels 9.81; the reason if not."""
    size = float(np.linalg.norm(acceleration))
    if abs(size - GRAVITY) <= GRAVITY_MARGIN:
        return None
    return f"the IMU feels {size:.2f} m/s² at rest; allowed: {GRAVITY} ± {GRAVITY_MARGIN}"


def load(robot: Robot, wrench: Array) -> float:
    """Force on both soles (2, 6) as a share of the model's weight; NaN without a reading."""
    return float(wrench[:, 2].sum() / robot.weight)


def weight(robot: Robot, wrench: Array) -> str | None:
    """The soles carry the weight of the model; the reason if not."""
    share = load(robot, wrench)
    if abs(share - 1.0) <= WEIGHT_MARGIN:
        return None
    carried, model = share * robot.weight, robot.weight
    return f"the soles carry {carried:.0f} N; allowed: the model's {model:.0f} N ± {WEIGHT_MARGIN:.0%}"
