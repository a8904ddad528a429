"""Short runs of the whole loop, one a robot and session, for the tests that only look at the record."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from humanoid_balance.experiments import push
from humanoid_balance.plants.pushes import PushProfile

Run = tuple[push.PushRun, list[PushProfile]]


@pytest.fixture(scope="session")
def short_run() -> Callable[..., Run]:
    """A function: robot, direction of the push [deg], slope of the ground [deg] -> run of 0.5 s and its push."""

    @functools.cache
    def run(robot: str = "human", direction: float = 0.0, slope: float = 0.0) -> Run:
        pushes = [PushProfile(80.0, 0.1, direction, 0.1)]
        return push.run(push.PushSettings(robot=robot, slope=slope, time=0.5), pushes), pushes

    return run
