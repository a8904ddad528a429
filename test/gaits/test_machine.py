"""The finite-state machine: time, contact, mirrored halves, gaits that take over."""

from pathlib import Path

from humanoid_balance.gaits.machine import Machine
from humanoid_balance.gaits.table import GaitState, GaitTable

AIR, BOTH = (True, False), (True, True)


def table(*times: float | None, name: str = "test") -> GaitTable:
    return GaitTable(name, Path("test"), "", "plane", tuple(GaitState(time) for time in times))


def test_a_timed_state_lasts_its_time() -> None:
    machine = Machine(table(0.3, None), 0, 1.0)
    assert not machine.update(1.299, BOTH)
    assert machine.update(1.3, AIR)
    assert machine.index == 1


def test_a_contact_state_ends_when_the_swinging_foot_lands_and_the_legs_change_places() -> None:
    machine = Machine(table(0.3, None), 0, 0.0)
    machine.update(0.3, AIR)
    assert not machine.update(0.35, AIR)
    assert machine.update(0.36, BOTH)
    assert (machine.stance, machine.index, machine.steps) == (1, 0, 1)
    assert machine.period == 0.36


def test_a_contact_that_is_there_on_entering_ends_the_state_at_once() -> None:
    machine = Machine(table(0.3, None), 0, 0.0)
    assert machine.update(0.3, BOTH)
    assert (machine.stance, machine.index) == (1, 0)


def test_a_short_table_is_padded_with_a_state_that_takes_no_time() -> None:
    machine = Machine(table(0.15), 0, 0.0)
    machine.update(0.15, AIR)
    assert (machine.stance, machine.index) == (1, 0)
    assert machine.since == 0.15


def test_another_gait_takes_over_at_the_next_change_of_state_with_the_state_that_follows() -> None:
    machine = Machine(table(0.3, None), 0, 0.0)
    machine.following = table(0.2, None, name="other")
    machine.update(0.1, AIR)
    assert machine.table.name == "test"
    machine.update(0.3, AIR)
    assert (machine.table.name, machine.index, machine.stance) == ("other", 1, 0)


def test_a_table_of_contact_states_does_not_hang_the_loop() -> None:
    machine = Machine(table(None), 0, 0.0)
    machine.update(0.1, BOTH)
    assert machine.since == 0.1
