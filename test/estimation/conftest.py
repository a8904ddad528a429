"""Robots and recorded frames for the tests; helpers are shared as ``estimation.<module>``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SensorFrame

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from estimation.motion import Motion


@pytest.fixture(scope="session")
def human() -> Robot:
    return registry.load("human")


@pytest.fixture(scope="session", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


@pytest.fixture(scope="session")
def swaying(human: Robot) -> list[SensorFrame]:
    """A second of a swaying human, perfect sensors."""
    return Motion(human).frames(1.0)
