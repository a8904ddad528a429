"""Fields that are made when they are read: of the right tick, once, and nobody can tell."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from humanoid_balance.estimation import Estimator
from humanoid_balance.estimation.late_state import LATE
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, RobotState, SensorFrame


def same(a: RobotState, b: RobotState) -> bool:
    return all(
        np.array_equal(getattr(a, field.name), getattr(b, field.name), equal_nan=True)
        for field in fields(RobotState)
        if isinstance(getattr(a, field.name), np.ndarray)
    )


def test_read_late_they_are_what_they_were_at_their_tick(human: Robot, swaying: list[SensorFrame]) -> None:
    at_once, later = Estimator(human), Estimator(human)
    early, states = [], []
    for frame in swaying[:200]:
        state = at_once.update(frame)
        early.append({name: getattr(state, name).copy() for name in LATE})
        states.append(later.update(frame))
    for kept, state in zip(early, states, strict=True):
        for name, value in kept.items():
            np.testing.assert_array_equal(getattr(state, name), value, err_msg=name)


def test_they_agree_with_the_other_fields(human: Robot, swaying: list[SensorFrame]) -> None:
    estimator = Estimator(human)
    for frame in swaying[:300]:
        state = estimator.update(frame)
    np.testing.assert_allclose(state.dcm, state.com + state.com_velocity / state.omega, atol=1e-12)
    force = np.einsum("sij,sj->i", state.sole_rotation, state.wrench[:, :3])
    gravity = np.array([0.0, 0.0, GRAVITY])
    np.testing.assert_allclose(state.com_acceleration, force / human.mass - gravity, atol=0.01)  # but for the bias
    share = state.wrench[:, 2] / state.wrench[:, 2].sum()
    np.testing.assert_allclose(state.zmp[:2], (share @ state.cop)[:2], atol=1e-3)
    assert state.contact_probability.tolist() == [1.0, 1.0]


def test_a_second_reading_gives_the_same_object(human: Robot, swaying: list[SensorFrame]) -> None:
    state = Estimator(human).update(swaying[0])
    assert state.zmp is state.zmp and state.sole_velocity is state.sole_velocity


def test_a_state_can_be_replaced_copied_and_pickled(human: Robot, swaying: list[SensorFrame]) -> None:
    state = Estimator(human).update(swaying[0])
    other = replace(state, valid=False)
    assert not other.valid and same(state, other)
    assert same(state, copy.copy(state)) and same(state, pickle.loads(pickle.dumps(state)))


def test_a_field_that_does_not_exist_is_an_error(human: Robot, swaying: list[SensorFrame]) -> None:
    state = Estimator(human).update(swaying[0])
    with pytest.raises(AttributeError, match="zpm"):
        state.zpm  # noqa: B018
