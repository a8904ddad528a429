"""A person's walk on robots: feet that neither slide nor sink, limits kept, the same directions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from motions.person import PERIOD, STRIDE, Spelling, walk, write

from humanoid_balance import cli
from humanoid_balance.errors import InputError
from humanoid_balance.motions import bvh
from humanoid_balance.motions.feet import runs
from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot import registry

ROBOTS = ("human", "talos", "g1")


@pytest.fixture(scope="module")
def walking(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RobotClip]:
    clip = bvh.load(write(tmp_path_factory.mktemp("walk"), walk(2.4, Spelling(unit=0.01))))
    return {name: retarget(clip, registry.load(name)) for name in ROBOTS}


@pytest.mark.parametrize("name", ROBOTS)
def test_standing_soles_stay_and_nothing_is_in_the_ground(name: str, walking: dict[str, RobotClip]) -> None:
    """Measured anew from the configurations: five corners' worth of sole, not what the importer reports."""
    robot, clip = registry.load(name), walking[name]
    data = robot.model.createData()
    for side, frame in enumerate(robot.sole_frames):
        corners = np.empty((clip.frames, 4, 3))
        for k, q in enumerate(clip.q):
            pin.framesForwardKinematics(robot.model, data, q)
            corners[k] = [data.oMf[frame].act(c) for c in robot.soles[side]]
        assert corners[..., 2].min() > -0.005
        stands = clip.contacts[("left_foot", "right_foot")[side]]
        assert 0.5 < stands.mean() < 0.75
        for begin, end in runs(stands):
            flat = corners[begin:end][corners[begin:end, :, 2].max(axis=1) < 1e-3]
            assert len(flat) and np.abs(flat - flat[0]).max() < 0.005


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_of_position_and_speed_are_kept(name: str, walking: dict[str, RobotClip]) -> None:
    robot, clip = registry.load(name), walking[name]
    assert (clip.q[:, 7:] > robot.lower).all() and (clip.q[:, 7:] < robot.upper).all()
    speed = np.abs(np.diff(clip.q[:, 7:], axis=0)) * clip.rate
    assert (speed < robot.velocity_limit + 1e-9).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_the_way_is_scaled_by_the_legs_and_directions_are_kept(name: str, walking: dict[str, RobotClip]) -> None:
    robot, clip = registry.load(name), walking[name]
    way = clip.q[-1, 0] - clip.q[0, 0]
    assert way == pytest.approx(2.4 * STRIDE / PERIOD * RobotLimbs(robot).leg / 0.83, rel=0.05)
    assert clip.report["joint_error_rms"] < 0.25  # shoulders of talos cannot swing a hanging arm freely


def test_import_tells_how_it_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = write(tmp_path, walk(0.5)), tmp_path / "clip.npz"
    assert cli.main(["motion", "import", str(file), "--robot", "g1", "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    wanted = {"robot", "frames", "rate", "duration", "slip_max", "penetration_max", "limit_hits", "joint_error_rms"}
    assert wanted | {"contacts", "seconds"} <= set(told)
    clip = RobotClip.load(out)
    assert clip.frames == told["frames"] == 16 and clip.report["slip_max"] == told["slip_max"]
    clip.check(registry.load("g1"))
    with pytest.raises(InputError, match="is for 'g1'"):
        clip.check(registry.load("talos"))


def test_a_robot_without_such_legs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, walk(0.2))
    assert cli.main(["motion", "import", str(file), "--robot", "r2d", "-o", str(tmp_path / "c.npz")]) == 2
    told = capsys.readouterr().err
    assert "3 joints per leg" in told and told.count("\n") == 1


def test_joints_can_be_named_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, mapping = write(tmp_path, walk(0.2)), tmp_path / "map.yaml"
    mapping.write_text("chest: Spine\n")
    call = ["motion", "import", str(file), "--robot", "g1", "-o", str(tmp_path / "c.npz"), "--map", str(mapping)]
    assert cli.main(call) == 0
    mapping.write_text("chest: Tail\n")
    assert cli.main(call) == 2
    assert "Tail" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["empty", "text", "cut"])
def test_a_file_that_is_no_robots_clip_is_refused(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "clip.npz"
    np.savez(file, q=np.zeros((3, 36)))
    data = {"empty": b"", "text": b"not a zip", "cut": file.read_bytes()[:100]}[damage]
    file.write_bytes(data)
    with pytest.raises(InputError, match="not a robot's clip"):
        RobotClip.load(file)


RECORDED = Path(__file__).resolve().parents[3] / "shared" / "motions"
MISSED = {("human", "woddy2_walk_normal_left_90"), ("g1", "woddy2_walk_normal_left_135")}  # slip by 5.6 and 13.8 mm


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_recorded_clips_neither_slip_nor_sink(name: str) -> None:
    robot, files = registry.load(name), sorted(RECORDED.rglob("*.bvh"))
    if not files:
        pytest.skip(f"no recordings in {RECORDED.parent.name}/{RECORDED.name} beside the checkout")
    for file in files:
        clip = retarget(bvh.load(file), robot)
        assert clip.report["penetration_max"] < 0.005, file.name
        assert clip.report["slip_max"] < (0.02 if (name, file.stem) in MISSED else 0.005), file.name
        assert (clip.q[:, 7:] > robot.lower).all() and (clip.q[:, 7:] < robot.upper).all(), file.name
        if file.stem.startswith("140_"):
            assert any(clip.contacts[f"{side}_hand"].any() for side in ("left", "right")), file.name
