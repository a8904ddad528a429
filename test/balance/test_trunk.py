"""The lean of the trunk against Pinocchio's kinematics."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.robot import registry

UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_lean_is_the_mean_of_base_and_torso(name: str) -> None:
    robot, random = registry.load(name), np.random.default_rng(1)
    model, data = robot.model, robot.model.createData()

    def up_axes(q: Any, base: Any, torso: Any) -> Any:
        pin.framesForwardKinematics(model, data, q)
        return (data.oMi[1].rotation @ base + data.oMf[robot.torso_frame].rotation @ torso) / 2

    pin.framesForwardKinematics(model, data, robot.q_nominal)
    base = data.oMi[1].rotation.T @ UP
    torso = data.oMf[robot.torso_frame].rotation.T @ UP
    trunk = Trunk(robot)
    for _ in range(20):
        q = pin.integrate(model, robot.q_nominal, random.uniform(-0.8, 0.8, model.nv))
        state: Any = SimpleNamespace(q=q)
        assert trunk.lean(state) == pytest.approx(up_axes(q, base, torso)[:2], abs=1e-12)
