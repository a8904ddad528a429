"""The optimiser: the same seed gives the same result, and an interrupted search goes on where it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dask_pair import dask_pair

from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills import optimise
from humanoid_balance.skills.script import load

SCRIPT = """
about: bends a knee
starts: [supine]
ends: prone
gains: {"*": {stiffness: 50, damping: 2}}
keys:
  - {at: 0.1, pose: {l_knee: 0.5}}
  - {at: 0.2, pose: {l_knee: 0.0}}
search: {joints: ["*_hip_pitch", "*_knee"], keys: [1], symmetric: true, times: true, spread: 0.2}
"""


def hunt(file: Path, journal: Path, rollouts: int) -> optimise.Found:
    return optimise.search("human", file, rollouts, seed=3, worlds=1, journal=journal)


def test_an_interrupted_search_ends_where_an_uninterrupted_one_does(tmp_path: Path) -> None:
    file = tmp_path / "bend.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    whole = hunt(file, tmp_path / "whole", 21)
    part = tmp_path / "part"
    hunt(file, part, 7)
    with part.open("a", encoding="utf-8") as book:
        book.write("[[1.2, 0], [3.")  # killed while it wrote a line
    again = hunt(file, part, 21)
    assert again.cost == whole.cost and again.history == whole.history
    for one, other in zip(whole.script.keys, again.script.keys, strict=True):
        np.testing.assert_array_equal(one.pose, other.pose)
    with pytest.raises(InputError, match="belongs to another search"):
        optimise.search("human", file, 7, seed=4, worlds=1, journal=part)


def test_two_processes_or_a_cluster_that_loses_a_worker_find_the_same(tmp_path: Path) -> None:
    file = tmp_path / "bend.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    alone = hunt(file, tmp_path / "alone", 14)
    two = optimise.search("human", file, 14, seed=3, worlds=1, workers=2)
    assert two.history == alone.history
    with dask_pair(tmp_path) as (address, crew):
        lost: list[bool] = []

        def kill_one(_: float, __: optimise.Found) -> None:
            if not lost:
                crew[0].kill()
                lost.append(True)

        there = optimise.search("human", file, 14, seed=3, worlds=1, progress=kill_one, cluster=address)
    assert lost and there.history == alone.history


def test_a_candidate_stays_inside_the_ranges_and_is_symmetric(tmp_path: Path, human: Robot) -> None:
    file = tmp_path / "bend.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    space = optimise.Space(load(file, human), human)
    assert space.size == 3  # a hip, a knee and a duration
    candidate = space.script_at(np.array([100.0, 100.0, 5.0]))
    for key in candidate.keys:
        assert (key.pose >= human.lower).all() and (key.pose <= human.upper).all()
    left, right = (human.joint_names.index(name) for name in ("l_hip_pitch", "r_hip_pitch"))
    assert candidate.keys[0].pose[left] == candidate.keys[0].pose[right] == human.upper[left]
    assert candidate.keys[0].at < candidate.keys[1].at
