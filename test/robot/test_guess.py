"""A YAML guessed from a URDF: the right feet, soles, trunk and posture, whatever the maker calls them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.robot import config as robot_config
from humanoid_balance.robot import human, registry
from humanoid_balance.robot.findings import findings
from humanoid_balance.robot.guess import guess
from humanoid_balance.robot.model import Robot


def example(inside: str) -> Path:
    """A URDF of example-robot-data, by way of a YAML that is there."""
    talos = registry.load("talos").urdf_path
    assert talos is not None
    return talos.parents[2] / inside


def made(urdf: Path, folder: Path) -> Robot:
    target = folder / "guessed.yaml"
    target.write_text(guess(urdf, target))
    return registry.load(str(target))


@pytest.fixture
def anonymous(tmp_path: Path) -> Path:
    """The generated human, in which every joint and link is called by a number."""
    urdf = human.generate()
    names = sorted(set(re.findall(r'(?:name|link)="(\w+)"', urdf)) - {"skin"})
    for k, name in enumerate(names):
        urdf = urdf.replace(f'"{name}"', f'"part_{k:03d}"')
    path = tmp_path / "anonymous.urdf"
    path.write_text(urdf)
    return path


def test_a_body_without_names_is_understood(anonymous: Path, tmp_path: Path) -> None:
    found, known = made(anonymous, tmp_path), registry.load("human")
    assert found.mass == pytest.approx(known.mass)
    for side in range(2):  # the generator's sole is a box, so there is one right answer
        np.testing.assert_allclose(np.ptp(found.soles[side], axis=0), np.ptp(known.soles[side], axis=0), atol=2e-3)
    assert found.stance_width > 0.1  # left is left
    assert len(found.groups["legs"]) == len(known.groups["legs"])
    assert len(found.groups["torso"]) == len(known.groups["torso"])
    assert len(found.groups["head"]) == len(known.groups["head"])
    legs = found.posture[found.groups["legs"]]
    assert np.abs(legs).max() == pytest.approx(0.6, abs=0.15)  # the knees are bent


@pytest.mark.parametrize("name", ["talos", "g1"])
def test_guesses_agree_with_the_yaml_that_people_wrote(name: str, tmp_path: Path) -> None:
    known = registry.load(name)
    assert known.urdf_path is not None
    found = made(known.urdf_path, tmp_path)
    assert found.config.torso == known.config.torso
    assert found.config.imu == known.config.imu
    for mine, theirs in zip(found.config.feet, known.config.feet, strict=True):
        assert mine.frame == theirs.frame
    for side in range(2):
        np.testing.assert_allclose(found.soles[side].mean(axis=0), known.soles[side].mean(axis=0), atol=0.02)
    left = {name for name in found.joint_names if "left" in name}
    for group in ("legs", "torso", "arms"):
        names = {found.joint_names[k] for k in found.groups[group]}
        assert names == {known.joint_names[k] for k in known.groups[group]}
        assert group == "torso" or names & left
    assert found.stance_width > 0.1


def test_every_guess_has_a_comment(tmp_path: Path) -> None:
    text = guess(example("romeo_description/urdf/romeo.urdf"), tmp_path / "romeo.yaml")
    for key in ("torso:", "imu:", "  left:", "  LKneePitch: 0", "locked:", "groups:", '  "*":'):
        (line,) = (line for line in text.splitlines() if line.startswith(key))
        assert "  # " in line, line
    robot = made(example("romeo_description/urdf/romeo.urdf"), tmp_path)
    assert robot.config.feet[0].frame == "l_sole" and findings(robot) == []


def test_feet_without_geometry_are_said_to_be_guessed_and_weak_joints_are_named(tmp_path: Path) -> None:
    urdf = example("simple_humanoid_description/urdf/simple_humanoid.urdf")
    assert "NO GEOMETRY FOUND: measure the sole" in guess(urdf, tmp_path / "simple.yaml")
    assert any(line.startswith("joints.WAIST_P.torque: standing takes") for line in findings(made(urdf, tmp_path)))


def test_a_root_that_looks_backwards_keeps_left_and_right(tmp_path: Path) -> None:
    robot = made(example("icub_description/robots/icub.urdf"), tmp_path)
    ankles = [robot.model.names[robot.model.frames[frame].parentJoint] for frame in robot.sole_frames]
    assert [name[:2] for name in ankles] == ["l_", "r_"]
    assert robot.stance_width > 0.05


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<robot name='r'><link name='a'/></robot>", "no mass"),
        ("no xml", "XML"),
        (
            "<robot name='r'><link name='a'><inertial><mass value='3'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
            "ixz='0' iyz='0'/></inertial></link></robot>",
            "no two feet",
        ),
    ],
)
def test_a_file_without_a_biped_gets_one_line(text: str, told: str, tmp_path: Path) -> None:
    urdf = tmp_path / "r.urdf"
    urdf.write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        guess(urdf, tmp_path / "r.yaml")
    assert str(urdf) in str(caught.value) and "\n" not in str(caught.value)


def test_the_guess_is_a_file_that_is_read_without_complaint(anonymous: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "r.yaml"
    target.parent.mkdir()
    target.write_text(guess(anonymous, target))
    assert robot_config.load(target).urdf == "../anonymous.urdf"  # the path counts from the YAML
