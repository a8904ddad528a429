"""The search for the largest push, and what a pendulum could take."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import envelope
from humanoid_balance.experiments.envelope import Ceilings, EnvelopeSettings
from humanoid_balance.figures import polar
from humanoid_balance.geometry import Polygon
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings

CORNERS = [(0.15, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.15, -0.1)]


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


# ---- the search ----


@given(st.floats(0.0, 250.0), st.floats(0.1, 10.0), st.floats(5.0, 80.0))
def test_search_ends_just_below_what_is_fatal(strength: float, resolution: float, guess: float) -> None:
    tried: list[float] = []

    def attempt(impulse: float) -> int | None:
        tried.append(impulse)
        return round(impulse) if impulse <= strength else None

    found, steps = envelope.largest(attempt, guess, resolution, 300.0)
    assert found <= strength < found + resolution
    assert steps == (round(found) if found else 0)
    assert len(tried) == len(set(tried))
    assert len(tried) <= 3 + math.log2(300.0 / guess) + math.log2(max(300.0, guess) / resolution)


def test_search_stops_at_the_limit_when_nothing_is_fatal() -> None:
    tried: list[float] = []

    def attempt(impulse: float) -> int:
        tried.append(impulse)
        return 2

    assert envelope.largest(attempt, 30.0, 1.0, 200.0) == (200.0, 2)
    assert tried == [30.0, 60.0, 120.0, 200.0]


def test_who_survives_nothing_has_an_envelope_of_zero() -> None:
    assert envelope.largest(lambda impulse: None, 30.0, 1.0, 200.0) == (0.0, 0)


@given(st.floats(0.0, 250.0), st.floats(0.1, 10.0))
def test_progress_of_a_search_only_grows(strength: float, resolution: float) -> None:
    shares: list[float] = []
    envelope.largest(lambda p: 0 if p <= strength else None, 35.0, resolution, 300.0, shares.append)
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)


@pytest.mark.parametrize(
    ("strategy", "fell", "steps", "survived"),
    [("auto", False, 2, 2), ("auto", True, 1, None), ("in-place", False, 0, 0), ("in-place", False, 1, None)],
)
def test_who_steps_when_asked_to_stay_did_not_survive(
    strategy: str, fell: bool, steps: int, survived: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(settings: RunSettings, pushes: list[Any], check: Any = None) -> Any:
        (push,) = pushes
        assert push.impulse == pytest.approx(30.0) and push.direction == 90.0
        return type("Run", (), {"result": {"fell": fell, "steps": steps}})

    monkeypatch.setattr(envelope.push, "run", run)
    settings = EnvelopeSettings(RunSettings(strategy=strategy), duration=0.2)
    assert envelope.survive(settings, 90.0, 30.0) == survived


def test_directions_are_spread_over_the_circle() -> None:
    assert EnvelopeSettings(RunSettings(), directions=4).angles == [0.0, 90.0, 180.0, 270.0]


@pytest.mark.parametrize("key", ["directions", "duration", "resolution", "workers"])
def test_settings_that_make_no_sense_are_named(key: str) -> None:
    values: dict[str, Any] = {key: 0}
    with pytest.raises(InputError, match=f"{key} is 0; allowed: "):
        EnvelopeSettings(RunSettings(), **values)


# ---- the pendulum ----


@pytest.mark.parametrize(
    ("direction", "way"), [(0.0, 0.15), (90.0, 0.1), (180.0, 0.1), (270.0, 0.1), (45.0, 0.1 * math.sqrt(2))]
)
def test_ray_ends_at_the_border(direction: float, way: float) -> None:
    assert envelope.ray(Polygon(CORNERS), direction) == pytest.approx(way)


@given(st.floats(0.0, 360.0))
def test_end_of_a_ray_lies_on_the_border(direction: float) -> None:
    polygon, angle = Polygon(CORNERS), math.radians(direction)
    way = envelope.ray(polygon, direction)
    assert polygon.margin(way * math.cos(angle), way * math.sin(angle)) == pytest.approx(0.0, abs=1e-12)


def test_ceiling_forward_is_omega_times_the_way_to_the_toes(robot: Robot) -> None:
    length = robot.soles[0][:, 0].max() - robot.soles[0][:, 0].min()
    ceilings = Ceilings(robot, RunSettings())
    toes = length / 2 - robot.com_nominal[0]
    assert ceilings.at(0.0)[0] == pytest.approx(robot.omega * toes, rel=1e-3)
    assert ceilings.at(0.0)[0] + ceilings.at(180.0)[0] == pytest.approx(robot.omega * length, rel=1e-3)


def test_a_step_helps_in_every_direction_and_less_when_it_comes_late(robot: Robot) -> None:
    prompt, late = Ceilings(robot, RunSettings()), Ceilings(robot, RunSettings(delay=0.2))
    for direction in range(0, 360, 15):
        still, step = prompt.at(direction)
        late_still, late_step = late.at(direction)
        assert 0.0 < still < late_step < step
        assert late_still == still


def test_left_and_right_have_the_same_ceiling(robot: Robot) -> None:
    ceilings = Ceilings(robot, RunSettings())
    for direction in range(0, 180, 15):
        assert ceilings.at(direction) == pytest.approx(ceilings.at(-direction), rel=0.02)


# ---- the picture ----


def result(strategy: str, directions: int) -> dict[str, Any]:
    rows = [
        {"direction": 360.0 * k / directions, "impulse": 30.0 + k, "dv": (30.0 + k) / 71.0, "steps": k % 3}
        for k in range(directions)
    ]
    return {"robot": "human", "mass": 71.0, "strategy": strategy, "duration": 0.1, "directions": rows}


@pytest.mark.parametrize(("strategy", "curves"), [("auto", 3), ("in-place", 2)])
def test_plot_shows_the_envelope_and_the_ceilings_that_matter(strategy: str, curves: int) -> None:
    figure = polar.draw(result(strategy, 8), RunSettings(strategy=strategy))
    (axes,) = figure.axes
    assert len(axes.get_lines()) == curves
    assert any("30" in text.get_text() for text in axes.texts)


def test_plot_of_a_single_direction_is_a_png(tmp_path: Path) -> None:
    polar.save(result("auto", 1), RunSettings(), tmp_path / "envelope.png")
    assert (tmp_path / "envelope.png").read_bytes().startswith(b"\x89PNG")
