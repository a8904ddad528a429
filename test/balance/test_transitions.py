"""The table of transitions: how it is read, what it refuses, and that every mode can be reached and left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.falling import AT_REST, Falling
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import Stable
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.balance.transitions import STANDARD, UPRIGHT, Condition, Repertoire, Transition
from humanoid_balance.errors import InputError
from humanoid_balance.repertoire import WHOLE
from humanoid_balance.robot import registry
from humanoid_balance.types import Command, Reference, RobotState


@pytest.fixture(scope="module")
def robot() -> Any:
    return registry.load("human")


def standing(robot: Any, stamp: float, forward: float = 0.0) -> RobotState:
    """On both soles, the whole body moving forward [m/s]."""
    v = np.zeros(robot.model.nv)
    v[0] = forward
    state = state_at(robot, robot.q_nominal, v, stamp)
    return replace(state, angular_momentum=np.zeros(3), sole_velocity=np.zeros((2, 6)))


class Lying(Stable):
    """Stands in for what may follow a fall; asks for nothing new."""

    name = "lying"
    upright = False


def when(answer: bool | str) -> Condition:
    def condition(now: Situation, memory: Memory) -> bool | str:
        return answer

    return condition


def changes(robot: Any, table: list[Transition], ticks: int = 1) -> list[tuple[str, str]]:
    supervisor = Supervisor(robot, repertoire=Repertoire((Stable, Lying, Falling), tuple(table)))
    for k in range(ticks):
        supervisor.update(standing(robot, k * 0.001))
    return [(name, why) for _, name, why in supervisor.changes]


def test_every_mode_can_be_reached_and_left() -> None:
    names = {kind.name for kind in WHOLE.modes}
    first = WHOLE.modes[0].name
    assert {row.target for row in WHOLE.table} | {first} == names
    for kind in WHOLE.modes:
        leaves = [row for row in WHOLE.rows(kind) if row.target != kind.name]
        assert leaves


def test_every_upright_mode_looks_out_for_a_fall_first() -> None:
    for kind in WHOLE.modes:
        rows = WHOLE.rows(kind)
        assert not kind.upright or rows[0].target == "falling"


def test_the_first_row_that_holds_decides(robot: Any) -> None:
    table = [
        Transition("stable", "falling", when(False), "never"),
        Transition("lying", "falling", when(True), "not from here"),
        Transition("stable", "lying", when(True), "first"),
        Transition("stable", "falling", when(True), "second"),
    ]
    assert changes(robot, table) == [("lying", "first")]


def test_a_row_to_the_same_mode_means_stay(robot: Any) -> None:
    stay = Transition("stable", "stable", when(True), "stay")
    assert changes(robot, [stay, Transition("stable", "lying", when(True), "go")], 3) == []


def test_a_condition_may_answer_with_figures(robot: Any) -> None:
    table = [Transition("stable", "lying", when("margin 3 mm"), "too near")]
    assert changes(robot, table) == [("lying", "too near: margin 3 mm")]


def test_a_row_from_any_upright_mode_leaves_the_others_alone(robot: Any) -> None:
    table = [Transition("stable", "lying", when(True), "lie down"), Transition(UPRIGHT, "falling", when(True), "fall")]
    assert changes(robot, table, 3) == [("lying", "lie down")]
    assert changes(robot, table[::-1], 3) == [("falling", "fall")]


def test_a_fall_ends_lying(robot: Any) -> None:
    supervisor = Supervisor(robot, repertoire=WHOLE)
    supervisor.update(standing(robot, 0.0, forward=6.0))
    assert supervisor.mode.name == "falling"
    for k in range(1, round(AT_REST / 0.001) + 5):
        supervisor.update(standing(robot, k * 0.001))
    assert [(name, why) for _, name, why in supervisor.changes][1:] == [("lying", "the fall is over: on the ground")]


def test_a_transition_to_a_mode_that_is_not_there_is_refused() -> None:
    for source, target in (("stable", "hopping"), ("hopping", "stable"), ("stable", UPRIGHT)):
        with pytest.raises(InputError, match="there are: stable"):
            STANDARD.plus([], [Transition(source, target, when(True), "why not")])


def test_two_modes_of_one_name_are_refused() -> None:
    class Double(Stable):
        pass

    with pytest.raises(InputError, match="mode 'stable' is there twice"):
        STANDARD.plus([Double], [])


def test_a_command_that_no_mode_answers_is_refused_by_name(robot: Any) -> None:
    supervisor = Supervisor(robot, repertoire=Repertoire((Stable,), ()))
    for command, said in (
        (Command(0.0, np.array([0.2, 0.0, 0.0])), "a velocity"),
        (Command(0.0, gait="amble"), "gait 'amble'"),
        (Command(0.0, stance="low"), "stance 'low'"),
    ):
        supervisor.update(standing(robot, 0.0), command)
        assert said in supervisor.refused and "stable" in supervisor.refused
    supervisor.update(standing(robot, 0.0), Command(0.0))
    assert supervisor.refused == ""


def test_a_mode_that_answers_is_found(robot: Any) -> None:
    class Willing(BalanceMode):
        name = "willing"

        def update(self, now: Situation) -> Reference:
            raise NotImplementedError

        def answers(self, command: Command) -> bool:
            return bool(command.gait)

    supervisor = Supervisor(robot, repertoire=STANDARD.plus([Willing], []))
    supervisor.update(standing(robot, 0.0), Command(0.0, gait="amble"))
    assert supervisor.refused == ""
