"""The last level's metric: a few rows beside a diagonal one, without factorising all of it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from humanoid_balance.robot import registry
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.last_level import FEW, LastLevel
from humanoid_balance.wholebody.tasks.posture import POISE, PostureTask
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms


class Rows(Task):
    """Any rows A a = b."""

    def __init__(self, A: Array, b: Array) -> None:
        self.rows, self.A, self.b = len(b), A, b

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        A[:], b[:] = self.A, self.b


class Body:
    """What the level reads of the terms: joints and how the base follows them."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.q, self.v = rng.normal(size=n), rng.normal(size=n + 6)
        self.T, self.t = rng.normal(size=(6, n)), rng.normal(size=6)


@pytest.mark.parametrize("count", [2, 6, FEW])
def test_the_closed_form_is_the_weighted_least_squares_optimum(count: int) -> None:
    robot, rng = registry.load("human"), np.random.default_rng(count)
    n = robot.n
    body = Body(n, rng)
    rows = Rows(rng.normal(size=(count, n + 6)), rng.normal(size=count))
    posture = PostureTask(robot, POISE)
    level = LastLevel(robot, [rows, posture])
    values: dict[str, Any] = {"posture": rng.normal(size=n)}
    values |= {"posture_velocity": np.zeros(n), "posture_acceleration": np.zeros(n)}
    reference = cast(BodyReference, type("Wanted", (), values))
    level.update(cast(Terms, body), reference)
    A = rows.A[:, 6:] + rows.A[:, :6] @ body.T
    b = rows.b - rows.A[:, :6] @ body.t
    W = np.diag(posture.weight)
    hessian = W + A.T @ A
    best = np.linalg.solve(hessian, A.T @ b + posture.pull(cast(Terms, body), reference))
    np.testing.assert_allclose(level.wanted, best, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(level.N @ level.N.T, np.linalg.inv(hessian), rtol=1e-9, atol=1e-9)


def test_poise_leaves_no_joint_cheaper_than_half() -> None:
    robot = registry.load("talos")
    assert PostureTask(robot).weight.min() < POISE
    assert PostureTask(robot, POISE).weight.min() == POISE
