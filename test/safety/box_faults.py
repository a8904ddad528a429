"""A standing human in front of a safety box: commands, and states with one fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE, SafetyBox, SafetyLimits
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand

STAMP = 3.0


def torques(robot: Robot, torque: Array | float, stamp: float = STAMP) -> TorqueCommand:
    zero = np.zeros(robot.n)
    return TorqueCommand(stamp, zero + torque, zero, zero, zero, zero)


def active(robot: Robot, limits: SafetyLimits | None = None) -> SafetyBox:
    box = SafetyBox(robot, limits)
    box.arm()
    box.activate(np.zeros(robot.n))
    return box


def is_braking(robot: Robot, command: TorqueCommand) -> bool:
    return command.damped and not command.torque.any() and bool((command.damping == robot.brake).all())


def too_fast(robot: Robot, joint: int = 4) -> float:
    """Speed beyond which a joint may be for a short time only [rad/s]."""
    limits = SafetyLimits()
    return float(limits.velocity_factor * robot.velocity_limit[joint] + limits.velocity_margin)


def faulty(
    kind: str, robot: Robot, frame: SensorFrame, state: RobotState
) -> tuple[RobotState, TorqueCommand, str, str]:
    """State and command with one fault at joint 4; what the trip should say, and where."""
    good, joint = torques(robot, 0.0), robot.joint_names[4]
    q, v, torque = state.q.copy(), state.v.copy(), good.torque.copy()
    if kind == "not a number":
        torque[4] = np.nan
        return state, replace(good, torque=torque), "torque is not a number", joint
    if kind == "infinite":
        torque[4] = np.inf
        return state, replace(good, torque=torque), "torque is not a number", joint
    if kind == "invalid state":
        return replace(state, valid=False), good, "no usable sensors", "estimator"
    if kind == "old command":
        return state, replace(good, stamp=frame.stamp - 1.5 * COMMAND_AGE), "old command", "controller"
    if kind == "fast":
        v[6 + 4] = -2.01 * too_fast(robot)
        return replace(state, v=v), good, "joint too fast", joint
    q[7 + 4] = robot.upper[4] + 0.2 if kind == "above" else robot.lower[4] - 0.2
    return replace(state, q=q), good, "joint outside its range", joint


def with_joint(
    standing: tuple[SensorFrame, RobotState], stamp: float, joint: int, velocity: float, torque: float
) -> tuple[SensorFrame, RobotState]:
    """The standing robot at another time, with one joint moving and its motor working."""
    frame, state = standing
    v, tau = state.v.copy(), 0.0 * frame.torque
    v[6 + joint], tau[joint] = velocity, torque
    return replace(frame, stamp=stamp, torque=tau), replace(state, stamp=stamp, v=v)
