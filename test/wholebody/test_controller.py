"""What the rest of the loop relies on: frames, drives, the meaning of a solution, and that nothing grows."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from wholebody.harness import reference_at, state_at
from wholebody.random_states import random_case

from humanoid_balance.geometry import margin
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, FootReference, RobotState, Stack
from humanoid_balance.wholebody import contact
from humanoid_balance.wholebody.controller import WholeBody
from humanoid_balance.wholebody.solution import Solution, Status


@cache
def robot(name: str) -> Robot:
    return registry.load(name)


def solve(body: Robot, state: RobotState, reference: BodyReference) -> Solution:
    wholebody = WholeBody(body)
    wholebody.update(state, reference)
    assert wholebody.solution is not None
    return wholebody.solution


def moved(state: RobotState, reference: BodyReference, yaw: float, shift: Array) -> tuple[RobotState, BodyReference]:
    """The same situation elsewhere in the world, facing another way."""
    R = pin.rpy.rpyToMatrix(0.0, 0.0, yaw)
    q = state.q.copy()
    q[:3] = R @ q[:3] + shift
    q[3:7] = (pin.Quaternion(R) * pin.Quaternion(q[3:7])).coeffs()
    state = replace(state, q=q, sole_position=state.sole_position @ R.T + shift, sole_rotation=R @ state.sole_rotation)
    feet = tuple(
        None if f is None else FootReference(
            R @ f.position + shift, R @ f.rotation, np.kron(np.eye(2), R) @ f.velocity,
            np.kron(np.eye(2), R) @ f.acceleration,
        )
        for f in reference.feet
    )  # fmt: skip
    return state, replace(
        reference, com_acceleration=R @ reference.com_acceleration, torso_rotation=R @ reference.torso_rotation,
        angular_momentum_rate=R @ reference.angular_momentum_rate, feet=feet,
        com_weight=np.ones(3), momentum_weight=np.full(3, 0.1),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_nothing_depends_on_the_world_origin_or_heading(seed: int) -> None:
    body = robot("talos")
    state, reference = random_case(body, np.random.default_rng(seed), 0.4)
    here = moved(state, reference, 0.0, np.zeros(3))
    there = moved(state, reference, 2.0, np.array([4e3, -7e3, 90.0]))
    np.testing.assert_allclose(solve(body, *here).torque, solve(body, *there).torque, atol=1e-5)


def test_impedance_drives_get_the_same_torque_at_the_measured_state() -> None:
    body = registry.load("human")
    state, reference = random_case(body, np.random.default_rng(1), 0.4)
    plain = WholeBody(body).update(state, reference)
    assert not plain.stiffness.any() and not plain.damping.any()
    body.drive_stiffness[:10], body.drive_damping[:10] = 400.0, 8.0
    command = WholeBody(body).update(state, reference)
    total = (
        command.torque
        + command.stiffness * (command.position - state.q[7:])
        + command.damping * (command.velocity - state.v[6:])
    )
    np.testing.assert_allclose(total, plain.torque, atol=1e-9)
    assert (command.stiffness[:10] == 400.0).all() and not command.stiffness[10:].any()
    np.testing.assert_array_equal(command.torque[10:], plain.torque[10:])


def test_the_torque_speed_curve_of_a_motor_bounds_fast_joints() -> None:
    ideal, motor = robot("g1"), robot("g1:actuation=motor")
    state, reference = random_case(ideal, np.random.default_rng(2), 0.4)
    v = state.v.copy()
    v[6:] *= 20
    fast = replace(state, v=v)
    low, high = motor.actuation.bounds(fast.q[7:], v[6:])
    solution = solve(motor, fast, reference)
    assert solution.status in (Status.SOLVED, Status.RELAXED)
    assert (solution.torque >= low - 1e-4).all() and (solution.torque <= high + 1e-4).all()
    unaware = solve(ideal, fast, reference).torque
    assert max((low - unaware).max(), (unaware - high).max()) > 1.0


def test_the_planned_zmp_is_where_the_planned_wrenches_balance() -> None:
    body = robot("human")
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    solution = solve(body, state, reference_at(body, state, com_acceleration=np.array([0.4, -0.3, 0.2])))
    F = body.mass * (solution.com_acceleration + np.array([0.0, 0.0, 9.81]))
    n, s = solution.angular_momentum_rate, state.com
    expected = [s[0] + (-s[2] * F[0] - n[1]) / F[2], s[1] + (-s[2] * F[1] + n[0]) / F[2]]  # spec K3
    np.testing.assert_allclose(solution.zmp[:2], expected, atol=1e-6)
    assert solution.zmp_slack == pytest.approx(margin(state.support, solution.zmp), abs=1e-6)


def test_centres_of_pressure_inside_the_soles_put_the_zmp_inside_the_polygon() -> None:
    """Why no row for the polygon is needed: the ZMP is a mean of the centres of pressure, weighted by load."""
    body = robot("g1")
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    rng = np.random.default_rng(0)
    for _ in range(20):
        wanted = rng.normal(scale=3.0, size=3)
        solution = solve(body, state, reference_at(body, state, com_acceleration=wanted, zmp_margin=0.01))
        assert solution.zmp_slack >= 0.01 - 1e-6


def test_margin_and_load_are_obeyed() -> None:
    body = robot("human")
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    reference = reference_at(body, state, com_acceleration=np.array([2.5, 0.0, 0.0]), zmp_margin=0.03)
    solution = solve(body, state, reference)
    assert solution.zmp_slack >= 0.03 - 1e-6
    reference = reference_at(body, state, com_weight=np.array([1.0, 0.0, 1.0]), load_max=np.array([0.3, 1.5]))
    assert solve(body, state, reference).wrenches[0, 2] <= 0.3 * body.weight * (1 + 1e-6)


def test_a_free_com_axis_is_no_reason_to_be_infeasible() -> None:
    body = robot("human")
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    reference = reference_at(
        body, state, com_acceleration=np.array([0.0, 100.0, 0.0]), com_weight=np.array([1.0, 0.0, 1.0])
    )
    solution = solve(body, state, reference)
    assert solution.status is Status.SOLVED and (solution.com_residual == 0.0)[1]


def test_kudoh_shoulder_weight_moves_effort_to_and_from_the_arms_but_not_the_com() -> None:
    """Spec K3: with shoulder weights 1.5 / 0.15 / 0.015 arms swing less / as is / more, the CoM goes the same way."""
    stack = Stack("kudoh", (("com",), ("kudoh",)))
    arm, com = [], []
    for weight in (1.5, 0.15, 0.015):
        body = registry.load("human")
        shoulders = [i for i, joint in enumerate(body.joint_names) if "shoulder" in joint]
        body.joint_weight[shoulders] = weight if weight < 1.0 else 0.99
        state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
        reference = reference_at(
            body, state, stack=stack, com_acceleration=np.array([-1.6, 0.0, 0.0]), com_weight=np.array([1.0, 1.0, 0.0])
        )
        solution = solve(body, state, reference)
        assert solution.status is Status.SOLVED
        arm.append(np.abs(solution.acceleration[6:][shoulders]).max())
        com.append(solution.com_acceleration[:2])
    assert arm[0] < arm[1] < arm[2]
    np.testing.assert_allclose(com, [com[0]] * 3, atol=1e-9)


def test_kudoh_stays_tall() -> None:
    body = robot("human")
    stack = Stack("kudoh", (("com",), ("kudoh",)))
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    horizontal = np.array([1.0, 1.0, 0.0])
    reference = reference_at(body, state, stack=stack, com_acceleration=np.zeros(3), com_weight=horizontal)
    assert solve(body, state, reference).com_acceleration[2] > 0.0


def test_memory_does_not_grow() -> None:
    body = robot("human")
    rng = np.random.default_rng(3)
    cases = [random_case(body, rng, 0.5) for _ in range(12)]
    wholebody = WholeBody(body)

    def ticks(rounds: int) -> None:
        for _ in range(rounds):
            for state, reference in cases:
                wholebody.update(state, reference)

    ticks(5)
    tracemalloc.start()
    ticks(5)
    before = tracemalloc.get_traced_memory()[0]
    ticks(40)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000  # bytes


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_a_sole_that_lost_the_ground_comes_down_and_lies_flat(name: str) -> None:
    body = robot(name)
    q = body.q_nominal.copy()
    q[7 + body.groups["legs"][-1]] += 0.1  # an ankle
    state = state_at(body, q, np.zeros(body.model.nv))
    reference = reference_at(body, state)
    for side in range(2):
        wrench = np.zeros((2, 6))
        wrench[1 - side, 2] = body.weight
        wholebody = WholeBody(body)
        wholebody.update(replace(state, wrench=wrench), reference)
        sole, other = wholebody.terms.soles[side], wholebody.terms.soles[1 - side]
        up = state.ground_normal @ sole.rotation
        assert sole.rest[:3] @ up < 0.0  # down
        tilt = np.cross([0.0, 0.0, 1.0], up)  # the turn that makes it flat
        assert sole.rest[3:] @ tilt >= 0.0 and not other.rest.any()
        wholebody.update(replace(state, wrench=np.full((2, 6), body.weight / 2)), reference)
        assert not sole.rest.any()  # it stands: nothing to seek


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_the_soles_keep_half_the_weight_whatever_is_asked(name: str) -> None:
    body = robot(name)
    state = state_at(body, body.q_nominal, np.zeros(body.model.nv))
    down = reference_at(body, state, com_acceleration=np.array([0.0, 0.0, -9.0]), com_weight=np.ones(3))
    solution = solve(body, state, down)
    assert solution.status is Status.RELAXED
    assert solution.wrenches[:, 2].sum() == pytest.approx(contact.MIN_TOTAL * body.weight, rel=1e-4)
