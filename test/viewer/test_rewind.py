"""The last half minute of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.moment import Moment
from humanoid_balance.viewer.rewind import KEPT, History
from humanoid_balance.viewer.session import Session


@pytest.fixture(scope="module")
def moment() -> Moment:
    return Session(RunSettings()).look(1.0).moment


def filled(moment: Moment, end: float) -> History:
    history = History()
    for k in range(round(30 * end) + 1):
        history.add(replace(moment, time=k / 30))
    return history


def test_it_shows_what_was_then_and_forgets_what_is_older(moment: Moment) -> None:
    history = filled(moment, KEPT + 20.0)
    assert history.length == pytest.approx(KEPT, abs=0.05)
    assert history.ago(0.0).time == pytest.approx(KEPT + 20.0)
    assert history.ago(12.0).time == pytest.approx(KEPT + 8.0, abs=0.04)
    assert history.ago(1000.0).time == pytest.approx(20.0, abs=0.05)


def test_a_pause_adds_nothing_and_a_reset_starts_anew(moment: Moment) -> None:
    history = filled(moment, 5.0)
    for _ in range(100):
        history.add(replace(moment, time=5.0))
    assert history.ago(1.0).time == pytest.approx(4.0, abs=0.04)
    history.add(replace(moment, time=0.1))
    assert history.length == 0.0 and history.ago(3.0).time == 0.1
