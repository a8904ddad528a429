"""The weight changes feet, in coordinates of the new one."""

from __future__ import annotations

import pytest

from humanoid_balance.balance.footsteps import Viable
from humanoid_balance.balance.handover import HURRIED, Handover

DT, USUAL = 0.001, 0.06
OFFSET = (0.06, 0.03)  # of the DCM in the nominal gait [m]


@pytest.fixture
def handover() -> Handover:
    return Handover(USUAL, Viable(0.4, 0.3, 0.28, 0.28), 0.08)


def ticks(handover: Handover, dcm: tuple[float, float]) -> int:
    for k in range(1, 1000):
        if handover.update(DT, dcm, OFFSET, behind=True) >= 1.0:
            return k
    raise AssertionError("never done")


def test_a_walk_as_planned_takes_its_time(handover: Handover) -> None:
    assert ticks(handover, OFFSET) == pytest.approx(USUAL / DT, abs=1)


def test_over_the_new_foot_or_far_ahead_of_it_the_weight_changes_feet_sooner(handover: Handover) -> None:
    for far in ((0.06, -0.28), (0.4, 0.03)):
        handover.begin()
        assert ticks(handover, far) == pytest.approx(USUAL / DT / HURRIED, abs=1)
    handover.begin()
    assert USUAL / DT / HURRIED < ticks(handover, (0.06, -0.1)) < USUAL / DT


def test_a_dcm_that_the_old_foot_still_holds_is_left_to_it(handover: Handover) -> None:
    """On its side, or back toward it."""
    for dcm in ((0.06, 0.25), (-0.2, 0.03)):
        assert handover.haste(dcm, OFFSET, behind=True) == 1.0


def test_what_is_left_is_said_in_advance(handover: Handover) -> None:
    handover.update(DT, (0.06, -0.1), OFFSET, behind=True)
    wait, count = handover.wait, 0
    while handover.update(DT, (0.06, -0.1), OFFSET, behind=True) < 1.0:
        count += 1
    assert wait == pytest.approx((count + 1) * DT, abs=1.5 * DT)
