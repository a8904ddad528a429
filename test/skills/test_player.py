"""The player passes through the key poses, waits for the body, and gives up with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from skills.conftest import SCRIPT

from humanoid_balance.robot.model import Robot
from humanoid_balance.skills import script as scripts
from humanoid_balance.skills.curve import Curve
from humanoid_balance.skills.player import STUCK, SWING, Player, Tilt

DT = 0.001


def test_the_curve_passes_through_its_knots_and_its_velocity_is_its_derivative() -> None:
    rng = np.random.default_rng(1)
    times = [0.0, 0.4, 1.1, 1.5]
    points = rng.uniform(-1, 1, (4, 3))
    curve = Curve(times, points)
    for time, point in zip(times, points, strict=True):
        np.testing.assert_allclose(curve.at(time)[0], point, atol=1e-12)
    for time in np.linspace(0.01, 1.49, 40):
        numeric = (curve.at(time + 1e-6)[0] - curve.at(time - 1e-6)[0]) / 2e-6
        np.testing.assert_allclose(curve.at(time)[1], numeric, atol=1e-4)
    assert not curve.at(0.0)[1].any()
    assert not curve.at(2.0)[1].any()


def follow(player: Player, robot: Robot, seconds: float, side: str, follows: bool = True) -> None:
    """Play with joints that are where they should be, or that never move."""
    q = robot.q_nominal.copy()
    q[7:] = 0.0
    for _ in range(round(seconds / DT)):
        position, _ = player.update(DT, q, side, 0.0)
        if follows:
            q[7:] = position


def test_a_key_waits_for_the_side_and_the_skill_is_given_up_when_it_does_not_come(
    human: Robot, script_file: Path
) -> None:
    player = Player(human, scripts.load(script_file, human))
    player.begin(np.zeros(human.n))
    follow(player, human, 1.3, "supine")
    assert player.clock == pytest.approx(1.0)
    assert not player.done and not player.gave_up
    follow(player, human, 0.2, "supine")
    assert "prone" in player.gave_up and "supine" in player.gave_up


def test_a_key_whose_condition_is_met_does_not_wait(human: Robot, script_file: Path) -> None:
    player = Player(human, scripts.load(script_file, human))
    player.begin(np.zeros(human.n))
    follow(player, human, 1.01, "prone")
    assert player.done and not player.gave_up


def test_the_clock_waits_for_joints_that_lag_and_names_the_one_that_is_stuck(human: Robot, script_file: Path) -> None:
    far = SCRIPT.replace('"*_knee": 1.0', '"*_knee": 2.3').replace("{l_knee: 0.2}", "{}")
    script_file.write_text(far.replace(", until: {side: prone}, patience: 0.4", ""), encoding="utf-8")
    player = Player(human, scripts.load(script_file, human))
    player.begin(np.zeros(human.n))
    follow(player, human, 0.6, "supine", follows=False)
    assert player.clock < 0.5
    follow(player, human, 3 * STUCK, "supine", follows=False)
    assert "knee" in player.gave_up


def test_a_target_against_the_world_holds_the_link_whatever_the_trunk_does(human: Robot) -> None:
    tilt, q = Tilt(human), human.q_nominal.copy()
    hip = human.joint_names.index("l_hip_pitch")
    assert tilt.of(q)[hip] == pytest.approx(0.0, abs=1e-9)
    for pitch in (-1.2, 0.4, 1.5):
        q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, pitch, 0.0)).coeffs()
        assert tilt.of(q)[hip] == pytest.approx(pitch, abs=0.01)  # the stance itself is not quite level


@pytest.mark.parametrize(("load", "length"), [(0.0, 1.5), (0.5, 1.0)])
def test_a_key_that_is_not_needed_is_left_out(human: Robot, tmp_path: Path, load: float, length: float) -> None:
    file = tmp_path / "push.yaml"
    head = SCRIPT[: SCRIPT.index("  - ")]
    keys = (
        "at: 0.5, pose: {l_knee: 1.0}",
        "at: 1.0, pose: {l_knee: 2.0}, unless: {soles: 0.2}",
        "at: 1.5, pose: {l_knee: 0.5}",
    )
    file.write_text(head + "".join(f"  - {{{key}}}\n" for key in keys), encoding="utf-8")
    player = Player(human, scripts.load(file, human))
    q, knee, highest, ticks = human.q_nominal.copy(), human.joint_names.index("l_knee"), 0.0, 0
    q[7:] = 0.0
    player.begin(q[7:])
    while not player.done:
        q[7:], _ = player.update(DT, q, "prone", load)
        highest, ticks = max(highest, q[7 + knee]), ticks + 1
    assert ticks * DT == pytest.approx(length, abs=0.01)
    assert q[7 + knee] == pytest.approx(0.5, abs=0.01)
    assert (highest > 1.9) == (load == 0.0)


def test_a_first_key_that_is_far_away_comes_later_and_the_others_with_it(human: Robot, script_file: Path) -> None:
    script = scripts.load(script_file, human)
    near, far = Player(human, script), Player(human, script)
    pose = script.keys[0].pose
    near.begin(pose)
    away = pose.copy()
    away[human.joint_names.index("l_shoulder_pitch")] -= 3.6
    far.begin(away)
    late = 3.6 / SWING - script.keys[0].at
    assert late > 0 and [key.at for key in near.script.keys] == [key.at for key in script.keys]
    assert [key.at for key in far.script.keys] == pytest.approx([key.at + late for key in script.keys])
