"""How a clip begins, repeats, goes on through a push and ends: without a jump of posture or speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from humanoid_balance.motions import normative
from humanoid_balance.motions.carriage import BLEND, UNASKED, ClipCarriage
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

DT = 1e-3


@dataclass
class Asked:
    """What a carriage looks at: the time, and the skill that is wanted."""

    stamp: float
    skill: str = "clip.npz"

    @property
    def state(self) -> Asked:
        return self

    @property
    def command(self) -> Asked:
        return self


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


@pytest.fixture(scope="module")
def player(robot: Robot) -> PosturePlayer:
    return PosturePlayer(retarget(normative.walk(2), robot), robot)


def begun(robot: Robot, player: PosturePlayer) -> ClipCarriage:
    return ClipCarriage("clip.npz", player, 0.0, robot.posture, np.zeros(robot.n))


def test_posture_speed_and_acceleration_are_one_motion_from_begin_to_end(robot: Robot, player: PosturePlayer) -> None:
    """Through the first approach, the end of the clip, where it begins again, and the stop."""
    carriage = begun(robot, player)
    stop = player.duration + 0.3
    rows = [carriage.at(Asked(t, "clip.npz" if t < stop else "")) for t in np.arange(DT, stop + 2 * BLEND, DT)]
    posture, velocity, acceleration = (np.array(part) for part in zip(*rows, strict=True))
    assert np.abs(posture[0] - robot.posture).max() < 1e-3
    moved = np.diff(posture, axis=0) / DT
    assert np.abs(moved - (velocity[1:] + velocity[:-1]) / 2).max() < 0.02
    jumps = np.abs(np.diff(velocity, axis=0)).max() / DT
    assert jumps < 1.5 * np.abs(acceleration).max()
    assert np.allclose(posture[-1], robot.posture) and np.allclose(velocity[-1], 0.0) and carriage.over


def test_the_clip_itself_is_played_once_it_is_reached(robot: Robot, player: PosturePlayer) -> None:
    carriage = begun(robot, player)
    for t in np.arange(DT, BLEND + 0.01, DT):
        posture, velocity, acceleration = carriage.at(Asked(t))
    for found, wanted in zip((posture, velocity, acceleration), player.at(t), strict=True):
        assert np.allclose(found, wanted, atol=1e-9)


def test_a_body_that_did_something_else_does_not_go_on_with_the_clip(robot: Robot, player: PosturePlayer) -> None:
    carriage = begun(robot, player)
    carriage.at(Asked(DT))
    carriage.at(Asked(2 * DT + UNASKED / 2))
    assert not carriage.over
    carriage.at(Asked(1.0))
    assert carriage.over
