"""What all tests share: how properties are searched, and short runs of the whole loop.

Properties are tried on the same examples every time, so that a green run stays green; ``make slow`` searches with fresh
random ones (``HYPOTHESIS_PROFILE=search``). What a search finds becomes an explicit example. No deadlines: machines are
busy.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

import pytest
from hypothesis import settings

from humanoid_balance.experiments import push
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(scope="session")
def short_run() -> Callable[..., Run]:
    """A function: robot, direction of the push [deg], slope of the ground [deg] -> run of 0.5 s."""

    @functools.cache
    def run(robot: str = "human", direction: float = 0.0, slope: float = 0.0) -> Run:
        return push.run(RunSettings(robot=robot, slope=slope, time=0.5), [PushProfile(80.0, 0.1, direction, 0.1)])

    return run
