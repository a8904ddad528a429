"""Closed-loop verdicts on rough ground: MuJoCo, sensors with noise, the estimator in the loop, one set of gains."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_balance.experiments import walk
from humanoid_balance.experiments.walk import BEGIN, Itinerary
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings


def walked(robot: str, speed: float, time: float, **world: Any) -> Run:
    return walk.run(RunSettings(robot=robot, time=time, **world), Itinerary(((BEGIN, (speed, 0.0, 0.0)),)))


def test_stairs_that_are_known_are_walked_up_and_down() -> None:
    """Each is higher than a foot is lifted on a floor, and the ankles of this robot do not bend far."""
    done = walked("g1", 0.4, 13.0, ground="stairs", rise=0.08, tread=0.3, blind=False)
    heights = done.record["true_sole_position"][:, :, 2]
    assert not done.result["fell"]
    assert heights.max() > 5 * 0.08
    assert heights[-1].max() < 0.08
    assert done.result["slip_max"] < 0.01


@pytest.mark.slow
def test_a_slope_that_begins_is_walked_up_blind() -> None:
    done = walked("talos", 0.4, 12.0, ground="slope", slope=8.0)
    assert not done.result["fell"]
    assert done.result["distance"] > 4.0
