"""``robot new`` and ``robot check``: from a URDF that nobody has described to a robot that is pushed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line.calls import Call

from humanoid_balance.robot import human, registry


def test_a_guessed_robot_stands_and_holds_pushes_from_four_sides(call: Call, tmp_path: Path) -> None:
    urdf = tmp_path / "body.urdf"
    urdf.write_text(human.generate())
    new = call("robot", "new", urdf)
    assert new.code == 0 and "body.yaml: written" in new.out, new.err
    again = call("robot", "new", urdf)
    assert again.code == 2 and "is there already" in again.err  # what somebody corrected by hand is kept
    result = call("robot", "check", tmp_path / "body.yaml", "--json").json
    assert result["passed"] and [r["direction"] for r in result["pushes"]] == [0, 90, 180, 270]
    assert all(r["stands"] and not r["fell"] for r in result["pushes"])


def test_a_robot_that_is_too_weak_fails_and_the_joints_are_named(call: Call, tmp_path: Path) -> None:
    text = Path(registry.config_folder() / "robots" / "human.yaml").read_text()
    weak = tmp_path / "weak.yaml"
    weak.write_text(text.replace('"*": {', '"*": {torque: 12, '))
    done = call("robot", "check", weak)
    assert done.code == 1 and done.out.endswith("not passed\n")
    assert "look at joints.l_knee.torque: standing takes" in done.out, done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "inside", ["romeo_description/urdf/romeo.urdf", "talos_data/robots/talos_reduced.urdf"], ids=["romeo", "talos"]
)
def test_robots_of_others_stand_as_guessed(call: Call, inside: str, tmp_path: Path) -> None:
    talos = registry.load("talos").urdf_path
    assert talos is not None
    assert call("robot", "new", talos.parents[2] / inside, "--output", tmp_path / "r.yaml").code == 0
    assert call("robot", "check", tmp_path / "r.yaml", "--json").json["passed"]
