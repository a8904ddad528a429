"""Jacobians and drifts of the tasks against finite differences, and the signs of their feedback."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from wholebody.harness import reference_at, state_at

from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, FootReference
from humanoid_balance.wholebody.tasks.com import ComTask
from humanoid_balance.wholebody.tasks.feet import LIFT, WEIGHT, FootTask
from humanoid_balance.wholebody.tasks.kudoh import KudohTask
from humanoid_balance.wholebody.tasks.momentum import MomentumTask
from humanoid_balance.wholebody.tasks.posture import PostureTask
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.tasks.torso import TorsoTask
from humanoid_balance.wholebody.terms import Terms

ALL = np.ones(3, dtype=bool)
STEP = 1e-5  # [s]


@cache
def robot(name: str) -> Robot:
    return registry.load(name)


def moving(body: Robot, seed: int) -> tuple[Array, Array, Array]:
    """A configuration, velocity and acceleration."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(body.model, body.q_nominal, 0.2 * rng.normal(size=body.model.nv))
    return q, rng.normal(size=body.model.nv), rng.normal(size=body.model.nv)


def rows(task: Task, terms: Terms, reference: object) -> tuple[Array, Array]:
    A, b = np.zeros((task.rows, terms.model.nv)), np.zeros(task.rows)
    task.fill(terms, reference, A, b)  # type: ignore[arg-type]
    return A, b


def difference(body: Robot, q: Array, v: Array, a: Array, value) -> Array:  # type: ignore[no-untyped-def]
    """Time derivative of value(terms) along the motion with acceleration a."""
    sides = []
    for h in (STEP, -STEP):
        terms = Terms(body)
        terms.update(pin.integrate(body.model, q, h * v + h * h / 2 * a), v + h * a)
        sides.append(np.array(value(terms)))
    return (sides[0] - sides[1]) / (2 * STEP)


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_com_and_momentum_rows_are_derivatives_of_the_centroidal_momentum(name: str) -> None:
    body = robot(name)
    q, v, a = moving(body, 1)
    terms = Terms(body)
    terms.update(q, v)
    rate = difference(body, q, v, a, lambda t: t.Ag @ t.v)
    np.testing.assert_allclose(terms.Ag[:3] @ a / body.mass + terms.drift[:3], rate[:3] / body.mass, atol=1e-6)
    np.testing.assert_allclose(terms.Ag[3:] @ a + terms.drift[3:], rate[3:], atol=1e-4)
    state = state_at(body, q, v)
    wanted = reference_at(body, state, com_acceleration=rate[:3] / body.mass, angular_momentum_rate=rate[3:])
    for task in (ComTask(body, ALL), MomentumTask(body, ALL)):
        A, b = rows(task, terms, wanted)
        np.testing.assert_allclose(A @ a, b, atol=1e-5)


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_frame_acceleration_is_the_derivative_of_the_frame_velocity(name: str) -> None:
    body = robot(name)
    q, v, a = moving(body, 2)
    terms = Terms(body)
    terms.update(q, v)
    for pick in (lambda t: t.soles[0], lambda t: t.soles[1], lambda t: t.torso):
        frame = pick(terms)

        def world_velocity(t: Terms, pick=pick) -> Array:  # type: ignore[no-untyped-def]
            f = pick(t)
            return np.concatenate([f.rotation @ f.velocity[:3], f.rotation @ f.velocity[3:]])

        rate = difference(body, q, v, a, world_velocity)
        local = frame.J @ a + frame.drift
        np.testing.assert_allclose(frame.rotation @ local[:3], rate[:3], atol=1e-5)
        np.testing.assert_allclose(frame.rotation @ local[3:], rate[3:], atol=1e-5)


def test_a_task_at_its_goal_asks_for_no_acceleration() -> None:
    body = robot("human")
    q, _, _ = moving(body, 3)
    v = np.zeros(body.model.nv)
    state = state_at(body, q, v)
    foot = FootReference(state.sole_position[1], state.sole_rotation[1], np.zeros(6), np.zeros(6))
    pin.framesForwardKinematics(body.model, body.data, q)
    torso = body.data.oMf[body.torso_frame].rotation.copy()
    reference = reference_at(body, state, feet=(None, foot), torso_rotation=torso, posture=q[7:])
    terms = Terms(body)
    terms.update(q, v)
    for task in (TorsoTask(body), FootTask(body, 1), PostureTask(body)):
        np.testing.assert_allclose(rows(task, terms, reference)[1], 0.0, atol=1e-9)


def test_feedback_pulls_towards_the_goal_with_the_gain_in_units_of_omega() -> None:
    body = robot("talos")
    q, v = body.q_nominal, np.zeros(body.model.nv)
    state = state_at(body, q, v)
    terms = Terms(body)
    terms.update(q, v)
    up = np.array([0.0, 0.0, 0.01])
    foot = FootReference(state.sole_position[0] + up, state.sole_rotation[0], np.zeros(6), np.zeros(6))
    reference = reference_at(body, state, feet=(foot, None))
    b = rows(FootTask(body, 0), terms, reference)[1]
    expected = LIFT * WEIGHT * (body.config.gains.foot * body.omega) ** 2 * 0.01
    np.testing.assert_allclose(terms.soles[0].rotation @ b[:3], [0, 0, expected], atol=1e-9)
    lean = pin.rpy.rpyToMatrix(0.0, 0.02, 0.0)
    reference = reference_at(body, state, torso_rotation=lean @ terms.torso.rotation)
    b = rows(TorsoTask(body), terms, reference)[1]
    stiffness = (body.config.gains.torso * body.omega) ** 2
    np.testing.assert_allclose(terms.torso.rotation @ b, [0, stiffness * 0.02, 0], atol=1e-6)


def test_an_axis_without_weight_has_no_row() -> None:
    body = robot("human")
    assert ComTask(body, np.array([True, False, True])).rows == 2
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    terms = Terms(body)
    terms.update(body.q_nominal, np.zeros(body.model.nv))
    reference = reference_at(body, state, com_weight=np.array([1.0, 0.0, 4.0]))
    A, _ = rows(ComTask(body, np.array([True, False, True])), terms, reference)
    np.testing.assert_allclose(A, terms.Ag[[0, 2]] / body.mass * [[1.0], [2.0]])


def test_kudoh_rows_and_objective_are_the_same_thing() -> None:
    """As rows |A a - b|² and as metric q_dd' W q_dd - 2 r' q_dd the task has the same optimum."""
    body = robot("human")
    q, v, _ = moving(body, 4)
    state = state_at(body, q, 0.1 * v)
    terms = Terms(body)
    terms.update(q, 0.1 * v)
    task, reference = KudohTask(body), reference_at(body, state)
    A, b = rows(task, terms, reference)
    best = np.linalg.solve(A[:, 6:], b)
    np.testing.assert_allclose(best, task.wanted(terms, reference), atol=1e-8)
    np.testing.assert_allclose(task.W @ best, task.pull(terms, reference), atol=1e-8)


def test_kudoh_pairs_accelerate_towards_each_other() -> None:
    body = robot("human")
    q = body.q_nominal.copy()
    left, right = body.symmetry[0]
    q[7 + left] += 0.3
    state = state_at(body, q, np.zeros(body.model.nv))
    terms = Terms(body)
    terms.update(q, np.zeros(body.model.nv))
    terms.T[:] = 0.0
    wanted = KudohTask(body).wanted(terms, reference_at(body, state))
    assert wanted[left] < 0 < wanted[right]
