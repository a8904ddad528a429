"""The least-distance solver against an independent one, warm, cold, infeasible and with equations."""

from __future__ import annotations

import numpy as np
import pytest
import qpsolvers

from humanoid_balance.types import Array
from humanoid_balance.wholebody.least_distance import Outcome, Result, smallest_move, smallest_residual
from humanoid_balance.wholebody.proxqp import ProxQP


def problem(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array, Array]:
    """Two-sided constraints around a point far from the origin."""
    C = rng.normal(size=(m, n)) / np.sqrt(n)
    inside = C @ rng.normal(scale=3.0, size=n)
    return C, inside - rng.exponential(size=m), inside + rng.exponential(size=m)


def quadprog(C: Array, l: Array, u: Array) -> Array | None:  # noqa: E741
    n = C.shape[1]
    return qpsolvers.solve_qp(np.eye(n), np.zeros(n), np.vstack([C, -C]), np.concatenate([u, -l]), solver="quadprog")


def check_optimality(result: Result, C: Array, l: Array, u: Array) -> None:  # noqa: E741
    value = C @ result.y
    assert max((l - value).max(), (value - u).max()) <= 1e-8
    gradient = result.y + result.multipliers @ C
    assert np.abs(gradient).max() <= 1e-8 * (1 + np.abs(result.y).max())


@pytest.mark.parametrize("seed", range(40))
def test_optimum_is_that_of_quadprog(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C, l, u = problem(rng, int(rng.integers(2, 30)), int(rng.integers(5, 100)))  # noqa: E741
    result = smallest_move(C, l, u)
    expected = quadprog(C, l, u)
    assert result.outcome is Outcome.SOLVED and expected is not None
    np.testing.assert_allclose(result.y, expected, atol=1e-7)
    check_optimality(result, C, l, u)


def test_a_start_from_a_like_problem_gives_the_same_optimum_with_fewer_changes() -> None:
    rng = np.random.default_rng(3)
    C, l, u = problem(rng, 25, 98)  # noqa: E741
    result = smallest_move(C, l, u)
    for step in np.linspace(0, 1e-2, 30):
        cold = smallest_move(C, l - step, u - step)
        result = smallest_move(C, l - step, u - step, start=result.multipliers)
        np.testing.assert_allclose(result.y, cold.y, atol=1e-9)
        assert result.iterations < cold.iterations


def test_contradiction_is_proven() -> None:
    rng = np.random.default_rng(4)
    C, l, u = problem(rng, 20, 60)  # noqa: E741
    C = np.vstack([C, C[:3].sum(axis=0)])
    low = float(u[:3].sum()) + 0.1  # the sum cannot be above the sum of its upper bounds
    l, u = np.append(l, low), np.append(u, low + 1)  # noqa: E741
    assert smallest_move(C, l, u).outcome is Outcome.INFEASIBLE


def test_fixed_rows_are_equations_whatever_the_sign_of_their_multiplier() -> None:
    rng = np.random.default_rng(5)
    C, l, u = problem(rng, 15, 40)  # noqa: E741
    fixed = [3, 7]
    l[fixed] = u[fixed] = [0.9 * u[3] + 0.1 * l[3], 0.5 * (u[7] + l[7])]
    result = smallest_move(C, l, u, fixed)
    expected = qpsolvers.solve_qp(
        np.eye(15), np.zeros(15), np.vstack([C, -C]), np.concatenate([u + 1e-9, 1e-9 - l]), C[fixed], l[fixed],
        solver="quadprog",
    )  # fmt: skip
    assert expected is not None
    np.testing.assert_allclose(result.y, expected, atol=1e-6)


def test_a_start_from_a_wrong_place_does_not_change_the_optimum() -> None:
    rng = np.random.default_rng(6)
    C, l, u = problem(rng, 20, 70)  # noqa: E741
    expected = quadprog(C, l, u)
    for _ in range(20):
        rows = rng.choice(70, size=8, replace=False).tolist()
        wrong = np.zeros(70)
        wrong[rows] = rng.normal(size=8)
        np.testing.assert_allclose(smallest_move(C, l, u, start=wrong).y, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_smallest_residual_is_that_of_a_problem_in_which_the_free_columns_cost_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C, _, _ = problem(rng, 20, 70)
    C[:3, 6:] = 0.0  # rows that free columns cannot help
    inside, room = C @ rng.normal(scale=3.0, size=20), rng.exponential(size=70)
    room[:3] = 0.01
    l, u = inside - room, inside + room  # noqa: E741
    result = smallest_residual(C, l, u, 6)
    hessian = np.diag([1.0] * 6 + [1e-9] * 14)
    expected = qpsolvers.solve_qp(hessian, np.zeros(20), np.vstack([C, -C]), np.concatenate([u, -l]), solver="quadprog")
    assert result.outcome is Outcome.SOLVED and expected is not None
    np.testing.assert_allclose(result.y[:6], expected[:6], atol=1e-5)
    assert np.linalg.norm(result.y[:6]) > 0.1 and result.dual < 1e-6 and result.gap < 1e-6


def test_proxqp_agrees_and_survives_a_failure() -> None:
    rng = np.random.default_rng(7)
    C, l, u = problem(rng, 20, 70)  # noqa: E741
    solver, expected = ProxQP(20, 70), quadprog(C, l, u)
    for _ in range(3):
        result = solver.solve(C, l, u)
        assert result.outcome is Outcome.SOLVED
        np.testing.assert_allclose(result.y, expected, atol=1e-6)
    impossible = u.copy()
    impossible[0] = l[0] - 1.0
    assert solver.solve(C, l, impossible).outcome is Outcome.NOT_CONVERGED
    result = solver.solve(C, l, u)
    assert result.outcome is Outcome.SOLVED
    np.testing.assert_allclose(result.y, expected, atol=1e-6)
