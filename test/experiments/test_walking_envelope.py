"""The envelope of a walk: what it searches, and what counts as survived."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import envelope, walking_envelope
from humanoid_balance.experiments.envelope import EnvelopeSettings
from humanoid_balance.experiments.walking_envelope import PUSHED, WalkingPush, WalkingSettings, phases
from humanoid_balance.figures import polar
from humanoid_balance.stack import RunSettings


def settings(**changes: Any) -> WalkingSettings:
    return WalkingSettings(EnvelopeSettings(RunSettings(robot="g1"), **changes), 0.5, phases(4))


def test_phases_are_spread_over_the_step() -> None:
    assert phases(4) == (0.0, 0.25, 0.5, 0.75)
    with pytest.raises(InputError, match="phases is 65; allowed: 1 to 64"):
        phases(65)


@pytest.mark.parametrize("steps", [3, None])
def test_a_push_is_survived_when_the_walk_goes_on(steps: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(world: RunSettings, script: Any, pushes: list[Any], phase: float, check: Any) -> Any:
        (push,) = pushes
        assert push.impulse == pytest.approx(12.0) and push.direction == 90.0 and push.start == PUSHED
        assert phase == 0.25 and script.at(5.0) == (0.5, 0.0, 0.0)
        assert world.time is not None and world.time > push.end + 3.0
        return SimpleNamespace(result={"steps_to_recover": steps})

    monkeypatch.setattr(walking_envelope.walk, "run", run)
    assert WalkingPush(settings(duration=0.2), 90.0, 0.25).attempt(12.0, lambda share: None) == steps


def test_the_weakest_phase_and_the_median_of_each_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strength of a phase is made up: 10, 20, 30, 40 N s, and twice that to the back."""

    def search_all(pushes: Any, mass: float, resolution: float, crew: int, progress: Any) -> list[tuple[float, int]]:
        return [((10.0 + 40.0 * p.phase) * (2.0 if p.direction == 180.0 else 1.0), 1) for p in pushes]

    monkeypatch.setattr(envelope, "search_all", search_all)
    result = walking_envelope.explore(settings(directions=2))
    ahead, back = result["directions"]
    mass = result["mass"]
    assert set(ahead) == {"direction", "dv_min", "dv_median", "phases"} and back["direction"] == 180.0
    assert ahead["phases"] == pytest.approx([10.0 / mass, 20.0 / mass, 30.0 / mass, 40.0 / mass])
    assert ahead["dv_min"] == pytest.approx(10.0 / mass) and ahead["dv_median"] == pytest.approx(25.0 / mass)
    assert back["dv_min"] == pytest.approx(20.0 / mass)
    drawn = polar.draw(result, RunSettings(robot="g1"))
    assert "walking at 0.5 m/s" in drawn.get_suptitle()


@pytest.mark.slow
def test_a_walk_that_is_pushed_in_mid_step() -> None:
    """g1 at 0.5 m/s takes 0.3 m/s forward within 0.2 s."""
    push = WalkingPush(settings(duration=0.2), 0.0, 0.5)
    assert push.attempt(0.3 * envelope.body(RunSettings(robot="g1")).mass, lambda share: None) is not None
