"""Bare physics of the optimiser: scripts that get up end where the loop would hand the body over to the QP."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills import cost
from humanoid_balance.skills.handover import on_feet
from humanoid_balance.skills.rollout import Bench
from humanoid_balance.skills.script import library

STANDS = {"load": 1.0, "flat": 1.0, "speed": 0.1, "over": 0.05, "margin": 0.04}


@pytest.mark.parametrize("trouble", [{"load": 0.5}, {"flat": 0.9}, {"speed": 0.6}, {"over": -0.01}, {"margin": -0.01}])
def test_a_body_is_on_its_feet_when_com_and_capture_point_are_over_flat_loaded_soles(trouble: dict[str, float]) -> None:
    assert on_feet(**STANDS)
    assert not on_feet(**(STANDS | trouble))


@pytest.mark.parametrize(("seed", "friction"), [(4, 0.5), (5, 1.0)])
@pytest.mark.parametrize("name", ["human", "g1"])
def test_a_body_comes_onto_its_feet_on_slippery_and_rough_ground(name: str, seed: int, friction: float) -> None:
    robot = registry.load(name)
    bench, script = Bench(robot, friction), library(robot)["get up"]
    player, seen = bench.play(script, bench.lay("prone", np.random.default_rng(seed)))
    value, reached = cost.cost(robot, script, player, seen)
    assert reached and value < cost.FAILED and not player.gave_up
    assert seen.time[-1] < 7.0 and seen.margin[-1] > 0.0


def test_a_body_that_lies_on_its_face_is_not_handed_over(human: Robot) -> None:
    bench, script = Bench(human, 0.8), library(human)["prone to supine"]
    _, seen = bench.play(script, bench.lay("prone"), after=0.0)
    assert not any(seen.on_feet) and max(seen.margin) < 0.0
