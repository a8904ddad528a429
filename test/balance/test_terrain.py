"""Closed-loop verdicts on rough ground: MuJoCo, sensors with noise, the estimator in the loop, one set of gains."""

from __future__ import annotations

import pytest

from humanoid_balance.experiments import walk
from humanoid_balance.experiments.walk import BEGIN, Itinerary, Velocity
from humanoid_balance.plants import terrain
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings

SPEED = {"human": 0.5, "talos": 0.4, "g1": 0.5}  # [m/s]
STAIRS = {"human": 0.15, "talos": 0.10, "g1": 0.08}  # [m]
DROPS = {"human": 0.05, "talos": 0.03, "g1": 0.03}  # [m]


def walked(robot: str, time: float, velocity: Velocity | None = None, **world: object) -> Run:
    script = Itinerary(((BEGIN, velocity or (SPEED[robot], 0.0, 0.0)),))
    return walk.run(RunSettings(robot=robot, time=time, **world), script)


def test_three_stairs_that_are_known_are_climbed() -> None:
    """Each is higher than a foot is lifted on a floor."""
    done = walked("g1", 6.5, ground="stairs", rise=0.08, tread=0.3, blind=False)
    assert not done.result["fell"]
    assert done.record["true_sole_position"][-1, :, 2].max() > 2.5 * 0.08
    assert done.result["slip_max"] < 0.01


def test_a_step_down_that_nobody_knows_of_is_survived() -> None:
    done = walked("g1", 4.5, ground="drop", drop=0.04, drop_at=0.8)
    assert not done.result["fell"]
    assert done.record["true_sole_position"][-1, :, 2].max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("robot", SPEED)
def test_stairs_that_are_known_are_climbed_up_and_down(robot: str) -> None:
    far = terrain.BEGIN + 2 * terrain.FLIGHT * 0.3 + terrain.LANDING
    done = walked(robot, 3.0 + 1.4 * far / SPEED[robot], ground="stairs", rise=STAIRS[robot], tread=0.3, blind=False)
    assert not done.result["fell"]
    assert done.result["distance"] > far


@pytest.mark.slow
@pytest.mark.parametrize("angle", [8.0, -8.0])
@pytest.mark.parametrize("robot", SPEED)
def test_a_slope_that_begins_and_ends_is_walked_blind(robot: str, angle: float) -> None:
    done = walked(robot, 2.0 + 7.0 / SPEED[robot], ground="slope", slope=angle)
    assert not done.result["fell"]
    assert done.result["distance"] > 6.0


@pytest.mark.slow
@pytest.mark.parametrize("ground", ["drop", "hole"])
@pytest.mark.parametrize("at", [1.2, 1.3])
@pytest.mark.parametrize("robot", SPEED)
def test_a_drop_and_a_hole_are_walked_over_blind(robot: str, at: float, ground: str) -> None:
    done = walked(robot, 7.0, ground=ground, drop=DROPS[robot], drop_at=at)
    assert not done.result["fell"]
