"""A lower level never disturbs a higher one, whatever it asks for and whatever constraints are active."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wholebody import oracle
from wholebody.random_states import random_case

from humanoid_balance.robot import registry
from humanoid_balance.types import Array, BodyReference, RobotState, Stack
from humanoid_balance.wholebody.controller import WholeBody
from humanoid_balance.wholebody.solution import Status

ROBOTS = {name: registry.load(name) for name in ("human", "g1")}
LEVELS = (("feet", "com"), ("torso",), ("momentum",), ("posture",))


def residual(
    name: str, state: RobotState, reference: BodyReference, levels: tuple[tuple[str, ...], ...]
) -> list[Array] | None:
    """Residual of each level but the last; None if contact and limits contradict each other."""
    body = ROBOTS[name]
    reference = replace(reference, stack=Stack("x", levels))
    wholebody = WholeBody(body)
    wholebody.update(state, reference)
    solution = wholebody.solution
    assert solution is not None
    if solution.status not in (Status.SOLVED, Status.RELAXED):
        return None
    return [A @ solution.acceleration - b for A, b in oracle.level_rows(body, state, reference)[:-1]]


@given(st.sampled_from(sorted(ROBOTS)), st.integers(0, 2**32 - 1), st.floats(0.3, 3.0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_adding_a_lower_level_leaves_the_first_residual_as_it_is(name: str, seed: int, effort: float) -> None:
    state, reference = random_case(ROBOTS[name], np.random.default_rng(seed), effort)
    first = [residual(name, state, reference, (LEVELS[0], *LEVELS[k:])) for k in (3, 2, 1)]
    if any(r is None for r in first):
        assert all(r is None for r in first)  # whether constraints contradict each other is no matter of tasks
        return
    alone = first[0][0]  # type: ignore[index]
    for more in first[1:]:
        change = np.linalg.norm(more[0]) - np.linalg.norm(alone)  # type: ignore[index]
        assert abs(change) <= 1e-6 * (1 + np.linalg.norm(alone))


@given(st.sampled_from(sorted(ROBOTS)), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_adding_a_third_level_leaves_the_second_residual_as_it_is(name: str, seed: int) -> None:
    state, reference = random_case(ROBOTS[name], np.random.default_rng(seed), 0.7)
    without = residual(name, state, reference, (LEVELS[0], LEVELS[1], LEVELS[3]))
    both = residual(name, state, reference, LEVELS)
    if without is None or both is None or np.linalg.norm(without[0]) > 1e-6:
        return
    change = np.linalg.norm(both[1]) - np.linalg.norm(without[1])
    assert abs(change) <= 1e-6 * (1 + np.linalg.norm(without[1]))


def test_posture_acts_only_in_the_null_space_of_the_tasks_above() -> None:
    body = ROBOTS["human"]
    state, reference = random_case(body, np.random.default_rng(3), 0.3)
    reference = replace(reference, stack=Stack("x", LEVELS), com_weight=np.ones(3))
    wholebody = WholeBody(body)
    wholebody.update(state, reference)
    first = wholebody.solution
    wholebody.update(state, replace(reference, posture=reference.posture + 0.02))
    second = wholebody.solution
    assert first is not None and second is not None and first.status is second.status is Status.SOLVED
    assert np.abs(first.acceleration - second.acceleration).max() > 0.1
    np.testing.assert_allclose(first.com_acceleration, second.com_acceleration, atol=1e-9)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_any_number_and_order_of_levels_is_solved(order: tuple[int, ...]) -> None:
    body = ROBOTS["g1"]
    state, reference = random_case(body, np.random.default_rng(4), 0.3)
    for count in range(4):
        levels = (*(LEVELS[i] for i in order[:count]), LEVELS[3])
        residuals = residual("g1", state, reference, levels)
        assert residuals is not None
        assert residual("g1", state, reference, levels[:-1] or levels) is not None  # without a posture
        assert max((np.linalg.norm(r) for r in residuals), default=0.0) < 1e-6


@pytest.mark.parametrize(
    "levels",
    [
        (("posture",), ("com",)),
        (("com",), ("posture",), ("torso",)),
        (("com",), ("com", "torso"), ("posture",)),
        (("momentum", "torso", "com", "posture"),),
        (("posture", "kudoh"),),
    ],
)
def test_levels_that_ask_for_more_than_there_is_are_met_as_far_as_possible(levels: tuple[tuple[str, ...], ...]) -> None:
    """Rows that depend on those above are recognised; what is left of a level is least squares."""
    body = ROBOTS["human"]
    state, reference = random_case(body, np.random.default_rng(8), 0.3)
    reference = replace(reference, stack=Stack("x", levels))
    wholebody = WholeBody(body)
    wholebody.update(state, reference)
    solution = wholebody.solution
    assert solution is not None and solution.status in (Status.SOLVED, Status.RELAXED)
    _, expected = oracle.solve(body, state, reference)
    for (A, b), best in zip(expected.levels[:1], expected.residuals[:1], strict=True):
        size = np.linalg.norm(A @ solution.acceleration - b)
        assert size <= np.linalg.norm(best) * (1 + 1e-4) + 1e-4
