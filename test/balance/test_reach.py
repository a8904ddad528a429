"""Limits of a step that come from the hips of a robot."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from humanoid_balance.balance.reach import ASIDE, Reach, closest_feet, fastest_flight
from humanoid_balance.robot import registry


def test_hips_that_do_not_turn_inward_do_not_let_the_feet_cross() -> None:
    """Kudoh's range of the hip roll, 0 to 45 degrees, leaves the human only what its stance is wider than its hips."""
    human = registry.load("human")
    assert 0.0 < closest_feet(human) < human.stance_width
    reach = Reach.of(human)
    assert reach.across == reach.near == closest_feet(human)


@pytest.mark.parametrize("name", ["talos", "g1"])
def test_hips_that_turn_inward_let_the_feet_cross(name: str) -> None:
    robot = registry.load(name)
    assert closest_feet(robot) < 0.0
    assert Reach.of(robot).across < 0.0


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_no_foot_flies_faster_than_its_hip_turns(name: str) -> None:
    robot = registry.load(name)
    reach = Reach.of(robot)
    assert ASIDE * reach.speed <= fastest_flight(robot) + 1e-9
    slow = replace(reach, speed=0.5, pull=math.inf)
    assert slow.flight(0.2) == pytest.approx(0.1)


def test_a_way_to_the_side_is_shorter_than_one_ahead() -> None:
    assert Reach.way(0.0, 0.3) < Reach.way(0.3, 0.0) == pytest.approx(0.3)
