"""The first milliseconds of a push."""

import numpy as np
import pytest

from humanoid_balance.estimation.momentum import MomentumObserver
from humanoid_balance.estimation.onset import OnsetWatch
from humanoid_balance.estimation.settings import PushObserverSettings

DT, MASS, SIGMA = 0.001, 71.0, 1e-3


def first_seen(force: float, noise: float = SIGMA, start: int = 300, standing: int = 0) -> tuple[int, float, float]:
    """Sample after the start at which the watch speaks, for how long it thinks the force acts, and the residual then.

    ``standing``: sample from which on both feet stand.
    """
    rng = np.random.default_rng(0)
    watch, observer = OnsetWatch(MASS, PushObserverSettings()), MomentumObserver(60.0)
    for k in range(start + 60):
        momentum = force * DT * max(k + 1 - start, 0)
        measured = [momentum, 0.0, 0.0, 0.0, 0.0, 0.0] + MASS * noise * rng.standard_normal(6)
        observer.update(measured.tolist(), [0.0] * 6, DT)
        time = watch.update(observer.innovation, DT, 3.0 * noise**2, k >= standing)
        if time:
            observer.jump(time)
            return k + 1 - start, time, observer.residual[0]
    return -1, 0.0, 0.0


def test_a_strong_push_is_seen_within_six_samples_and_its_force_is_known() -> None:
    sample, time, force = first_seen(300.0)
    assert 0 < sample <= 6 and time == pytest.approx(sample * DT, abs=0.0021)
    assert force == pytest.approx(300.0, rel=0.35)


def test_a_stronger_push_is_seen_earlier() -> None:
    assert first_seen(600.0)[0] < first_seen(200.0)[0]


def test_a_weak_push_is_left_to_the_residual() -> None:
    assert first_seen(30.0)[0] == -1


def test_noise_is_no_push_for_minutes() -> None:
    assert first_seen(0.0, start=200_000)[0] == -1


def test_nothing_is_said_while_a_foot_has_just_come_down() -> None:
    assert first_seen(300.0, standing=299)[0] == -1


def test_a_velocity_that_is_less_certain_takes_a_stronger_push() -> None:
    assert first_seen(300.0, noise=4e-3)[0] > first_seen(300.0)[0]
