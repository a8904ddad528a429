"""What is used for the first time is used before the loop runs."""

from __future__ import annotations

import pytest

from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.nodes.rehearsal import rehearse
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import open_simulator
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.stack import simulated
from humanoid_balance.wholebody import controller


def test_a_step_needs_no_solver_that_was_not_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, push = registry.load("human"), PushProfile(300.0, 0.2, 0.0, 0.2)
    plant = open_simulator("mujoco", robot, PlantOptions(), [push])
    loop = simulated(robot, plant)
    assert isinstance(loop.wholebody, controller.WholeBody)
    rehearse(robot, BalanceSettings(), loop.wholebody)
    made: list[str] = []
    make = controller.Hierarchy
    monkeypatch.setattr(controller, "Hierarchy", lambda *given: made.append(loop_mode[-1]) or make(*given))
    loop_mode = ["start"]
    for _ in range(4000):
        loop_mode.append(loop.tick().reference.mode)
    assert {"stepping", "squaring up"} <= set(loop_mode)
    assert made == []


def test_what_was_made_up_is_forgotten() -> None:
    """The controller has answered nothing yet: it has no verdict and no torques of a robot that was not there."""
    robot = registry.load("g1")
    wholebody = controller.WholeBody(robot)
    rehearse(robot, BalanceSettings(), wholebody)
    assert wholebody.solution is None
