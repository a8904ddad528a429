"""Plans of experiments: what they mean, and how mistakes in them are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import plan
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

PUSH = "pushes: [{force: 100, duration: 0.1}]\n"


def load(tmp_path: Path, text: str) -> list[plan.PlannedRun]:
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    return plan.load(file)


def test_every_combination_is_one_run(tmp_path: Path) -> None:
    text = "pushes: [{force: 100, duration: 0.1}, {force: 50, duration: 0.2, direction: 90}]\n"
    runs = load(tmp_path, text + "robots: [human, g1]\nstrategies: [auto, in-place]\nseeds: [0, 1, 2]\n")
    assert len(runs) == len({run.key for run in runs}) == 2 * 2 * 2 * 3
    assert {run.settings.seed for run in runs} == {0, 1, 2}
    assert {run.push.direction for run in runs} == {0.0, 90.0}


def test_what_is_listed_twice_is_done_once(tmp_path: Path) -> None:
    assert len(load(tmp_path, PUSH + "seeds: [3, 3]\n")) == 1


@pytest.mark.parametrize("profile", ["constant", "half-sine"])
def test_a_velocity_change_becomes_a_force_for_each_mass(tmp_path: Path, profile: str) -> None:
    text = f"pushes: [{{dv: 0.5, duration: 0.2, profile: {profile}}}]\nrobots: [human, g1]\n"
    for run in load(tmp_path, text):
        assert run.push.impulse == pytest.approx(0.5 * registry.load(run.settings.robot).mass)


def test_a_run_that_differs_in_anything_has_another_key(tmp_path: Path) -> None:
    (plain,) = load(tmp_path, PUSH)
    (other,) = load(tmp_path, PUSH + "settings: {friction: 0.5}\n")
    assert plain.key != other.key


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a mapping of keys"),
        ("- a\n", "a mapping of keys"),
        ("pushes: [\n", "not YAML"),
        ("robots: [human]\n", "'pushes' missing"),
        ("pushes: []\n", "'pushes'"),
        (PUSH + "colour: red\n", "'colour'"),
        (PUSH + "robots: [r2d2]\n", "r2d2"),
        (PUSH + "robots: [7]\n", "'robots' is 7"),
        (PUSH + "strategies: [fly]\n", "'fly'"),
        (PUSH + "seeds: [a]\n", "'seeds'"),
        (PUSH + "seeds: [-1]\n", "seed is -1"),
        (PUSH + "settings: {wind: 3}\n", "settings.wind"),
        (PUSH + "settings: {slope: 60}\n", "slope is 60"),
        (PUSH + "settings: {policy: hope}\n", "hope"),
        (PUSH + "settings: {slope: steep}\n", "settings.slope"),
        ("pushes: [{force: 1}]\n", "duration"),
        ("pushes: [{force: 1, dv: 1, duration: 1}]\n", "either force or dv"),
        ("pushes: [{dv: 1, duration: 0}]\n", "without duration"),
        ("pushes: [{force: .nan, duration: 1}]\n", "pushes[0].force' is nan"),
        ("pushes: [{force: 1, duration: 1, speed: 2}]\n", "pushes[0].speed"),
        ("pushes: [hard]\n", "'hard'"),
        ("pushes: [{force: -300, duration: 0.1}]\n", "'pushes[0].force' is -300"),
        ("pushes: [{force: 1, duration: 0.1, profile: 3}]\n", "'pushes[0].profile' is 3"),
        ("pushes: [{force: 1, duration: 0.1, profile: ramp}]\n", "pushes[0]: push profile is 'ramp'"),
        (PUSH + "settings: {plant: 5}\n", "'settings.plant' is 5"),
        (PUSH + "settings: {plant: webots}\n", "plant is 'webots'; allowed: mujoco, gazebo"),
        (PUSH + "settings: {planar: 3}\n", "'settings.planar' is 3"),
        (PUSH + "settings: {ground: muddy}\n", "ground is 'muddy'"),
        (PUSH + "settings: {time: 1.05}\n", "the push ends at 1.1 s"),
        (f"pushes: {[{'force': 1, 'duration': 1}] * 401}\nseeds: {list(range(250))}\n", "too many"),
    ],
)
def test_mistakes_are_named_in_one_line_with_the_file(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, text)
    assert told in str(error.value) and "\n" not in str(error.value)
    assert "plan.yaml" in str(error.value) or "r2d2" in text


def test_every_setting_of_a_run_can_be_given(tmp_path: Path) -> None:
    given = "plant: gazebo, ground: rough, plant_robot: human, policy: kudoh, payload: 3, time: 2, planar: true"
    (run,) = load(tmp_path, f"{PUSH}settings: {{{given}}}\n")
    assert run.settings == RunSettings(
        plant="gazebo", ground="rough", plant_robot="human", policy="kudoh", payload=3.0, time=2.0, planar=True
    )


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.yaml: no such file"):
        plan.load(tmp_path / "none.yaml")
