"""What cannot be had is told within the tick, and what is sent then is finite and within the limits."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatch
from functools import cache

import numpy as np
import pytest
from wholebody.harness import reference_at, state_at

from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, RobotState, TorqueCommand
from humanoid_balance.wholebody import fallback
from humanoid_balance.wholebody.controller import WholeBody
from humanoid_balance.wholebody.hierarchy import EXCESS_ROOM
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.solution import Sent, Solution, Status
from humanoid_balance.wholebody.terms import Terms

ROBOTS = ("human", "talos", "g1")


@cache
def robot(name: str) -> Robot:
    return registry.load(name)


def knees_of(body: Robot) -> list[int]:
    knees = [i for i, joint in enumerate(body.joint_names) if "knee" in joint or fnmatch(joint, "leg_*_4_joint")]
    assert len(knees) == 2
    return knees


def standing(body: Robot, q: Array | None = None) -> tuple[RobotState, BodyReference]:
    state = state_at(body, body.q_nominal if q is None else q, np.zeros(body.model.nv))
    return state, reference_at(body, state, com=state.com)


def solve(body: Robot, state: RobotState, reference: BodyReference) -> tuple[Solution, TorqueCommand]:
    """One tick of a new controller: nothing from before can help it."""
    wholebody = WholeBody(body)
    command = wholebody.update(state, reference)
    solution = wholebody.solution
    assert solution is not None
    assert np.isfinite(command.torque).all()
    assert (np.abs(command.torque) <= body.torque_limit * (1 + 1e-5)).all()
    return solution, command


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_a_com_law_beyond_the_polygon_is_relaxed_to_its_best_approach(name: str, direction: tuple[int, int]) -> None:
    body = robot(name)
    state, reference = standing(body)
    wanted = np.array([*direction, 0.0]) * 15.0  # beyond friction and polygon
    solution, _ = solve(body, state, replace(reference, com_acceleration=wanted))
    assert solution.status is Status.RELAXED and solution.sent is Sent.OPTIMUM
    assert solution.residuals.primal <= 1e-5 and solution.zmp_slack >= -1e-6
    along = solution.com_acceleration[:2] @ direction
    assert 0.5 < along < 15.0  # as much of it as can be had
    assert solution.active


@pytest.mark.parametrize("name", ROBOTS)
def test_knees_at_their_limit_cannot_stretch_further(name: str) -> None:
    """Straight legs and a CoM that should go up: told, and the knees do not accelerate into the stop."""
    body = robot(name)
    knees = knees_of(body)
    q = body.q_nominal.copy()
    for knee in knees:
        q[7 + knee] = body.lower[knee]
    q[2] += 0.05
    state, reference = standing(body, q)
    solution, _ = solve(body, state, replace(reference, com_acceleration=np.array([0.0, 0.0, 30.0])))
    assert solution.status is Status.RELAXED
    assert (solution.acceleration[6:][knees] >= -1e-4).all()
    assert solution.com_residual[2] < -1e-3


def test_without_friction_no_horizontal_acceleration_can_be_had() -> None:
    body = registry.load("human")
    body.contacts = tuple(replace(surface, friction=1e-6) for surface in body.contacts)
    state, reference = standing(body)
    solution, _ = solve(body, state, replace(reference, com_acceleration=np.array([0.5, 0.0, 0.0])))
    assert solution.status is Status.RELAXED
    assert abs(solution.com_acceleration[0]) < 1e-3


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("missing", [0, 1])
def test_a_foot_off_the_ground_by_mistake_is_missed_and_does_not_push(name: str, missing: int) -> None:
    body = robot(name)
    q = body.q_nominal.copy()
    knee = knees_of(body)[missing]
    q[7 + knee] += 0.4  # the sole comes up
    state = state_at(body, q, np.zeros(body.model.nv), contact=(missing == 1, missing == 0))
    assert state.sole_position[missing, 2] > state.sole_position[1 - missing, 2] + 0.01
    solution, _ = solve(body, state, reference_at(body, state, com=state.com))
    assert solution.status is Status.RELAXED and solution.missing == (missing,)
    np.testing.assert_array_equal(solution.wrenches[missing], 0.0)
    assert solution.wrenches[1 - missing, 2] > 0


def test_an_unloaded_foot_is_held_still_but_not_missed() -> None:
    body = robot("human")
    com = body.com_nominal.copy()
    state, reference = standing(body)
    com[:2] = state.sole_position[0, :2]
    reference = replace(reference, load_max=np.array([1.5, 0.0]), com_acceleration=np.array([0.0, -3.0, 0.0]))
    solution, _ = solve(body, state, reference)
    assert solution.missing == ()
    np.testing.assert_array_equal(solution.wrenches[1], 0.0)


def test_limits_that_contradict_each_other_are_told_and_the_joint_brakes_with_all_it_has() -> None:
    """A joint that runs beyond its stop too fast for its motor: no torque obeys both limits."""
    body = registry.load("human")
    joint = body.joint_names.index("neck_yaw")
    body.torque_limit[np.setdiff1d(np.arange(body.n), body.groups["legs"])] *= 0.1
    q, v = body.q_nominal.copy(), np.zeros(body.model.nv)
    q[7 + joint] = body.upper[joint] + 0.01
    v[6 + joint] = 10.0
    state = state_at(body, q, v)
    solution, command = solve(body, state, reference_at(body, state, com=state.com))
    assert solution.status is Status.INFEASIBLE and solution.sent is Sent.LEAST_EXCESS
    assert command.torque[joint] == pytest.approx(-body.torque_limit[joint])  # brakes with all it has
    assert solution.zmp_slack > 0  # while the body keeps standing


@pytest.mark.parametrize("seed", range(5))
def test_one_joint_that_its_motor_cannot_stop_does_not_set_the_others_free(seed: int) -> None:
    """The head runs beyond its stop; joints of the arms at their speed limit are asked to go on faster."""
    body = registry.load("human")
    rng = np.random.default_rng(seed)
    head, fast = body.joint_names.index("neck_yaw"), rng.choice(body.groups["arms"], 4, replace=False)
    body.torque_limit[np.setdiff1d(np.arange(body.n), body.groups["legs"])] *= 0.1
    q, v = body.q_nominal.copy(), np.zeros(body.model.nv)
    q[7 + head], v[6 + head] = body.upper[head] + 0.01, 10.0
    v[6 + fast] = 0.99 * body.velocity_limit[fast]
    state = state_at(body, q, v)
    wish = reference_at(body, state, com=state.com)
    wish.posture_acceleration[fast] = 1e3
    solution, _ = solve(body, state, wish)
    assert solution.status is Status.INFEASIBLE and solution.sent is Sent.LEAST_EXCESS
    bounds = np.zeros((2, body.n))
    JointLimits(body).shares(q[7:], v[6:], bounds)
    share = solution.acceleration[6:] / body.acceleration_limit
    beyond = np.maximum(bounds[0] - share, share - bounds[1])
    assert beyond[head] > EXCESS_ROOM
    assert np.linalg.norm(np.maximum(beyond - EXCESS_ROOM, 0.0)) < 1.0  # all together less than one of them may brake


def test_with_no_solution_at_all_the_weight_is_carried_and_joints_are_braked() -> None:
    """Legs whirl while both soles should be still, and the motors are far too weak for that."""
    body = registry.load("human")
    body.torque_limit[np.setdiff1d(np.arange(body.n), body.groups["legs"])] *= 0.1
    rng = np.random.default_rng(0)
    state = state_at(body, body.q_nominal, 8 * rng.normal(size=body.model.nv))
    solution, command = solve(body, state, reference_at(body, state, com=state.com))
    assert solution.status is Status.INFEASIBLE and solution.sent is Sent.BRAKE
    assert (np.abs(command.torque) <= body.torque_limit).all()


def test_the_brake_holds_a_standing_body() -> None:
    """At rest and within the limits it is the torque that keeps the body where it is."""
    body = robot("human")
    terms = Terms(body)
    terms.update(body.q_nominal, np.zeros(body.model.nv))
    torque, _, wrench = fallback.brake(body, terms, [0, 1])
    J = np.vstack([s.J for s in terms.soles])
    np.testing.assert_allclose(J.T @ wrench + np.concatenate([np.zeros(6), torque]), terms.h, atol=1e-6)


def test_a_state_that_is_no_number_brakes_every_joint() -> None:
    body = robot("human")
    state, reference = standing(body)
    q = state.q.copy()
    q[10] = np.nan
    wholebody = WholeBody(body)
    command = wholebody.update(replace(state, q=q), reference)
    assert wholebody.solution is None
    assert command.damped and (command.torque == 0).all() and (command.damping > 0).all()
    healthy = wholebody.update(state, reference)
    assert not healthy.damped and np.isfinite(healthy.torque).all()
    assert wholebody.solution is not None and wholebody.solution.status is Status.SOLVED


def test_a_wish_that_is_no_number_is_not_solved_and_the_body_is_braked() -> None:
    body = robot("human")
    state, reference = standing(body)
    solution, _ = solve(body, state, replace(reference, com_acceleration=np.array([np.nan, 0.0, 0.0])))
    assert solution.status is Status.NOT_CONVERGED and solution.sent is Sent.BRAKE


def test_in_flight_the_com_cannot_be_accelerated() -> None:
    body = robot("human")
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv), contact=(False, False))
    solution, _ = solve(body, state, reference_at(body, state, contact=np.array([False, False])))
    assert solution.status is Status.RELAXED
    np.testing.assert_allclose(solution.com_acceleration, [0, 0, -9.81], atol=1e-9)
    np.testing.assert_allclose(solution.angular_momentum_rate, 0, atol=1e-9)
    assert np.isnan(solution.zmp_slack)


def test_an_unknown_task_is_refused_by_name() -> None:
    body = robot("human")
    state, reference = standing(body)
    stack = replace(reference.stack, levels=(("com",), ("dance",)))
    with pytest.raises(ValueError, match="dance"):
        WholeBody(body).update(state, replace(reference, stack=stack))
