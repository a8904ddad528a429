"""Hybrid inverse dynamics (A3): the joints get their accelerations whatever the ground does, and the base obeys."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.motions.hybrid import HybridDynamics
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

STATES = 1000


@pytest.fixture(scope="module")
def body() -> Robot:
    return registry.load("lee47")


def some_state(robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Configuration, velocity, wanted joint accelerations, wrenches of both soles."""
    turn = pin.Quaternion(pin.exp3(rng.normal(size=3))).coeffs()
    q = np.concatenate([rng.normal(size=3), turn, rng.uniform(robot.lower, robot.upper)])
    return q, 2.0 * rng.normal(size=robot.n + 6), 50.0 * rng.normal(size=robot.n), 200.0 * rng.normal(size=(2, 6))


def test_forward_dynamics_reproduce_the_joint_accelerations_in_1000_random_states(body: Robot) -> None:
    model, data, rng = body.model, body.model.createData(), np.random.default_rng(24)
    law = HybridDynamics(body)
    for _ in range(STATES):
        q, v, wanted, wrench = some_state(body, rng)
        torque = law.torque(q, v, wanted, wrench)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        rest = -pin.nonLinearEffects(model, data, q, v)
        rest[6:] += torque
        for frame, force in zip(body.sole_frames, wrench, strict=True):
            rest += pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL).T @ force
        found = np.linalg.solve(M, rest)
        np.testing.assert_allclose(found[6:], wanted, atol=1e-6)
        residual = M[:6] @ np.concatenate([law.base, wanted]) - rest[:6]  # nothing pushes on the base but the ground
        assert np.abs(residual).max() < 1e-8 * max(1.0, np.abs(rest[:6]).max())


def test_an_error_of_the_measured_force_shrinks_on_hard_ground(body: Robot) -> None:
    """One sole is held by the ground; each torque is made with the force that the last one led to."""
    model, data, law = body.model, body.model.createData(), HybridDynamics(body)
    q, v = body.q_nominal, np.zeros(body.n + 6)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    J = pin.computeFrameJacobian(model, data, q, body.sole_frames[0], pin.LOCAL)
    mobility = J @ np.linalg.solve(M, J.T)

    def answer(force: Array) -> Array:
        """Of the ground, to the torque that was made with a force."""
        torque = law.torque(q, v, np.zeros(body.n), np.array([force, np.zeros(6)]))
        free = np.linalg.solve(M, np.concatenate([np.zeros(6), torque]))
        return -np.linalg.solve(mobility, J @ free)

    change = np.column_stack([answer(force) - answer(np.zeros(6)) for force in np.eye(6)])
    rates = np.linalg.eigvals(change)  # nearly 1: why wrenches are foreseen
    assert np.abs(rates.imag).max() < 1e-9
    assert rates.real.min() > -1e-9 and rates.real.max() < 1.0 - 1e-4


@pytest.mark.slow
def test_it_keeps_up_with_900_hz(body: Robot) -> None:
    rng, law = np.random.default_rng(0), HybridDynamics(body)
    states = [some_state(body, rng) for _ in range(200)]
    spent = []
    for state in states:
        begin = time.thread_time()
        law.torque(*state)
        spent.append(time.thread_time() - begin)
    assert float(np.median(spent)) < 1 / 900
