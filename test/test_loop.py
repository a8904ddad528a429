"""The loop with boxes that only write down when they were called and with what."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from humanoid_balance.loop import STAGES, Loop


class Diary:
    """All boxes at once: each call is an entry, each answer a name."""

    dt = 0.001

    def __init__(self, naps: dict[str, float] | None = None) -> None:
        self.entries: list[tuple[Any, ...]] = []
        self.naps = naps or {}

    def note(self, stage: str, *data: Any) -> None:
        self.entries.append((stage, *data))
        time.sleep(self.naps.get(stage, 0.0))

    def read(self) -> Any:
        self.note("read")
        return "frame"

    def write(self, command: Any) -> None:
        self.note("write", command)


class Box:
    feasible = "verdict"  # of the tick before, asked of the whole-body controller alone

    def __init__(self, diary: Diary, stage: str, answer: str) -> None:
        self.diary, self.stage, self.answer = diary, stage, answer

    def update(self, *data: Any) -> Any:
        self.diary.note(self.stage, *data)
        return self.answer


def make(diary: Diary) -> Loop:
    answers = {"estimation": "state", "balance": "reference", "wholebody": "wanted", "safety": "sent"}
    boxes: list[Any] = [Box(diary, stage, answer) for stage, answer in answers.items()]
    plant: Any = diary
    return Loop(plant, *boxes)


def test_data_pass_through_the_boxes_in_one_direction() -> None:
    diary = Diary()
    tick = make(diary).tick()
    assert diary.entries == [
        ("read",),
        ("estimation", "frame"),
        ("balance", "state", "verdict"),
        ("wholebody", "state", "reference"),
        ("safety", "frame", "state", "wanted"),
        ("write", "sent"),
    ]
    assert (tick.frame, tick.state, tick.reference, tick.wanted, tick.sent) == (
        "frame", "state", "reference", "wanted", "sent",
    )  # fmt: skip


def test_only_what_safety_let_through_reaches_the_plant() -> None:
    diary = Diary()
    make(diary).run(5)
    assert [entry for entry in diary.entries if entry[0] == "write"] == [("write", "sent")] * 5


def test_run_ends_when_the_observer_says_so() -> None:
    diary, seen = Diary(), []

    def third(tick: Any) -> bool:
        seen.append(tick)
        return len(seen) == 3

    make(diary).run(10, third)
    assert len(seen) == 3
    assert sum(entry[0] == "read" for entry in diary.entries) == 3


def test_an_observer_without_opinion_does_not_end_the_run() -> None:
    diary = Diary()
    make(diary).run(4, lambda tick: None)
    assert sum(entry[0] == "write" for entry in diary.entries) == 4


@pytest.mark.parametrize("stage", ["read", "estimation", "balance", "wholebody", "safety", "write"])
def test_time_is_charged_to_the_stage_that_takes_it(stage: str) -> None:
    nap = 0.01
    loop = make(Diary({stage: nap}))
    loop.run(5)
    times = {name: column.min() for name, column in loop.stage_times().items()}  # the machine may be busy for a tick
    row = "plant" if stage in ("read", "write") else stage
    assert times[row] >= nap
    assert times["tick"] >= nap if row != "plant" else times["plant"] >= nap
    charged = {name: times[name] for name in STAGES}
    assert max(charged, key=lambda name: charged[name]) == row


def test_timing_table_has_a_row_a_tick_and_tick_leaves_out_the_plant() -> None:
    loop = make(Diary())
    loop.run(7)
    times = loop.stage_times()
    assert set(times) == {*STAGES, "tick"}
    assert all(column.shape == (7,) and (column >= 0.0).all() for column in times.values())
    np.testing.assert_allclose(times["tick"], sum(times[s] for s in STAGES if s != "plant"))


def test_timing_table_of_a_loop_that_never_ran_is_empty() -> None:
    assert all(column.shape == (0,) for column in make(Diary()).stage_times().values())
