"""Footstep plans in YAML: what is read, and what is refused with the entry that is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import footstep_plan
from humanoid_balance.experiments.walk import Itinerary

GOOD = "footsteps:\n- {foot: left, x: 0.2, y: 0.1}\n- {foot: right, x: 0.4, y: -0.1, yaw: 0.5}\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "plan.yaml"
    file.write_text(text)
    return file


def test_footsteps_are_sole_frames_in_the_plane(tmp_path: Path) -> None:
    left, right = footstep_plan.load(written(tmp_path, GOOD))
    assert (left.contact, right.contact) == ("l_sole", "r_sole")
    np.testing.assert_allclose(right.position, [0.4, -0.1, 0.0])
    np.testing.assert_allclose(left.rotation, np.eye(3))
    np.testing.assert_allclose(right.rotation[:, 0], [math.cos(0.5), math.sin(0.5), 0.0])


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("footsteps: []", "'footsteps'"),
        ("steps: []", "'footsteps' missing"),
        ("footsteps: [{foot: middle, x: 0, y: 0}]", "'footsteps[0].foot'"),
        ("footsteps: [{x: 0, y: 0}]", "'footsteps[0].foot'"),
        ("footsteps: [{foot: left, x: .nan, y: 0}]", "'footsteps[0].x'"),
        ("footsteps: [{foot: left, x: 0, y: 1e9}]", "'footsteps[0].y'"),
        ("footsteps: [{foot: left, x: 0, y: 0, yaw: north}]", "'footsteps[0].yaw'"),
        ("footsteps: [{foot: left, x: 0, y: 0, z: 1}]", "'footsteps[0].z'"),
        (GOOD + "speed: 1\n", "'speed'"),
    ],
)
def test_a_wrong_entry_is_named(text: str, culprit: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as wrong:
        footstep_plan.load(written(tmp_path, text))
    assert culprit in str(wrong.value) and "\n" not in str(wrong.value)


def test_a_script_mixes_velocities_and_plans(tmp_path: Path) -> None:
    text = (
        "commands:\n- {at: 1, velocity: [0.5, 0, 0]}\n"
        "- {at: 2, footsteps: [{foot: left, x: 1, y: 0.1}]}\n- {at: 3, velocity: [0, 0, 0.3]}\n"
    )
    script = Itinerary.load(written(tmp_path, text))
    assert script.at(1.5) == (0.5, 0.0, 0.0) and script.plan_at(1.5) == ()
    assert script.at(2.5) == (0.0, 0.0, 0.0) and len(script.plan_at(2.5)) == 1
    assert script.plan_at(2.5) is script.plan_at(2.6)  # the same plan goes on
    assert script.at(3.5) == (0.0, 0.0, 0.3) and script.plan_at(3.5) == ()
    for bad, why in (
        (text.replace("at: 3", "at: 2"), "rising times"),
        (text.replace("at: 3,", "at: 3, footsteps: [],"), "footsteps"),
    ):
        with pytest.raises(InputError, match=why):
            Itinerary.load(written(tmp_path, bad))
