"""The walk that is made from published angles is a normal person's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance import cli
from humanoid_balance.experiments import own_clip
from humanoid_balance.motions import normative
from humanoid_balance.motions.normative import ANKLE, EVENTS, HIP, KNEE
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot import registry

SPEED = 82 / 60  # [m/s], of the same people (Perry): nothing in the generator knows it
MISSED = 4.0  # six harmonics are this near to a published angle [deg]; its standard deviation is 5 or more


@pytest.mark.parametrize("angles", [HIP, KNEE, ANKLE])
def test_six_harmonics_give_the_published_angles(angles: tuple[float, ...]) -> None:
    curve = normative.angle(normative.harmonics(angles), np.array(EVENTS))
    assert np.abs(np.degrees(curve) - angles).max() < MISSED


def test_it_is_as_fast_as_the_people_were() -> None:
    clip = normative.walk()
    assert (clip.root[-1, 0] - clip.root[0, 0]) / clip.duration == pytest.approx(SPEED, rel=0.05)
    assert np.ptp(clip.root[:, 2]) < 0.05  # the body rises and falls by 4 cm


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_it_fits_every_robot(name: str) -> None:
    report = retarget(normative.walk(2), registry.load(name)).report
    assert report["slip_max"] < 0.005 and report["penetration_max"] < 0.005
    shares = [report["contacts"][f"{side}_foot"]["share"] for side in ("left", "right")]
    assert shares == pytest.approx([0.62, 0.62], abs=0.03)


def test_a_clip_of_our_own_needs_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "own.npz"
    assert cli.main(["motion", "make", "normative", "--robot", "g1", "-o", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["frames"] == RobotClip.load(out).frames


@pytest.mark.slow
@pytest.mark.parametrize("name", ["walk", "turn", "stop"])
def test_walks_are_recorded_from_the_walking_mode(name: str) -> None:
    robot = registry.load("g1")
    clip = own_clip.make(name, "g1")
    clip.check(robot)
    assert clip.report["slip_max"] < 0.02 and 0.0 < clip.report["penetration_max"] < 0.005
    assert all(f.any() and not f.all() for f in clip.contacts.values())
    (x, y), (_, _, qz, qw) = clip.q[-1, :2] - clip.q[0, :2], clip.q[-1, 3:7]
    turned = 2 * np.arctan2(qz, qw)
    if name == "turn":
        assert turned > 1.0 and y > 0.2
    else:
        assert abs(turned) < 0.2 and x > 0.4
    still = np.linalg.norm(clip.q[-1, :2] - clip.q[-30, :2])  # in the last second
    assert (still < 0.02) == (name == "stop")
