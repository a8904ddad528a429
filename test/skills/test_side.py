"""How a body lies is seen from its trunk alone."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.robot import registry
from humanoid_balance.skills.side import TrunkAxes, front_angle, side_of

LAID = {"supine": (0.0, -1.57), "prone": (0.0, 1.57), "left": (-1.57, 0.0), "right": (1.57, 0.0), "upright": (0.0, 0.3)}


@pytest.mark.parametrize("name", ["human", "g1", "talos"])
@pytest.mark.parametrize("side", LAID)
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_the_side_is_known_whatever_the_heading(name: str, side: str, yaw: float) -> None:
    robot = registry.load(name)
    q = robot.q_nominal.copy()
    upright = pin.Quaternion(q[3:7]).toRotationMatrix()
    turn = pin.rpy.rpyToMatrix(0.0, 0.0, yaw) @ pin.rpy.rpyToMatrix(*LAID[side], 0.0)
    q[3:7] = pin.Quaternion(turn @ upright).coeffs()
    axes = TrunkAxes(robot).of(q)
    assert side_of(axes) == side
    assert front_angle(axes, side) < 0.4
    if side == "supine":
        assert front_angle(axes, "prone") == pytest.approx(math.pi, abs=0.1)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-9)
