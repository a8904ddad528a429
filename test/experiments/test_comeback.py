"""When a robot that fell stood again."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from humanoid_balance.experiments import comeback, walk

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


def test_a_run_ends_when_a_robot_that_fell_has_walked_on_for_long_enough() -> None:
    """Walking before the fall does not count, and a halt begins the time anew."""
    story = {0.0: "walking", 3.0: "falling", 4.0: "lying", 9.0: "walking", 11.0: "in place", 12.0: "walking"}
    sender, over = walk.CommandSender(walk.Itinerary(), (), None, enough=4.0), math.nan
    for k in range(180):
        now = 0.1 * k
        mode = story[max(t for t in story if t <= now + 1e-9)]
        state = SimpleNamespace(stamp=now, contact=np.array([True, True]))
        tick: Any = SimpleNamespace(state=state, reference=SimpleNamespace(mode=mode), refused="")
        plant: Any = None
        sender.see(tick, plant)
        if sender.over and math.isnan(over):
            over = now
    assert 16.0 < over <= 16.2
