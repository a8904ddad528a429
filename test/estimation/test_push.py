"""When a residual counts as a push."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from humanoid_balance.estimation.push import PushDetector
from humanoid_balance.estimation.settings import PushObserverSettings

DT, MASS, HEIGHT = 0.001, 71.0, 0.9


@dataclass
class Told:
    """An observer without lag."""

    residual: list[float]

    def unexplained(self) -> list[float]:
        return [DT * value for value in self.residual]

    def swallowed(self) -> list[float]:
        return self.unexplained()


def run(forces: np.ndarray, arm: float = 0.0, landings: tuple[int, ...] = (), spread: float = 0.0) -> PushDetector:
    detector = PushDetector(MASS, PushObserverSettings())
    for k, (x, y, z) in enumerate(forces):
        residual = [x, y, z, -arm * y, arm * x, 0.0]
        detector.update(k * DT, DT, Told(residual), HEIGHT, spread**2, k in landings)
    return detector


def pulse(force: float, direction: float, length: int = 100, start: int = 300, total: int = 600) -> np.ndarray:
    forces = np.zeros((total, 3))
    forces[start : start + length, 0] = force * math.cos(math.radians(direction))
    forces[start : start + length, 1] = force * math.sin(math.radians(direction))
    return forces


@pytest.mark.parametrize("direction", [0.0, 90.0, 180.0, 270.0, 37.0])
def test_a_push_is_reported_with_onset_direction_and_impulse(direction: float) -> None:
    push = run(pulse(300.0, direction)).report()
    assert not push.active  # it is over
    assert push.onset == pytest.approx(0.3, abs=0.002)
    assert (math.degrees(push.direction) - direction) % 360 == pytest.approx(0.0, abs=0.5) or (
        math.degrees(push.direction) - direction
    ) % 360 == pytest.approx(360.0, abs=0.5)
    assert push.impulse == pytest.approx(30.0, rel=0.02)


@pytest.mark.parametrize("above", [-0.3, 0.0, 0.25])
def test_the_height_of_the_push_comes_from_its_moment(above: float) -> None:
    assert run(pulse(300.0, 60.0), above).report().height == pytest.approx(HEIGHT + above, abs=0.01)


def test_it_is_active_while_it_lasts() -> None:
    assert run(pulse(300.0, 0.0)[:350]).report().active
    assert not run(pulse(300.0, 0.0)[:290]).report().active


def test_before_the_first_push_nothing_is_known() -> None:
    push = run(np.zeros((50, 3))).report()
    assert not push.active and math.isnan(push.onset) and push.impulse == 0.0


def test_a_small_steady_error_is_learnt_and_never_reported() -> None:
    forces = np.tile([15.0, -10.0, 50.0], (20000, 1))  # two per cent of the weight, and a payload of 5 kg
    detector = run(forces)
    assert math.isnan(detector.report().onset)
    np.testing.assert_allclose(detector.bias, [15.0, -10.0, 50.0], rtol=0.03)


def test_the_jolt_of_a_landing_is_no_push() -> None:
    jolt = pulse(80.0, 0.0, 20)
    assert math.isnan(run(jolt, landings=(299,)).report().onset)
    assert not math.isnan(run(pulse(80.0, 0.0, 40)).report().onset)


def test_a_strong_push_is_seen_even_right_after_a_landing() -> None:
    assert run(pulse(300.0, 0.0), landings=(299,)).report().impulse == pytest.approx(30.0, rel=0.05)


def test_a_jump_within_the_uncertainty_of_the_velocity_is_no_push() -> None:
    blip = pulse(200.0, 0.0, 15)
    assert math.isnan(run(blip, spread=0.05).report().onset)
    assert not math.isnan(run(blip).report().onset)


def test_two_pushes_are_two_reports() -> None:
    forces = pulse(300.0, 0.0, total=1200)
    forces[800:900, 1] = 200.0
    push = run(forces).report()
    assert push.onset == pytest.approx(0.8, abs=0.002)
    assert push.impulse == pytest.approx(20.0, rel=0.02)
    assert math.degrees(push.direction) == pytest.approx(90.0, abs=1.0)
