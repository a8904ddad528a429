"""The momentum observer against closed forms."""

import numpy as np
import pytest

from humanoid_balance.estimation.momentum import MomentumObserver

DT = 0.001


def test_without_a_push_it_follows_the_plates_without_lag() -> None:
    observer = MomentumObserver(60.0)
    momentum = np.zeros(6)
    rng = np.random.default_rng(0)
    for _ in range(500):
        wrench = 100 * rng.standard_normal(6)
        momentum = momentum + wrench * DT
        observer.update(momentum.tolist(), wrench.tolist(), DT)
    np.testing.assert_allclose(observer.momentum, momentum, atol=1e-12)
    np.testing.assert_allclose(observer.residual, 0.0, atol=1e-9)


def test_the_residual_answers_a_constant_push_like_a_second_order_low_pass() -> None:
    omega, push = 60.0, 300.0
    observer = MomentumObserver(omega)
    for k in range(1, 201):
        t = k * DT
        observer.update([push * t, 0, 0, 0, 0, 0], [0.0] * 6, DT)
        if k in (20, 50, 100, 200):
            expected = push * (1 - (1 + omega * t) * np.exp(-omega * t))
            assert observer.residual[0] == pytest.approx(expected, abs=0.06 * push)
    assert observer.residual[0] == pytest.approx(push, rel=1e-3)


def test_the_impulse_is_not_lost_in_the_filter() -> None:
    observer = MomentumObserver(60.0)
    total, momentum = 0.0, 0.0
    for k in range(500):
        momentum += 300.0 * DT if 100 <= k < 200 else 0.0
        observer.update([momentum, 0, 0, 0, 0, 0], [0.0] * 6, DT)
        total += observer.residual[0] * DT
    assert total == pytest.approx(30.0, rel=1e-6)


def test_velocity_noise_of_a_centimetre_per_second_gives_a_few_newton() -> None:
    rng = np.random.default_rng(1)
    observer = MomentumObserver(60.0)
    values = []
    for _ in range(5000):
        observer.update((71 * 2e-3 * rng.standard_normal(6)).tolist(), [0.0] * 6, DT)
        values.append(observer.residual[0])
    assert np.std(values) < 3.0


def test_a_corrected_velocity_is_no_force() -> None:
    """The base filter finds out that it was 4 cm/s off: nobody pushed."""
    observer = MomentumObserver(60.0)
    for k in range(300):
        if k == 100:
            observer.shift([71 * 0.04, 0.0, 0.0])
        observer.update([71 * 0.04 if k >= 100 else 0.0, 0, 0, 0, 0, 0], [0.0] * 6, DT)
        assert observer.residual[0] == 0.0 and observer.unexplained()[0] == 0.0
