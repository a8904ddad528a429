"""motion info: the figures of a clip, also of the recordings beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from motions.person import STANCE, walk, write

from humanoid_balance import cli
from humanoid_balance.motions import feet, info, library
from humanoid_balance.motions.subject import understood

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "motions"


def test_a_walk_is_told_in_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, walk(4.0))
    assert cli.main(["motion", "info", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["frames"], found["rate"], found["unit"], found["joints"]) == (121, 30.0, "m", 16)
    assert found["parts"]["left_knee"] == "LeftLeg" and found["parts"]["chest"] == "Chest"
    for side in ("left", "right"):
        assert found["contacts"][f"{side}_foot"] == pytest.approx(STANCE, abs=0.08)
        assert found["contacts"][f"{side}_hand"] == found["contacts"][f"{side}_knee"] == 0.0


def test_a_skeleton_without_legs_has_figures_too(tmp_path: Path) -> None:
    text = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    text += "End Site\n{\nOFFSET 0 1 0\n}\n}\n"
    found = info.facts(library.load(write(tmp_path, text + "MOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n0 0 1\n")))
    assert found["frames"] == 2 and "no two legs" in found["trouble"]


@pytest.mark.parametrize("name", ["missing.bvh", "walk.fbx"])
def test_what_is_no_clip_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "walk.fbx").write_text("Kaydara")
    assert cli.main(["motion", "info", str(tmp_path / name)]) == 2
    told = capsys.readouterr().err
    assert name in told and told.count("\n") == 1


def test_recorded_clips_are_understood() -> None:
    files = sorted(RECORDED.rglob("*.bvh"))
    if not files:
        pytest.skip(f"no recordings in {RECORDED.parent.name}/{RECORDED.name} beside the checkout")
    for file in files:
        found = info.facts(library.load(file))
        assert found["trouble"] is None and 0.7 < found["leg"] < 0.95, file.name
        assert found["unit"] == ("cmu" if file.parent.name == "cmu" else "m" if "woddy" not in file.name else "cm")
        assert found["contacts"]["left_foot"] > 0.1 and found["contacts"]["right_foot"] > 0.1, file.name


def test_a_runner_touches_the_ground_once_per_step() -> None:
    file = RECORDED / "cmu" / "16_35.bvh"
    if not file.exists():
        pytest.skip(f"no {file.name} in {RECORDED.parent.name}/{RECORDED.name} beside the checkout")
    touching = feet.find(understood(library.load(file)))
    lasts = [(end - begin) / 120.0 for f in touching.feet for begin, end in feet.runs(f.heel_down | f.ball_down)]
    assert len(lasts) == 4 and all(0.08 < time < 0.3 for time in lasts)
    both = touching.contacts["left_foot"] & touching.contacts["right_foot"]
    assert not both.any()  # it flies in between
