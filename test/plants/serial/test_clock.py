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
