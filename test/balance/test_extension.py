"""A new mode is one file and its rows: ``bowing.py`` beside this one, through the whole loop, nothing else touched."""

from __future__ import annotations

import numpy as np
from balance.bowing import DEPTH, LASTS, WITH_BOWING

from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.loop import COMMAND_AGE, Loop
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import STILL, Command
from humanoid_balance.wholebody.controller import WholeBody

REST = 0.5  # the robot stands still until then [s]


class Rig:
    """The human in MuJoCo with sensor noise, estimator, QP and safety box, and the table that knows how to bow."""

    def __init__(self, *pushes: PushProfile) -> None:
        robot = registry.load("human")
        self.plant = MujocoPlant(robot, pushes=pushes)
        safety = SafetyBox(robot)
        safety.arm()
        safety.activate(self.plant.read().torque)
        self.plant.reset()
        self.balance = Supervisor(robot, repertoire=WITH_BOWING)
        self.loop = Loop(self.plant, Estimator(robot), self.balance, WholeBody(robot), safety)
        self.height = robot.com_height
        self.tick = self.loop.tick()

    def run(self, until: float, skill: str = "", stamp: float | None = None) -> float:
        """Command a skill, now or with an old stamp; the lowest CoM until then [m]."""
        lowest = np.inf
        while self.plant.time < until:
            command = Command(self.plant.time if stamp is None else stamp, skill=skill) if skill else STILL
            self.tick = self.loop.tick(command)
            lowest = min(lowest, float(self.plant.truth().com[2]))
            assert not self.plant.truth().fell
        return lowest

    @property
    def modes(self) -> list[str]:
        return [name for _, name, _ in self.balance.changes]


def test_a_mode_of_another_file_is_entered_by_a_command_and_left_when_it_is_done() -> None:
    rig = Rig()
    upright = rig.run(REST)
    assert rig.modes == []
    lowest = rig.run(REST + 0.9 * LASTS, "bow")
    assert rig.modes == ["bowing"] and rig.tick.reference.mode == "bowing" and rig.tick.refused == ""
    assert upright - lowest > 0.3 * DEPTH * rig.height  # knees bend; the posture shares the level and resists
    rig.run(REST + 3.0)
    assert rig.modes == ["bowing", "in place", "stable"]
    assert abs(float(rig.plant.truth().com[2]) - upright) < 0.005


def test_an_operator_who_goes_quiet_ends_it() -> None:
    rig = Rig()
    rig.run(REST)
    rig.run(REST + COMMAND_AGE + 0.05, "bow", stamp=REST - 0.05)  # the same old message again and again
    assert rig.modes[:2] == ["bowing", "in place"]
    left = next(stamp for stamp, name, _ in rig.balance.changes if name == "in place")
    assert abs(left - (REST - 0.05 + COMMAND_AGE)) < 0.005
    assert "old" in rig.tick.refused


def test_a_push_comes_before_the_command() -> None:
    rig = Rig(PushProfile(300.0, 0.1, 0.0, REST + 0.2))
    rig.run(REST)
    rig.run(REST + 0.5, "bow")
    reasons = {name: why for _, name, why in rig.balance.changes}
    assert rig.modes[:2] == ["bowing", "in place"] and "pushed" in reasons["in place"]
    rig.run(REST + 4.0)
    assert rig.modes[-1] == "stable"


def test_a_skill_that_no_mode_answers_is_refused_and_the_robot_stands_on() -> None:
    rig = Rig()
    rig.run(REST, "cartwheel")
    assert rig.modes == [] and rig.tick.reference.mode == "stable"
    assert "skill 'cartwheel'" in rig.tick.refused and "bowing" in rig.tick.refused
