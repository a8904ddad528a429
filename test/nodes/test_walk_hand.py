"""Walking by hand: keys go notch by notch, a stick is held, and silence lets go."""

from __future__ import annotations

import math

import pytest
from geometry_msgs.msg import Twist
from sensor_msgs.msg import Joy

from humanoid_balance.nodes import walk_hand
from humanoid_balance.nodes.walk_hand import FAREWELL, SILENT, WalkHand


class FakeTime:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    made = FakeTime()
    monkeypatch.setattr(walk_hand, "time", made)
    return made


def speeds(twist: Twist | None) -> tuple[float, float, float]:
    assert twist is not None
    return twist.linear.x, twist.linear.y, twist.angular.z


def test_keys_change_the_speed_by_notches_and_x_stops(clock: FakeTime) -> None:
    hand = WalkHand(speed=0.5, turn=1.0)
    assert hand.twist() is None  # nobody has asked for anything
    for key in "wwad":
        hand.key(key)
    hand.key("z")
    assert speeds(hand.twist()) == pytest.approx((0.2, 0.1, 0.0))
    for _ in range(20):
        hand.key("w")
    assert speeds(hand.twist())[0] == pytest.approx(0.5)
    assert "+0.50" in str(hand)
    hand.key("x")
    assert speeds(hand.twist()) == (0.0, 0.0, 0.0)
    clock.now += FAREWELL + 0.1
    assert hand.twist() is None  # the topic is left to others


def test_a_stick_counts_while_it_speaks(clock: FakeTime) -> None:
    hand = WalkHand(speed=0.5, turn=1.0)
    hand.see(Joy(axes=[0.0, 0.0, 0.0, -0.5, 1.0, 0.0, 1.0]))
    assert speeds(hand.twist()) == pytest.approx((0.5, 0.5, -0.5))
    clock.now += 0.8 * SILENT
    assert speeds(hand.twist())[0] == pytest.approx(0.5)  # a hiccup
    clock.now += 0.3 * SILENT
    assert speeds(hand.twist()) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("axes", [[], [0.0, 1.0], [0.0, 0.0, 0.0, math.nan, math.nan], [0.0, 0.0, 0.0, 0.05, -0.05]])
def test_a_stick_that_is_missing_resting_or_broken_moves_nothing(axes: list[float], clock: FakeTime) -> None:
    hand = WalkHand()
    hand.see(Joy(axes=axes))
    assert hand.twist() is None
