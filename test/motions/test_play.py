"""A clip on standing feet: the upper body follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from motions.person import walk, write

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import motion
from humanoid_balance.motions import bvh
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

FOLLOWS = 10.0  # off the clip, root mean square [deg]


def clip_of(robot: str, folder: Path) -> Path:
    file = folder / f"{robot}.npz"
    retarget(bvh.load(write(folder, walk(2.4, speed=0.0))), registry.load(robot)).save(file)
    return file


def test_posture_speed_and_acceleration_belong_together(tmp_path: Path) -> None:
    robot = registry.load("g1")
    retarget(bvh.load(write(tmp_path, walk(1.2))), robot).save(tmp_path / "c.npz")
    player = motion.choice(robot, str(tmp_path / "c.npz"))
    assert isinstance(player, PosturePlayer)
    h = 1e-5
    for t in (0.31, 0.7, 1.01):
        (a, va, _), (b, vb, _), (_, v, acceleration) = (player.at(x) for x in (t - h, t + h, t))
        assert np.allclose((b - a) / (2 * h), v, atol=1e-4)
        assert np.allclose((vb - va) / (2 * h), acceleration, atol=1e-2)
    legs = ~player.follows
    assert legs.sum() == 12 and (player.at(0.5)[0][legs] == robot.posture[legs]).all()


def test_the_upper_body_follows_a_clip(tmp_path: Path) -> None:
    done = motion.run(RunSettings(robot="g1", time=3.0), clip_of("g1", tmp_path))
    assert not done.result["fell"] and done.result["steps"] == 0
    assert done.result["tracking_error_deg"] < FOLLOWS
    assert [name for _, name in done.result["modes"]] == ["stable", "motion"]


def test_a_clip_of_another_robot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is for 'g1'"):
        motion.run(RunSettings(robot="human"), clip_of("g1", tmp_path))
