"""Walking by a clip in closed loop: sensors with noise, estimator, safety box, the thesis's ground of springs."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import walk
from humanoid_balance.experiments.walk import Itinerary
from humanoid_balance.motions import library, normative
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

CLIPS = Path(__file__).parents[3] / "shared" / "motions" / "snu"


def test_a_robot_without_impedance_drives_does_not_go_by_a_clip(tmp_path: Path) -> None:
    file = tmp_path / "walk.npz"
    retarget(normative.walk(), registry.load("lee47")).save(file)
    with pytest.raises(InputError, match="allowed: ROBOT:drives=impedance"):
        walk.run(RunSettings(robot="g1", time=1.0), Itinerary(), style=file)


@pytest.mark.slow
@pytest.mark.skipif(not CLIPS.exists(), reason="no recordings in shared/motions beside the checkout")
def test_a_recorded_walk_goes_on_from_standing_without_drifting_aside(tmp_path: Path) -> None:
    """With flat soles, a start on one leg, or an estimator that takes the soles to stand, it falls before."""
    clip = tmp_path / "walk.npz"
    retarget(library.load(CLIPS / "wd2_WalkSameSame01.bvh"), registry.load("lee47")).save(clip)
    settings = RunSettings(robot="lee47", time=12.0, friction=1.0, ground="springs")
    result = walk.run(settings, Itinerary(), style=clip).result
    assert not result["fell"] and result["steps"] >= 14
