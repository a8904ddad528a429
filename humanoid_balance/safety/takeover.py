"""From where the controller may take over in one step. Elsewhere its first torques would be a jump."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import RobotState


@dataclass(frozen=True)
class SafeStart:
    """What still counts as standing."""

    joint: float = 0.35  # of a joint from the standing posture [rad]
    lean: float = 0.15  # of the base [rad]

    def refuses(self, robot: Robot, state: RobotState) -> str:
        """Why not from here; empty when it may."""
        if not state.valid:
            return f"sensors are not usable: {', '.join(state.faults) or 'no complete sample'}"
        if not state.contact.all():
            return f"the {('left', 'right')[int(np.argmin(state.contact))]} foot is not on the ground"
        away = np.abs(state.q[7:] - robot.posture)
        i = int(np.argmax(away))
        if away[i] > self.joint:
            return f"joint {robot.joint_names[i]} is {away[i]:.2f} rad from the standing posture, limit {self.joint:g}"
        turned = pin.Quaternion(state.q[3:7]) * pin.Quaternion(robot.q_nominal[3:7]).conjugate()
        lean = math.acos(max(-1.0, 1.0 - 2.0 * (turned.x**2 + turned.y**2)))
        return f"the body leans {lean:.2f} rad, limit {self.lean:g}" if lean > self.lean else ""
