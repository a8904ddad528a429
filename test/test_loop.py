"""The loop with boxes that only write down when they were called and with what."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from humanoid_balance.loop import COMMAND_AGE, STAGES, Loop, heeded
from humanoid_balance.types import STILL, Command, Foothold

SOLUTION = SimpleNamespace(touch=None)  # nothing but the soles is planned to touch


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
    feasible, solution = "verdict", SOLUTION  # of the whole-body controller: of the tick before, and of this one
    refused = ""
    stopped = False  # of the safety box

    def __init__(self, diary: Diary, stage: str, answer: Any) -> None:
        self.diary, self.stage, self.answer = diary, stage, answer

    def update(self, *data: Any) -> Any:
        self.diary.note(self.stage, *data)
        return self.answer

    def rest(self, state: Any) -> Any:
        return "brake"


def make(diary: Diary, state: Any = "state") -> Loop:
    answers = {"estimation": state, "balance": "reference", "wholebody": "wanted", "safety": "sent"}
    boxes: list[Any] = [Box(diary, stage, answer) for stage, answer in answers.items()]
    plant: Any = diary
    return Loop(plant, *boxes)


def run(loop: Loop, ticks: int) -> None:
    for _ in range(ticks):
        loop.tick()


def test_no_torques_are_sought_while_the_safety_box_lets_nothing_out() -> None:
    diary = Diary()
    loop = make(diary)
    loop.safety.stopped = True  # type: ignore[misc]
    tick = loop.tick()
    assert [entry[0] for entry in diary.entries] == ["read", "estimation", "balance", "safety", "write"]
    assert tick.wanted == "brake"


def test_data_pass_through_the_boxes_in_one_direction() -> None:
    diary = Diary()
    tick = make(diary).tick()
    assert diary.entries == [
        ("read",),
        ("estimation", "frame"),
        ("balance", "state", STILL, "verdict"),
        ("wholebody", "state", "reference"),
        ("safety", "frame", "state", "wanted"),
        ("write", "sent"),
    ]
    assert (tick.frame, tick.state, tick.command, tick.reference, tick.solution, tick.wanted, tick.sent) == (
        "frame", "state", STILL, "reference", SOLUTION, "wanted", "sent",
    )  # fmt: skip


def test_the_estimator_hears_what_planned_contacts_do() -> None:
    diary = Diary()
    loop = make(diary)
    loop.wholebody.solution = SimpleNamespace(touch="hand on a rail")  # type: ignore[misc]
    loop.tick()
    assert diary.entries[1] == ("estimation", "frame", "hand on a rail")


def test_only_what_safety_let_through_reaches_the_plant() -> None:
    diary = Diary()
    run(make(diary), 5)
    assert [entry for entry in diary.entries if entry[0] == "write"] == [("write", "sent")] * 5


@pytest.mark.parametrize("stage", ["read", "estimation", "balance", "wholebody", "safety", "write"])
def test_time_is_charged_to_the_stage_that_takes_it(stage: str) -> None:
    nap = 0.01
    loop = make(Diary({stage: nap}))
    run(loop, 5)
    times = {name: column.min() for name, column in loop.stage_times().items()}  # the machine may be busy for a tick
    row = "plant" if stage in ("read", "write") else stage
    assert times[row] >= nap
    assert times["tick"] >= nap if row != "plant" else times["plant"] >= nap
    charged = {name: times[name] for name in STAGES}
    assert max(charged, key=lambda name: charged[name]) == row


def test_timing_table_has_a_row_per_tick_and_tick_leaves_out_the_plant() -> None:
    loop = make(Diary())
    run(loop, 7)
    times = loop.stage_times()
    assert set(times) == {*STAGES, "tick"}
    assert all(column.shape == (7,) and (column >= 0.0).all() for column in times.values())
    np.testing.assert_allclose(times["tick"], sum(times[s] for s in STAGES if s != "plant"))


def test_timing_table_of_a_loop_that_never_ran_is_empty() -> None:
    assert all(column.shape == (0,) for column in make(Diary()).stage_times().values())


NOW = 10.0  # of the loop [s]
FORWARD = np.array([0.5, 0.0, 0.1])


def seen_by_balance(command: Command) -> tuple[Command, str]:
    """The command that reached the balance box at ``NOW``, and what the tick says about it."""
    diary = Diary()
    tick = make(diary, SimpleNamespace(stamp=NOW)).tick(command)
    passed = next(entry[2] for entry in diary.entries if entry[0] == "balance")
    assert tick.command is passed
    return passed, tick.refused


def test_a_fresh_command_reaches_the_balance_box_as_it_is() -> None:
    command = Command(NOW - 0.9 * COMMAND_AGE, FORWARD, gait="amble", skill="bow", stance="low")
    assert seen_by_balance(command) == (command, "")


def test_an_old_command_means_stop() -> None:
    command = Command(NOW - 1.01 * COMMAND_AGE, FORWARD, gait="amble", skill="bow", stance="low")
    heard, why = seen_by_balance(command)
    assert not heard.velocity.any() and heard.gait == heard.skill == "" and heard.footsteps == ()
    assert heard.stance == "low"  # changing it would be a motion
    assert "0.51 s old" in why


def test_a_command_from_another_clock_means_stop() -> None:
    heard, why = seen_by_balance(Command(NOW + 1e6, FORWARD))
    assert heard.still and "another clock" in why


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_velocity_that_is_not_a_number_means_stop(bad: float) -> None:
    for axis in range(3):
        velocity = FORWARD.copy()
        velocity[axis] = bad
        heard, why = seen_by_balance(Command(NOW, velocity))
        assert heard.still and "velocity" in why and str(bad) in why


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_stamp_that_is_not_a_number_means_stop(bad: float) -> None:
    heard, why = seen_by_balance(Command(bad, FORWARD))
    assert heard.still and "stamp" in why


def test_a_velocity_of_the_wrong_size_means_stop() -> None:
    heard, why = seen_by_balance(Command(NOW, np.ones(2)))
    assert heard.still and "three numbers" in why


def test_a_footstep_that_is_not_a_number_means_stop() -> None:
    step = Foothold("l_sole", np.array([0.1, np.nan, 0.0]), np.eye(3), NOW + 0.4)
    heard, why = seen_by_balance(Command(NOW, footsteps=(step,)))
    assert heard.footsteps == () and "l_sole" in why


def test_without_a_command_the_robot_stands_still_and_nothing_is_refused() -> None:
    assert STILL.still
    assert seen_by_balance(STILL) == (STILL, "")
    assert heeded(Command(NOW), NOW)[1] == ""
