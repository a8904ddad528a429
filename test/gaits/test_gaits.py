"""Gaits in closed loop: sensors with noise, the estimator, the safety box and MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest

from humanoid_balance import stack
from humanoid_balance.errors import InputError
from humanoid_balance.experiments.gait import BEGIN, Chain, period, run
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Command

PLANE = RunSettings(robot="r2d", planar=True, time=5.0, period=period("r2d"))


def asked(name: str, *more: tuple[float, str]) -> Chain:
    return Chain(((BEGIN, name), *more))


def test_the_planar_walk_has_the_thesis_s_period_and_a_push_does_not_stop_it() -> None:
    result = run(replace(PLANE, time=5.0), asked("walk"), [PushProfile(600.0, 0.1, 0.0, 2.5)]).result
    assert not result["fell"]
    assert result["step_period"] == pytest.approx(0.36, abs=0.03)  # Y16
    assert result["speed"] > 0.7
    assert [mode for _, mode in result["modes"]] == ["stable", "gait"]


def test_above_impedance_drives_a_slow_loop_walks_as_a_fast_one() -> None:
    slow, fast = (run(replace(PLANE, time=4.0, period=p), asked("walk")).result for p in (PLANE.period, 0.001))
    assert PLANE.period == 0.004
    assert not slow["fell"]
    assert not fast["fell"]
    assert slow["step_period"] == pytest.approx(fast["step_period"], abs=0.02)
    assert slow["speed"] == pytest.approx(fast["speed"], abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "walk", "in-place", "fast-walk", "high-step", "half-bent", "crouch", "backwards", "fast-run", "run", "bent",
        "skip", "scissor-hop",
    ],
)  # fmt: skip
def test_a_planar_gait_holds_a_minute(name: str) -> None:
    assert not run(replace(PLANE, time=60.0), asked(name)).result["fell"]


def test_the_skip_begins_from_the_walk_and_a_push_does_not_stop_it() -> None:
    """Its hop is drawn up to first: it takes over at the end of a half cycle."""
    result = run(replace(PLANE, time=9.0), asked("walk", (2.0, "skip")), [PushProfile(40.0, 0.1, 180.0, 6.0)]).result
    assert not result["fell"]


def test_a_step_down_that_nobody_expects_is_survived_where_the_heel_grazes_its_edge() -> None:
    result = run(replace(PLANE, time=7.0, drop=0.2, drop_at=3.3916, seed=5), asked("walk")).result
    assert not result["fell"]


def test_the_walk_climbs_twenty_degrees() -> None:
    result = run(replace(PLANE, time=6.0, slope=20.0), asked("walk:slope=20")).result
    assert not result["fell"]
    assert result["steps"] > 10
    assert result["speed"] > 0.3


def test_to_stand_is_a_link_of_a_chain_like_others() -> None:
    result = run(replace(PLANE, time=9.0), asked("in-place", (3.0, "stand"), (6.5, "walk"))).result
    assert not result["fell"]
    names = [mode for _, mode in result["modes"]]
    assert names[0] == "stable"
    assert names[-1] == "gait"
    assert names.count("gait") == 2


def test_the_spatial_walk_goes_forward_and_looks_ahead() -> None:
    human = "human:mass=90,drives=impedance"
    done = run(RunSettings(robot=human, time=8.0, period=period(human)), asked("walk-3d"))
    assert not done.result["fell"]
    assert done.result["speed"] > 0.25  # and rising: it is 0.55 m/s after half a minute
    x_axis = done.record["true_sole_rotation"][-1, :, :2, 0]
    assert np.abs(np.arctan2(x_axis[:, 1], x_axis[:, 0])).max() < 0.3  # toes ahead [rad]


@pytest.mark.slow
def test_the_spatial_walk_goes_straight_for_a_minute() -> None:
    human = "human:mass=90,drives=impedance"
    done = run(RunSettings(robot=human, time=60.0, period=period(human)), asked("walk-3d"))
    assert not done.result["fell"]
    assert done.result["speed"] > 0.2
    com = done.record["true_com"]
    assert abs(com[-1, 1]) < 0.1 * com[-1, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "name"), [("g1:drives=impedance", "walk-g1"), ("talos:drives=impedance", "walk-talos")]
)
def test_other_robots_walk_with_tables_of_their_own(robot: str, name: str) -> None:
    done = run(RunSettings(robot=robot, time=20.0, period=period(robot)), asked(name))
    assert not done.result["fell"]
    assert done.result["speed"] > 0.0


def test_a_gait_that_needs_the_walk_first_gets_it() -> None:
    result = run(replace(PLANE, time=6.0), asked("high-step")).result
    assert not result["fell"]


def test_rocking_feet_do_not_mislead_the_feedback_about_the_speed() -> None:
    """From the walk into the crouch the estimator's speed drifts by 1 m/s in five seconds; it ran away and fell."""
    result = run(replace(PLANE, time=14.0), asked("walk", (5.0, "crouch"))).result
    assert not result["fell"]
    assert result["speed"] < 2.2


TRANSITIONS = (
    ("walk", "in-place"), ("in-place", "high-step"), ("in-place", "backwards"), ("walk", "fast-walk"),
    ("walk", "crouch"), ("walk", "half-bent"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("pair", TRANSITIONS)
def test_one_gait_follows_another_from_any_phase(pair: tuple[str, str], back: bool) -> None:
    before, after = pair[::-1] if back else pair
    for k in range(10):  # of two steps, 0.712 s
        at = 6.0 + 0.0712 * k
        assert not run(replace(PLANE, time=at + 9.0), asked(before, (at, after))).result["fell"], f"phase {k}"


def test_an_unknown_gait_is_refused_before_the_run() -> None:
    with pytest.raises(InputError, match="moonwalk"):
        run(PLANE, asked("moonwalk"))


def test_a_gait_that_no_robot_has_is_refused_in_the_loop_and_the_robot_stands() -> None:
    robot, plant = stack.simulator(PLANE)
    loop = stack.simulated(robot, plant)
    for _ in range(50):
        tick = loop.tick(Command(plant.time, gait="moonwalk"))
    assert "moonwalk" in tick.refused
    assert tick.reference.mode == "stable"


def test_a_table_whose_feedback_has_the_wrong_sign_falls(tmp_path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "about: walk with c_v -0.1\nspace: plane\nstates:\n"
        "  - {time: 0.3, c_v: -0.1, swing_hip: 0.4, swing_knee: -1.1, swing_ankle: 0.2, stance_knee: -0.05,"
        " stance_ankle: 0.2}\n"
        "  - {until: swing, c_d: 2.2, swing_hip: -0.7, swing_knee: -0.05, swing_ankle: 0.2, stance_knee: -0.1,"
        " stance_ankle: 0.2}\n",
        encoding="utf-8",
    )
    assert run(replace(PLANE, time=8.0), asked(str(file))).result["fell"]


def test_nobody_asks_any_more_and_the_robot_stops_on_its_feet() -> None:
    robot, plant = stack.simulator(PLANE)
    loop = stack.simulated(robot, plant)
    for _ in range(1750):
        now = plant.time
        tick = loop.tick(Command(now, gait="walk" if 0.3 < now < 2.5 else ""))
        assert not plant.truth().fell
    assert tick.reference.mode in ("stable", "in place")
    assert np.linalg.norm(tick.state.com_velocity) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("slope", [6.0, -6.0])
def test_the_planar_walk_climbs_and_descends_six_degrees(slope: float) -> None:
    assert not run(replace(PLANE, slope=slope, time=20.0), asked("walk")).result["fell"]


@pytest.mark.slow
@pytest.mark.parametrize(("force", "direction"), [(600.0, 0.0), (500.0, 180.0)])
def test_ten_pushes_in_a_row_are_survived(force: float, direction: float) -> None:
    pushes = [PushProfile(force, 0.1, direction, 5.0 * k) for k in range(1, 11)]
    result = run(replace(PLANE, time=55.0), asked("walk"), pushes).result
    assert [push["survived"] for push in result["pushes"]] == [True] * 10


@pytest.mark.slow
def test_a_motor_of_seventy_newton_metres_is_too_weak_to_walk() -> None:
    assert run(replace(PLANE, torque_limit=70.0, time=20.0), asked("walk")).result["fell"]
