"""Time comes with the data."""

import math

import pytest

from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.estimation.stamps import StampGuard


@pytest.fixture
def stamps() -> StampGuard:
    guard = StampGuard(GuardSettings())
    for k in range(5):
        assert guard.accept(10.0 + 0.001 * k)
    assert guard.valid and guard.fault == "" and guard.dt == pytest.approx(0.001)
    return guard


@pytest.mark.parametrize(
    ("stamp", "fault"),
    [
        (10.004, "stamp: repeated"),
        (9.0, "stamp: runs backward"),
        (math.nan, "stamp: not finite"),
        (math.inf, "stamp: not finite"),
    ],
)
def test_a_useless_stamp_is_rejected_by_name_and_forgotten_with_the_next_good_one(
    stamps: StampGuard, stamp: float, fault: str
) -> None:
    assert not stamps.accept(stamp)
    assert stamps.fault == fault and stamps.valid
    assert stamps.accept(10.005)
    assert stamps.fault == "" and stamps.valid and stamps.dt == pytest.approx(0.001)


def test_after_twenty_milliseconds_of_useless_stamps_the_state_is_invalid(stamps: StampGuard) -> None:
    verdicts = []
    for _ in range(25):
        stamps.accept(10.004)
        verdicts.append(stamps.valid)
    assert all(verdicts[:20]) and not any(verdicts[20:])
    assert stamps.accept(10.030) and stamps.valid


def test_a_frame_that_is_late_by_twenty_milliseconds_is_used_and_named(stamps: StampGuard) -> None:
    assert stamps.accept(10.025)
    assert stamps.dt == pytest.approx(0.021) and stamps.fault == "stamp: late by 0.020 s" and stamps.valid


def test_a_long_gap_asks_for_a_fresh_start_and_is_invalid_until_settled(stamps: StampGuard) -> None:
    assert stamps.accept(11.0)
    assert stamps.gap and stamps.dt == 0.001 and not stamps.valid and "gap of" in stamps.fault
    for k in range(1, 25):
        assert stamps.accept(11.0 + 0.001 * k)
        assert not stamps.gap
    assert stamps.valid


def test_a_clock_that_was_set_back_is_followed_after_a_while(stamps: StampGuard) -> None:
    accepted = [stamps.accept(3.0 + 0.001 * k) for k in range(60)]
    first = accepted.index(True)
    assert 20 <= first <= 25 and all(accepted[first:])
    assert stamps.valid and stamps.stamp == pytest.approx(3.059)
