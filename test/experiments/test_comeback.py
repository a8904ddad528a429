"""When a robot that fell stood again."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.experiments import comeback

TIMES = np.array([0.0, 1.0, 2.0, 3.0, 4.0])


def test_it_stands_since_the_last_break() -> None:
    assert comeback.since(TIMES, np.array([True, False, True, False, True])) == 4.0
    assert comeback.since(TIMES, np.array([True, False, True, True, True])) == 2.0
    assert comeback.since(TIMES, np.full(5, True)) == 0.0


def test_what_lies_at_the_end_does_not_stand() -> None:
    assert math.isnan(comeback.since(TIMES, np.array([True, True, True, True, False])))


def test_the_story_says_how_far_it_came() -> None:
    down = {"fell_at": 2.3, "upright_at": None, "walking_at": None}
    assert comeback.story(down) == "down after 2.30 s, does not stand again"
    assert comeback.story(down | {"upright_at": 11.0}).endswith("stands after 11.00 s, does not walk on")
    assert comeback.story(down | {"upright_at": 11.0, "walking_at": 12.5}).endswith("walks on after 12.50 s")
