"""The board's clock in the host's time."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_balance.plants.serial.clock import ClockMap

AHEAD = 123_456_789  # host's clock - board's clock [µs]


def feed(clock: ClockMap, ways: np.ndarray, drift: float = 0.0, start: int = 0) -> list[float]:
    """States a millisecond apart; ``ways`` (k, 2): travel of the command and of the state [µs]. Errors [µs]."""
    errors = []
    for k, (down, up) in enumerate(ways):
        stamp = start + 1000 * k
        host = AHEAD + stamp * (1 + drift)
        echo = round(host - 400 - down)  # sent so that it arrived 400 µs before the sample
        clock.update(stamp, round(host + up), echo, 400)
        errors.append(1e6 * clock.host_time(stamp) - host)
    return errors


def test_a_steady_line_is_mapped_exactly() -> None:
    errors = feed(ClockMap(), np.full((200, 2), 150.0))
    assert np.abs(errors).max() < 2.0


def test_jitter_is_filtered() -> None:
    ways = 100.0 + np.random.default_rng(0).exponential(800.0, (2000, 2))
    errors = np.array(feed(ClockMap(), ways))[200:]
    assert np.abs(errors).max() < 400.0 and np.abs(np.diff(errors)).max() < 60.0


def test_drift_is_followed() -> None:
    errors = feed(ClockMap(), np.full((5000, 2), 150.0), drift=100e-6)
    assert np.abs(errors[500:]).max() < 10.0


def test_a_board_that_restarts_is_followed_at_once() -> None:
    clock = ClockMap()
    feed(clock, np.full((500, 2), 150.0), start=10**9)
    assert np.abs(feed(clock, np.full((5, 2), 150.0))).max() < 2.0


def test_without_an_echo_the_earliest_arrival_counts() -> None:
    clock = ClockMap()
    for k in range(100):
        clock.update(1000 * k, AHEAD + 1000 * k + (50 if k % 3 else 5000), 0, 0)
    assert 1e6 * clock.host_time(0) == pytest.approx(AHEAD + 50, abs=1.0)


def test_a_simulator_that_falls_behind_the_wall_is_followed() -> None:
    """On a busy machine its clock may run at half the wall's: samples that just came must not look old."""
    clock, host = ClockMap(), 1_000_000.0
    for stamp in range(0, 2_000_000, 1000):
        host += 2000.0
        clock.update(stamp, round(host + 150), round(host - 550), 400)
        assert host - 1_001 - 150 <= 1e6 * clock.host_time(stamp) <= host + 150 + 1_001


@pytest.mark.parametrize("seed", range(5))
def test_samples_are_never_older_than_those_before(seed: int) -> None:
    """Whatever the line does: delays up to 100 ms, a way that becomes short or long, echoes that come and go."""
    rng = np.random.default_rng(seed)
    clock, before, arrived = ClockMap(), -1.0, 0
    for k in range(3000):
        stamp, way = 1000 * k, float(rng.exponential(rng.choice([100.0, 3000.0, 30_000.0])))
        arrived = max(arrived, round(AHEAD + stamp + way))
        echo = round(AHEAD + stamp - 400 - rng.exponential(2000.0)) if rng.random() < 0.95 else 0
        clock.update(stamp, arrived, echo, 400)
        now = clock.host_time(stamp)
        assert now > before - 1e-6 * 1_000  # the plant sees to the rest
        before = now
