"""Squaring up: which foot moves, when it leaves, where it goes, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from wholebody.harness import state_at

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.squaring import (
    PATIENCE,
    SWING_TIME,
    TOLERANCE,
    UNLOAD_TIME,
    Squaring,
    feet_apart,
    pushed_meanwhile,
)  # fmt: skip
from humanoid_balance.balance.modes.standing import QUIET, REST
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.situation import Situation, look
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import BodyReference, RobotState

LEVEL = np.array([0.0, 0.0, 1.0])
DT = 0.001
LONG_AGO = -10.0  # [s]


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


def state(
    robot: Robot, stamp: float, stride: float = 0.0, lighter: int = 0, contact: tuple[bool, bool] = (True, True)
) -> RobotState:
    """At rest, the left foot ahead by a stride [CoM heights]; the CoM over the middle of the feet."""
    found = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv), stamp, contact)
    soles = found.sole_position.copy()
    soles[0, 0] += stride * robot.com_height
    wrench = np.zeros((2, 6))
    wrench[:, 2] = 0.6 * robot.weight
    wrench[lighter, 2] = 0.4 * robot.weight
    com = found.com + np.array([stride * robot.com_height / 2, 0.0, 0.0])
    return replace(found, sole_position=soles, wrench=wrench, com=com, angular_momentum=np.zeros(3))


def see(memory: Memory, found: RobotState) -> Situation:
    return look(memory.robot, found, memory.trunk, LEVEL)


def begin(robot: Robot, **how: int) -> tuple[Memory, Squaring]:
    memory = Memory(robot, BalanceSettings())
    memory.mode = mode = Squaring(memory)
    memory.since = LONG_AGO
    mode.enter(see(memory, state(robot, 0.0, 0.2, **how)))
    return memory, mode


def over(found: RobotState, side: int) -> RobotState:
    """The same with the CoM at rest over one foot."""
    com = found.com.copy()
    com[:2] = found.sole_position[side, :2]
    return replace(found, com=com)


def test_feet_beside_each_other_stay(robot: Robot) -> None:
    memory, _ = begin(robot)
    assert not feet_apart(see(memory, state(robot, 0.0)), memory)
    assert not feet_apart(see(memory, state(robot, 0.0, 0.9 * TOLERANCE)), memory)
    assert feet_apart(see(memory, state(robot, 0.0, 1.1 * TOLERANCE)), memory)


def test_it_waits_until_the_body_is_at_rest(robot: Robot) -> None:
    memory, _ = begin(robot)
    apart = state(robot, 0.0, 0.2)
    moving = replace(apart, com_velocity=np.array([1.1 * QUIET, 0.0, 0.0]))
    assert not feet_apart(see(memory, moving), memory)
    memory.since = -0.9 * REST  # the stable mode has only just begun
    assert not feet_apart(see(memory, apart), memory)


@pytest.mark.parametrize("side", [0, 1])
def test_the_foot_that_carries_less_moves_once_the_dcm_is_over_the_other(robot: Robot, side: int) -> None:
    memory, mode = begin(robot, lighter=side)
    wanted = mode.update(see(memory, state(robot, DT, 0.2, side)))
    assert isinstance(wanted, BodyReference) and mode.shifting and wanted.contact.all()
    sideways = memory.robot.sole_centres[1 - side, 1] + state(robot, 0.0).sole_position[1 - side, 1]
    assert wanted.com_acceleration[1] * sideways > 0.0  # toward the foot that stays
    mode.update(see(memory, over(state(robot, 2 * DT, 0.2, side), 1 - side)))
    assert not mode.shifting and mode.cycle.side == side


@pytest.mark.parametrize("side", [0, 1])
def test_the_foot_is_set_down_beside_the_other_on_its_own_side(robot: Robot, side: int) -> None:
    memory, mode = begin(robot, lighter=side)
    mode.update(see(memory, over(state(robot, DT, 0.2, side), 1 - side)))
    seen, stamp = (), DT
    air = (side == 1, side == 0)
    while stamp < UNLOAD_TIME + 0.5 * SWING_TIME:
        stamp += DT
        wanted = mode.update(see(memory, over(state(robot, stamp, 0.2, side, air), 1 - side)))
        seen = wanted.footholds or seen
    (foothold,) = seen
    now = see(memory, state(robot, stamp, 0.2, side))
    x, y = (foothold.position + foothold.rotation @ robot.sole_centres[side])[:2]
    sx, sy = now.centre[1 - side]
    assert x == pytest.approx(sx, abs=1e-6)
    assert y - sy == pytest.approx(robot.stance_width * (1 if side == 0 else -1), abs=1e-6)
    while not mode.done:  # it lands, and the mode is over
        stamp += DT
        assert stamp < 2.0
        mode.update(see(memory, over(state(robot, stamp, 0.0, side), 1 - side)))
    assert mode.done == "the foot is back"


def test_a_shift_that_takes_too_long_is_given_up(robot: Robot) -> None:
    memory, mode = begin(robot)
    mode.update(see(memory, state(robot, 0.9 * PATIENCE, 0.2)))
    assert not mode.done
    mode.update(see(memory, state(robot, PATIENCE + DT, 0.2)))
    assert mode.shifting and mode.done == "no time for it"
    mode.enter(see(memory, state(robot, 5.0, 0.2)))
    assert not mode.done  # another try begins anew


def test_a_push_ends_it_while_both_feet_stand(robot: Robot) -> None:
    memory, mode = begin(robot)
    pushed = replace(state(robot, DT, 0.2), com_velocity=np.array([0.0, 0.5 * robot.com_height * robot.omega, 0.0]))
    assert pushed_meanwhile(see(memory, pushed), memory)
    assert not pushed_meanwhile(see(memory, state(robot, DT, 0.2)), memory)
    mode.shifting = False  # in the air the foot is set down first
    assert not pushed_meanwhile(see(memory, pushed), memory)
