"""Limits of a step that come from the hips of a robot."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from humanoid_balance.balance.reach import ASIDE, Reach, closest_feet, fastest_flight
from humanoid_balance.balance.step_cycle import StepCycle
from humanoid_balance.errors import InputError
from humanoid_balance.robot import registry


def test_hips_that_do_not_turn_inward_do_not_let_the_feet_cross() -> None:
    """Kudoh's range of the hip roll, 0 to 45 degrees, leaves the human only what its stance is wider than its hips."""
    human = registry.load("human:ranges=kudoh")
    assert 0.0 < closest_feet(human) < human.stance_width
    reach = Reach.of(human)
    assert reach.across == reach.near == closest_feet(human)


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
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
    assert Reach.distance(0.0, 0.3) < Reach.distance(0.3, 0.0) == pytest.approx(0.3)


def test_the_yaml_says_how_far_and_how_high_a_leg_steps(tmp_path: Path) -> None:
    plain = registry.load("human")
    file = tmp_path / "short_steps.yaml"
    file.write_text(plain.config.file.read_text() + "steps: {forward: 0.4, clearance: 0.09, longest: 1.0}\n")
    robot = registry.load(str(file))
    assert Reach.of(robot).forward == pytest.approx(0.4 * robot.com_height)
    assert Reach.of(robot).backward == Reach.of(plain).backward
    assert Reach.of(robot).longest == pytest.approx(1.0 / robot.omega)
    assert StepCycle(robot).clearance == pytest.approx(2 * StepCycle(plain).clearance)


@pytest.mark.parametrize(
    ("line", "said"),
    [("{forward: 9}", "forward"), ("{shortest: 1.0, longest: 0.9}", "more than shortest, 1"), ("{hop: 1}", "hop")],
)
def test_steps_that_no_leg_makes_are_refused(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(registry.load("human").config.file.read_text() + f"steps: {line}\n")
    with pytest.raises(InputError, match=said):
        registry.load(str(file))
