"""Numbers that cannot be meant: a field of a command, state or frame that is not finite or beyond all reason.

These limits find faults (a NaN, a flipped bit, N mm for N m), they do not shape motion. They also keep the arithmetic
behind them exact: on-board feedback of a command that passes is below some thousand torque limits, so that what is
taken off again by ``bounds`` is right to 1e-12 of the limit.

Between two ticks a drive goes on with the gains of the last command while its joint moves. Its torque then changes by
stiffness · velocity · period: at 10 rad/s and 1 ms by 5 % of the limit for the ramp into the stance, and by all of it
for the stiffest command that passes here. No more than the limit comes out in any case: each drive has the same torque
limit as its own last word.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.trip import Trip
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand

TORQUE = 100.0  # times the joint's limit: asking for much more than there is happens, a wrong unit is a factor of 1000
TURN = 2.0 * math.pi  # beyond the joint's range: an encoder that lost a turn [rad]
VELOCITY = 10.0  # times the joint's limit
ANGLE = 0.01  # the whole torque limit for less than this is a stop, no spring: gears have that much play [rad]
SPEED = 0.1  # the whole torque limit for less than this is noise of the velocity made into torque [rad/s]
NEGATIVE = 1e-6  # of the largest gain is rounding; a negative gain drives the joint away from where it should be

COMMAND = ("torque", "position", "velocity", "stiffness", "damping")
UNITS = ("N m", "rad", "rad/s", "N m/rad", "N m s/rad")


def limits_of_command(robot: Robot) -> tuple[Array, Array]:
    """Lower and upper limits of the fields ``COMMAND`` (5, n)."""
    torque, velocity = TORQUE * robot.torque_limit, VELOCITY * robot.velocity_limit
    stiffness, damping = robot.torque_limit / ANGLE, robot.torque_limit / SPEED
    low = np.stack([-torque, robot.lower - TURN, -velocity, -NEGATIVE * stiffness, -NEGATIVE * damping])
    return low, np.stack([torque, robot.upper + TURN, velocity, stiffness, damping])


def limits_of_reading(robot: Robot) -> tuple[Array, Array]:
    """Lower and upper limits of a joint's measured position (n,); beyond them it counts as no reading."""
    return robot.lower - TURN, robot.upper + TURN


def absurd(names: tuple[str, ...], low: Array, high: Array, command: TorqueCommand) -> Trip | None:
    """The first field of a command of the right shape that is not finite or beyond ``low``, ``high`` (5, n)."""
    for k, (field, unit) in enumerate(zip(COMMAND, UNITS, strict=True)):
        values = getattr(command, field)
        good = (values >= low[k]) & (values <= high[k])
        if not good.all():
            i = int(np.argmin(good))
            value = float(values[i])
            what = f"{field} is not a number" if not math.isfinite(value) else f"{field} cannot be meant"
            limit = low[k, i] if value < low[k, i] else high[k, i]
            return Trip(what, names[i], value, float(limit), unit, f"command.{field}")
    return None


def misshapen(n: int, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> Trip | None:
    """The first field that is not an array of numbers of the right length; the value is its length."""
    expected: list[tuple[str, object, str, int]] = [("command", command, field, n) for field in COMMAND]
    expected += [("frame", frame, "position", n), ("frame", frame, "torque", n)]
    expected += [("state", state, "q", n + 7), ("state", state, "v", n + 6)]
    for who, owner, field, size in expected:
        values = getattr(owner, field)
        if not isinstance(values, np.ndarray) or values.shape != (size,) or values.dtype.kind not in "fiu":
            length = float(np.size(values))
            return Trip(f"{who}.{field} is not an array of numbers", who, length, size, "numbers", f"{who}.{field}")
    return None
