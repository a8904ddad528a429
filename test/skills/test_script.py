"""A script says what it means, and a wrong one is refused in one line that names the culprit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from skills.conftest import SCRIPT

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills import script as scripts
from humanoid_balance.skills.mirror import Mirror
from humanoid_balance.skills.plan import chain
from humanoid_balance.skills.writer import write


def test_a_joint_that_a_key_does_not_name_stays_as_in_the_key_before(human: Robot, script_file: Path) -> None:
    script = scripts.load(script_file, human)
    left, right = (human.joint_names.index(name) for name in ("l_knee", "r_knee"))
    assert script.name == "bend knees"
    assert [key.pose[left] for key in script.keys] == [1.0, 0.2]
    assert [key.pose[right] for key in script.keys] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "culprit"),
    [
        ('"*_knee": 1.0', "l_tail: 1.0", "l_tail"),
        ('"*_knee": 1.0', '"*_knee": 9.0', "'keys[0].pose.*_knee' is 9.0"),
        ('"*_knee": 1.0', '"*_knee": 2.7', "range of 'l_knee'"),
        ('"*_knee": 1.0', '"*_knee": .nan', "nan"),
        ("at: 1.0", "at: 0.5", "a time after 0.5 s"),
        ("at: 1.0", "at: .inf", "'keys[1].at' is inf"),
        ("ends: prone", "ends: flying", "'ends' is 'flying'"),
        ("starts: [supine]", "starts: [flying]", "flying"),
        ("stiffness: 50", "stiffness: -1", "stiffness"),
        ('"*": {', '"l_*": {', "gains of every joint"),
        ("{side: prone}", "{side: up}", "until.side"),
        ("patience: 0.4", "haste: 0.4", "haste"),
    ],
)
def test_a_wrong_script_is_refused_in_one_line(
    human: Robot, script_file: Path, old: str, new: str, culprit: str
) -> None:
    assert old in SCRIPT
    script_file.write_text(SCRIPT.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        scripts.load(script_file, human)
    assert culprit in str(caught.value)
    assert str(script_file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_written_is_read_again(human: Robot, script_file: Path, tmp_path: Path) -> None:
    script = scripts.load(script_file, human)
    copy = tmp_path / "copy.yaml"
    write(copy, script, human, {"seed": 1})
    again = scripts.load(copy, human)
    for one, other in zip(script.keys, again.keys, strict=True):
        np.testing.assert_allclose(one.pose, other.pose, atol=1e-4)
        assert (one.at, one.until, one.patience) == (other.at, other.until, other.patience)
    assert again.provenance == {"seed": 1}
    write(copy, script, human, {"seed": 1}, (2.0, 0.5))
    softer = scripts.load(copy, human)
    np.testing.assert_allclose(softer.stiffness, 2.0 * script.stiffness, atol=0.05)
    np.testing.assert_allclose(softer.damping, 0.5 * script.damping, atol=0.005)


@pytest.mark.parametrize("name", ["human", "g1", "talos"])
def test_mirroring_twice_gives_the_pose_and_keeps_the_stance(name: str) -> None:
    robot = registry.load(name)
    mirror = Mirror(robot)
    pose = np.random.default_rng(0).uniform(robot.lower, robot.upper)
    np.testing.assert_allclose(mirror.of(mirror.of(pose)), pose)
    np.testing.assert_allclose(mirror.of(robot.posture), robot.posture, atol=0.02)


@pytest.mark.parametrize("name", registry.names())
def test_every_script_of_the_package_loads(name: str) -> None:
    robot = registry.load(name)
    for script in scripts.library(robot).values():
        assert script.provenance, f"{script.file}: a script says how it was found"


def test_recover_chains_scripts_onto_the_feet(human: Robot, script_file: Path) -> None:
    roll = scripts.load(script_file, human)
    script_file.write_text(SCRIPT.replace("[supine]", "[prone]").replace("ends: prone", "ends: feet"), encoding="utf-8")
    rise = scripts.load(script_file, human)
    known = {"roll": roll, "rise": rise}
    assert [script.ends for script in chain(known, "supine")] == ["prone", "feet"]
    assert [script.ends for script in chain(known, "prone")] == ["feet"]
    assert chain(known, "left") == []


def test_a_variant_with_narrower_joints_goes_without_what_it_cannot_reach() -> None:
    kudoh = registry.load("human:ranges=kudoh")
    found = scripts.library(kudoh)
    assert "supine to prone" in found and "get up" not in found
    with pytest.raises(ConfigError, match=r"allowed: .*the range of"):
        scripts.find(found, "get up", kudoh)
