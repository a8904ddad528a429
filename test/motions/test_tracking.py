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
WORLD = {"friction": 1.0, "ground": "springs"}


def test_a_robot_without_impedance_drives_does_not_go_by_a_clip(tmp_path: Path) -> None:
    file = tmp_path / "walk.npz"
    retarget(normative.walk(), registry.load("lee47")).save(file)
    with pytest.raises(InputError, match="allowed: a robot with impedance drives"):
        walk.run(RunSettings(robot="g1", time=1.0), Itinerary(), style=file)


@pytest.mark.slow
@pytest.mark.skipif(not CLIPS.exists(), reason="no recordings in shared/motions beside the checkout")
@pytest.mark.parametrize("name", ["wd2_WalkSameSame01"])
def test_a_recorded_walk_goes_on_for_40_seconds(tmp_path: Path, name: str) -> None:
    clip = tmp_path / f"{name}.npz"
    retarget(library.load(CLIPS / f"{name}.bvh"), registry.load("lee47")).save(clip)
    result = walk.run(RunSettings(robot="lee47", time=40.0, **WORLD), Itinerary(), style=clip).result  # type: ignore[arg-type]
    assert not result["fell"] and result["steps"] >= 50
