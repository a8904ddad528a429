"""Soft stacks: the first level stays strict, the others give way together, joints do not all run to their limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from wholebody import oracle
from wholebody.random_states import random_case

from humanoid_balance.robot import registry
from humanoid_balance.types import Array, BodyReference, RobotState, Stack
from humanoid_balance.wholebody.controller import WholeBody
from humanoid_balance.wholebody.solution import Solution, Status

ROBOTS = {name: registry.load(name) for name in ("human", "g1")}
LEVELS = (("com",), ("feet", "momentum"), ("posture",))
CASES = 40


def cases(name: str, effort: float) -> list[tuple[RobotState, BodyReference]]:
    rng = np.random.default_rng(21)
    return [random_case(ROBOTS[name], rng, effort) for _ in range(CASES)]


def solve(
    name: str, state: RobotState, reference: BodyReference, soft: bool, used: WholeBody | None = None
) -> Solution:
    wholebody = used or WholeBody(ROBOTS[name])
    wholebody.update(state, replace(reference, stack=Stack("x", LEVELS, soft)))
    assert wholebody.solution is not None
    return wholebody.solution


def residuals(name: str, state: RobotState, reference: BodyReference, solution: Solution) -> list[Array]:
    reference = replace(reference, stack=Stack("x", LEVELS))
    return [A @ solution.acceleration - b for A, b in oracle.level_rows(ROBOTS[name], state, reference)[:-1]]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_first_level_is_as_strict_as_ever(name: str) -> None:
    relaxed = 0
    for state, reference in cases(name, 2.0):
        strict, soft = (solve(name, state, reference, s) for s in (False, True))
        assert soft.status is strict.status
        if strict.status in (Status.SOLVED, Status.RELAXED):
            sizes = [np.linalg.norm(residuals(name, state, reference, s)[0]) for s in (strict, soft)]
            assert sizes[1] == pytest.approx(sizes[0], rel=1e-4, abs=1e-4)
            assert soft.residuals.primal <= 1e-5
            relaxed += strict.status is Status.RELAXED
    assert relaxed  # also where that level cannot be met


@pytest.mark.parametrize("name", ROBOTS)
def test_where_nothing_binds_both_are_the_same(name: str) -> None:
    free = 0
    for state, reference in cases(name, 0.1):
        strict, soft = (solve(name, state, reference, s) for s in (False, True))
        if not strict.optimum.active:
            np.testing.assert_allclose(soft.acceleration, strict.acceleration, atol=1e-9)
            free += 1
    assert free > CASES // 4


@pytest.mark.parametrize("name", ROBOTS)
def test_fewer_constraints_are_leant_on_for_a_wish_that_cannot_be_had(name: str) -> None:
    """A strict level that is not met takes all that is left for its last millimetre; a soft one does not."""
    strict, soft, worse = [], [], []
    for state, reference in cases(name, 2.0):
        both = [solve(name, state, reference, s) for s in (False, True)]
        if any(s.status is not Status.SOLVED for s in both):
            continue
        sizes = [float(np.linalg.norm(residuals(name, state, reference, s)[1])) for s in both]
        if sizes[0] > 0.1:  # the second level gives way
            strict.append(len(both[0].optimum.active))
            soft.append(len(both[1].optimum.active))
            worse.append(sizes[1] / sizes[0])
    assert len(strict) >= 3
    assert np.mean(soft) < np.mean(strict)
    assert min(worse) > 1 - 1e-3


def test_the_state_of_the_solver_does_not_change_the_answer() -> None:
    used = WholeBody(ROBOTS["human"])
    for state, reference in cases("human", 1.0) * 2:
        warm = solve("human", state, reference, True, used)
        cold = solve("human", state, reference, True)
        np.testing.assert_allclose(warm.torque, cold.torque, atol=1e-4 * ROBOTS["human"].torque_limit.max())
