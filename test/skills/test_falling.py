"""A fall that cannot be helped: by direction, softer than a limp one, and the loop goes on afterwards."""

from __future__ import annotations

import math
from typing import Any

import pytest

from humanoid_balance import stack
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import skill
from humanoid_balance.experiments.simulation import simulate
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.falling import BACKWARD, FORWARD, LEFT, RIGHT, direction, falls
from humanoid_balance.skills.mirror import Mirror
from humanoid_balance.stack import RunSettings

LESS = 0.6  # peak force of a protected fall against a limp one (issue: -40 % in the median)


class Seen:
    """What ``direction`` looks at."""

    def __init__(self, degrees: float, yaw: float) -> None:
        angle = math.radians(degrees) + yaw
        self.caught, self.middle, self.yaw = (1.0 + math.cos(angle), 2.0 + math.sin(angle)), (1.0, 2.0), yaw


@pytest.mark.parametrize("yaw", [0.0, 3.0])
@pytest.mark.parametrize(
    ("degrees", "towards"), [(0, FORWARD), (-45, FORWARD), (90, LEFT), (-90, RIGHT), (135, BACKWARD), (180, BACKWARD)]
)
def test_the_direction_is_seen_from_the_feet(degrees: float, towards: str, yaw: float) -> None:
    seen: Any = Seen(degrees, yaw)
    assert direction(seen) == towards


def test_a_fall_to_the_right_is_the_mirror_image_of_one_to_the_left(human: Robot) -> None:
    found, mirror = falls(human), Mirror(human)
    assert set(found) == {FORWARD, BACKWARD, LEFT, RIGHT}
    for left, right in zip(found[LEFT].keys, found[RIGHT].keys, strict=True):
        assert mirror.of(right.pose) == pytest.approx(left.pose)


def test_a_variant_with_narrower_joints_falls_within_its_ranges() -> None:
    robot = registry.load("human:ranges=anatomical")
    scripts = falls(robot)
    assert set(scripts) == {FORWARD, BACKWARD, LEFT, RIGHT}
    for script in scripts.values():
        for key in script.keys:
            assert (key.pose >= robot.lower - 1e-9).all() and (key.pose <= robot.upper + 1e-9).all()


def test_a_robot_without_falls_of_its_own_tucks_its_limbs() -> None:
    robot = registry.load("talos")
    mode: Any = stack.balance(robot).modes["falling"]
    wanted, _, _ = mode.pose(0.1)
    assert falls(robot) == {} and (wanted == mode.tucked).all()


def test_a_kind_of_fall_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match="fall is 'swan'; allowed: protect, limp"):
        RunSettings("human", fall="swan")


def test_a_protected_fall_is_softer_than_a_limp_one_and_ends_lying(human: Robot, monkeypatch: Any) -> None:
    boxes, active = [], stack.active
    monkeypatch.setattr(stack, "active", lambda *a: boxes.append(active(*a)) or boxes[-1])
    push = PushProfile(2.0 * human.mass / 0.2, 0.2, 180.0, 0.3)
    peak = {}
    for kind in ("limp", "protect"):
        run = simulate(RunSettings("human", seed=1, fall=kind), [push], 2.6, to_the_end=True)
        peak[kind] = skill.peak_force(run)
        assert [name for _, name in run.record.mode_changes][-2:] == ["falling", "lying"]
    assert peak["protect"] < LESS * peak["limp"]
    assert boxes[-1].trip is None
