"""A clip on standing feet: the upper body follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from motions.person import walk, write

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import motion
from humanoid_balance.motions import bvh, normative
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

FOLLOWS = 10.0  # off the clip, root mean square, before pushes and 3 s after them [deg]
SHOVE, LASTS = 0.3, 0.1  # a push [m/s, s]
REST = 0.05  # a CoM that is slower stands [m/s]


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


def pushed(robot: str, folder: Path, seconds: float, pushes: dict[float, float]) -> Run:
    """Arms and trunk of a normal person's walk, and pushes: direction [deg] by time [s]."""
    body, file = registry.load(robot), folder / "clip.npz"
    retarget(normative.walk(), body).save(file)
    force = SHOVE * body.mass / LASTS
    profiles = [PushProfile(force, LASTS, direction, at) for at, direction in pushes.items()]
    return motion.run(RunSettings(robot=robot, time=seconds), file, profiles)


def follows(run: Run) -> None:
    result = run.result
    assert not result["fell"] and len(result["pushes"]) == len(run.pushes)
    assert result["modes"][-1][1] == "motion"
    assert result["tracking_error_deg"] < FOLLOWS


def test_a_push_does_not_end_the_clip(tmp_path: Path) -> None:
    done = pushed("g1", tmp_path, 5.2, {1.5: 0.0})
    follows(done)
    assert "in place" in [name for _, name in done.result["modes"]]


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["human", "talos", "g1"])
def test_the_clip_is_followed_for_20_s_while_pushed_from_four_sides(robot: str, tmp_path: Path) -> None:
    done = pushed(robot, tmp_path, 21.0, {3.0: 0.0, 7.5: 90.0, 12.0: 180.0, 16.5: 270.0})
    follows(done)
    for push in done.pushes:
        rows = (done.record["time"] > push.end + 3.0) & (done.record["time"] < push.end + 4.0)
        assert np.linalg.norm(done.record["true_com_velocity"][rows], axis=1).max() < REST


def test_a_clip_of_another_robot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is for 'g1'"):
        motion.run(RunSettings(robot="human"), clip_of("g1", tmp_path))
