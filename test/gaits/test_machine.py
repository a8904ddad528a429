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


def test_a_gait_of_another_number_of_states_takes_over_at_the_end_of_the_half_cycle() -> None:
    machine = Machine(table(0.3, None), 0, 0.0)
    machine.following = table(0.2, 0.1, 0.1, None, name="skip")
    machine.update(0.3, AIR)
    assert (machine.table.name, machine.index) == ("test", 1)
    machine.update(0.36, BOTH)
    assert (machine.table.name, machine.index, machine.stance) == ("skip", 0, 1)


def landed(grazing: float) -> Machine:
    """The right foot swings, touches at 0.36 s and has lost the ground again after ``grazing`` seconds."""
    machine = Machine(table(0.3, None), 0, 0.0)
    machine.update(0.3, AIR)
    machine.update(0.36, BOTH)
    machine.update(0.36 + grazing, AIR)
    return machine


def test_a_foot_that_only_grazes_an_edge_is_awaited_further() -> None:
    machine = landed(0.02)
    assert (machine.stance, machine.index, machine.steps) == (0, 1, 0)
    machine.update(0.5, BOTH)
    assert (machine.stance, machine.index, machine.period) == (1, 0, 0.5)


def test_a_foot_that_stood_for_long_has_landed() -> None:
    machine = landed(0.11)
    assert (machine.stance, machine.index, machine.steps) == (1, 0, 1)


def test_a_landing_on_one_foot_alone_is_a_landing() -> None:
    machine = Machine(table(0.3, None), 0, 0.0)
    machine.update(0.3, (False, False))
    machine.update(0.36, (False, True))
    machine.update(0.37, (False, False))
    assert (machine.stance, machine.index) == (1, 0)


def test_a_foot_is_late_when_the_last_one_had_landed_by_now() -> None:
    machine = Machine(table(0.3, None), 0, 0.0)
    machine.update(0.3, AIR)
    assert not machine.late(5.0)  # no step so far
    machine.update(0.4, BOTH)
    machine.update(0.7, (False, True))
    assert not machine.late(0.87)
    assert machine.late(0.89)
