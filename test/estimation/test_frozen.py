"""Encoders that stopped."""

import numpy as np
import pytest

from humanoid_balance.estimation.frozen import FrozenWatch
from humanoid_balance.estimation.settings import GuardSettings

N, DT = 12, 0.008


def run(positions: np.ndarray, velocities: np.ndarray) -> list[tuple[int, ...]]:
    watch = FrozenWatch(N, GuardSettings())
    seen = []
    for position, velocity in zip(positions, velocities, strict=True):
        watch.update(position, velocity, DT)
        seen.append(tuple(np.flatnonzero(watch.frozen)))
    return seen


@pytest.fixture
def noise() -> np.ndarray:
    return 1e-4 * np.random.default_rng(0).standard_normal((500, N))


def test_an_encoder_that_loses_its_noise_is_frozen_until_it_moves_again(noise: np.ndarray) -> None:
    noise[300:400, 3] = noise[299, 3]
    seen = run(noise, 0 * noise)
    assert all(s == () for s in seen[:302]) and all(s == (3,) for s in seen[303:400]) and seen[400] == ()


def test_a_position_that_stays_while_its_velocity_goes_on_is_frozen_even_without_noise() -> None:
    time = DT * np.arange(300)[:, None]
    positions = np.round(0.3 * np.sin(2.0 * time + np.arange(N)), 4)  # quantised
    velocities = 0.6 * np.cos(2.0 * time + np.arange(N))
    positions[100:, 5] = positions[100, 5]
    seen = run(positions, velocities)
    assert all(s in ((), (5,)) for s in seen) and (5,) in seen[105:130]


def test_standing_still_is_no_fault() -> None:
    positions = np.zeros((1000, N))
    assert not any(run(positions, positions))


def test_a_quantised_robot_that_stops_is_not_frozen() -> None:
    time = DT * np.arange(1000)[:, None]
    angle = np.where(time < 2.0, 0.3 * np.sin(2 * time + np.arange(N)), 0.3 * np.sin(4.0 + np.arange(N)))
    velocity = np.gradient(angle, DT, axis=0)
    assert not any(run(np.round(angle, 4), velocity))


def test_one_joint_at_rest_while_others_move_is_not_frozen() -> None:
    time = DT * np.arange(1000)[:, None]
    angle = 0.3 * np.sin(2 * time + np.arange(N))
    angle[:, 4] = 0.123
    velocity = np.gradient(angle, DT, axis=0)
    assert not any(run(angle, velocity))


def test_a_joint_that_settles_before_the_others_is_not_frozen() -> None:
    time = DT * np.arange(1000)[:, None]
    angle = 0.3 * np.sin(2 * time + np.arange(N))
    angle[:, 4] = 0.123 + 0.1 * np.exp(-3.0 * time[:, 0])  # changes at every sample for long, then by less than a count
    velocity = np.gradient(angle, DT, axis=0)
    assert not any(run(angle.astype(np.float32).astype(float), velocity))


@pytest.mark.filterwarnings("error")
def test_infinite_readings_leave_no_trace(noise: np.ndarray) -> None:
    noise[100:104, 2] = np.inf
    noise[102:110, 4] = -np.inf
    noise[300:320, 3] = noise[299, 3]
    seen = run(noise, np.zeros_like(noise))
    assert seen[310] == (3,) and seen[330] == ()
