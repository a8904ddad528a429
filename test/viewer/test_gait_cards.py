"""Numbers of a gait, changed while it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_balance.gaits import library
from humanoid_balance.gaits.mode import FiniteStateGait
from humanoid_balance.gaits.table import load
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer import gait_cards
from humanoid_balance.viewer.session import Session


def test_what_is_saved_is_a_gait_with_the_changed_numbers(tmp_path: Path) -> None:
    table = library.find("walk-3d")
    edits = {(0, "time"): 0.24, (1, "c_v"): 0.35}
    file = tmp_path / "mine.yaml"
    file.write_text(gait_cards.text(table, edits))
    mine, wanted = load(file), gait_cards.edited(table, edits)
    assert mine.states == wanted.states != table.states and mine.gains == table.gains


def test_a_state_that_ends_with_the_foot_takes_no_time() -> None:
    table = library.find("walk-3d")
    assert table.states[1].time is None
    assert gait_cards.edited(table, {(1, "time"): 0.2}).states == table.states


def test_a_number_acts_while_the_gait_goes_on() -> None:
    session = Session(RunSettings(robot="r2d", planar=True))

    def go(seconds: float) -> FiniteStateGait:
        for k in range(round(seconds / session.dt)):
            if k % 33 == 0:
                session.steer((0.0, 0.0, 0.0), "walk")
            session.tick()
        mode = session.balance.mode
        assert isinstance(mode, FiniteStateGait)
        return mode

    before = go(2.0).machine.period
    session.tune("walk", 0, "time", 0.36)
    session.tune("walk", 1, "time", 0.36)
    after = go(2.0).machine.period
    assert before is not None and after is not None and after > before + 0.04
    assert not session.truth.fell and after == pytest.approx(before, abs=0.2)
