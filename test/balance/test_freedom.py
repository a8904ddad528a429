"""Robots whose legs cannot place a flat sole are not sent walking: they would fall with the first step."""

from __future__ import annotations

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.freedom import missing
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.robot import registry
from humanoid_balance.types import Command


@pytest.mark.parametrize("name", ["human", "human:ranges=kudoh", "talos", "g1", "lee47"])
def test_legs_of_six_joints_step_anywhere(name: str) -> None:
    assert missing(registry.load(name)) == ""


def test_a_planar_body_is_not_sent_walking_but_stands_on() -> None:
    robot = registry.load("r2d")
    assert "left leg moves its sole in 3 independent directions" in missing(robot)
    supervisor = Supervisor(robot)
    for k in range(3):
        state = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv), 0.001 * k)
        reference = supervisor.update(state, Command(state.stamp, velocity=np.array([0.3, 0.0, 0.0])))
        assert reference.mode == "stable"
        assert "walking on flat soles takes 6" in supervisor.refused
