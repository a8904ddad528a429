"""Whether legs can put a flat sole wherever a step wants it: that takes six independent directions per leg."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot

LEAST = 1e-3  # a leg that moves its sole by less per radian of its joints cannot move it that way [CoM heights, rad]


def missing(robot: Robot) -> str:
    """Why this robot cannot step with flat soles, such as an ankle without roll; empty if it can."""
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, robot.q_nominal)
    pin.updateFramePlacements(robot.model, data)
    for side, frame in zip(("left", "right"), robot.sole_frames, strict=True):
        jacobian = pin.getFrameJacobian(robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
        jacobian[:3] /= robot.com_height
        able = int(np.count_nonzero(np.linalg.svd(jacobian, compute_uv=False) > LEAST))
        if able < 6:
            return f"the {side} leg moves its sole in {able} independent directions; walking on flat soles takes 6"
    return ""
