"""Helpers of this folder can be imported by name."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import RobotState, SensorFrame

sys.path.insert(0, str(Path(__file__).parent))

from box_faults import STAMP


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("human")


@pytest.fixture(scope="module")
def standing(robot: Robot) -> tuple[SensorFrame, RobotState]:
    """A good sensor frame of a standing robot and the state that belongs to it."""
    frame = replace(MujocoPlant(robot).read(), stamp=STAMP)
    return frame, Estimator(robot).update(frame)
