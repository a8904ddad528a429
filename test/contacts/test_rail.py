"""A third contact, a hand on a rail: it carries, it is no push, and feet in place hold more with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contacts import rail
from wholebody.harness import reference_at, state_at

from humanoid_balance import stack
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.errors import ConfigError
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.loop import Loop, Tick
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, PlannedContact
from humanoid_balance.wholebody.controller import WholeBody
from humanoid_balance.wholebody.solution import Status

IN_PLACE = BalanceSettings("in-place")
WITHOUT = 0.7  # forward velocity change within 0.2 s that feet in place do not hold [m/s]; they hold 0.6
WITH = 1.25 * WITHOUT


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return rail.reaching_human(tmp_path_factory.mktemp("robot"))


def start(robot: Robot, dv: float, hand: bool, load: tuple[float, float] = rail.LOAD) -> tuple[MujocoPlant, Loop]:
    """Noise, estimator and all; pushed forward after a second."""
    world = World(fixtures=(rail.rail(robot),) if hand else ())
    push = PushProfile(dv * robot.mass / 0.2, 0.2, 0)
    plant = MujocoPlant(robot, PlantOptions(world, noise=1.0), [push] if dv else [])
    safety = stack.active(robot, plant.read().torque)
    plant.reset()
    mode = [rail.on_rail(rail.Grip.of(robot, load))] if hand else []
    return plant, Loop(plant, Estimator(robot), Supervisor(robot, IN_PLACE, *mode), WholeBody(robot), safety)


def run(plant: MujocoPlant, loop: Loop, seconds: float) -> list[Tick]:
    ticks = []
    for _ in range(round(1000 * seconds)):
        ticks.append(loop.tick())
        if plant.fell():
            break
    return ticks


def force_of_rail(plant: MujocoPlant) -> Array:
    """Of the rail on the body, world (3,) [N]."""
    model, data, total, force = plant.model, plant.data, np.zeros(3), np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        if model.geom("rail").id in (contact.geom1, contact.geom2):
            mujoco.mj_contactForce(model, data, i, force)
            sign = 1.0 if contact.geom1 == model.geom("rail").id else -1.0
            total += sign * contact.frame.reshape(3, 3).T @ force[:3]
    return total


def test_the_hand_carries_a_fifth_of_the_weight_and_nobody_calls_it_a_push(robot: Robot) -> None:
    plant, loop = start(robot, 0.0, hand=True, load=(0.2, 0.5))
    ticks = run(plant, loop, 2.0)
    last, measured = ticks[-1].solution, force_of_rail(plant)
    assert last is not None and last.touch is not None and last.status is Status.SOLVED
    assert last.touch.wrench[0, 2] >= 0.19 * robot.weight
    assert measured[2] >= 0.15 * robot.weight
    np.testing.assert_allclose(measured, last.touch.wrench[0, :3], atol=0.02 * robot.weight)
    assert plant.truth().sole_force[:, 2].sum() <= 0.85 * robot.weight
    assert not plant.fell() and not any(tick.state.push.active for tick in ticks)
    assert np.abs(plant.truth().com - robot.com_nominal).max() < 0.01


def test_a_push_is_still_reported_while_the_hand_is_on_the_rail(robot: Robot) -> None:
    plant, loop = start(robot, 0.5, hand=True)
    ticks = run(plant, loop, 1.4)
    onsets = {tick.state.push.onset for tick in ticks if tick.state.push.active}
    assert len(onsets) == 1 and 0.99 < onsets.pop() < 1.06
    assert ticks[-1].state.push.impulse == pytest.approx(0.5 * robot.mass, rel=0.35)


def test_feet_in_place_fall_without_the_rail_and_hold_a_quarter_more_with_it(robot: Robot) -> None:
    plant, loop = start(robot, WITHOUT, hand=False)
    run(plant, loop, 4.0)
    assert plant.fell()
    plant, loop = start(robot, WITH, hand=True)
    feet = plant.truth().sole_position
    run(plant, loop, 4.0)
    assert not plant.fell()
    assert np.linalg.norm(plant.truth().com_velocity) < 0.05
    assert np.abs(plant.truth().sole_position - feet).max() < 0.02  # no step


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (-0.6, 0.0, 0.8)])
def test_the_qp_keeps_dynamics_cone_and_contact(robot: Robot, flat: bool, normal: tuple[float, float, float]) -> None:
    """M a + h = S' tau + J' w with the hand's wrench, which lies in its cone; the hand does not move."""
    rng, wholebody = np.random.default_rng(3), WholeBody(robot)
    q, v = robot.q_nominal, 0.05 * rng.standard_normal(robot.model.nv)
    state, grip = state_at(robot, q, v), rail.Grip.of(robot, (0.1, 0.3)).touch
    touch = replace(grip, normal=np.array(normal), flat=flat)
    wanted = reference_at(robot, state, com_acceleration=np.array([-1.0, 0.2, 0.1]), touches=(touch,))
    wholebody.update(state, wanted)
    solution, terms = wholebody.solution, wholebody.terms
    assert solution is not None and solution.status is Status.SOLVED and solution.touch is not None
    hand = terms.contacts[2]
    wrench = hand.axes.T @ solution.touch.wrench[0].reshape(2, 3).T  # type: ignore[union-attr]
    force, moment = wrench.T
    left = terms.M @ solution.acceleration + terms.h
    left -= sum(sole.J.T @ w for sole, w in zip(terms.soles, solution.wrenches, strict=True))
    left -= hand.J.T @ np.concatenate([force, moment])[: len(hand.J)]
    np.testing.assert_allclose(left[:6], 0.0, atol=1e-6)
    np.testing.assert_allclose(left[6:], solution.torque, atol=1e-6)
    np.testing.assert_allclose(hand.J @ solution.acceleration + hand.drift, hand.rest, atol=1e-6)
    assert 0.1 * robot.weight - 1e-4 <= force[2] <= 0.3 * robot.weight + 1e-4
    assert np.abs(force[:2]).max() <= rail.FRICTION * force[2] + 1e-4
    assert flat or not moment.any()


def test_a_hand_without_load_is_held_and_pushes_nothing(robot: Robot) -> None:
    state, wholebody = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv)), WholeBody(robot)
    touch = rail.Grip.of(robot, (0.0, 0.0)).touch
    wholebody.update(state, reference_at(robot, state, com_acceleration=np.array([0.5, 0.0, 0.0]), touches=(touch,)))
    assert wholebody.solution is not None and wholebody.solution.touch is not None
    assert not wholebody.solution.touch.wrench.any()
    hand = wholebody.terms.contacts[2]
    np.testing.assert_allclose(hand.J @ wholebody.solution.acceleration + hand.drift, hand.rest, atol=1e-6)


def test_a_flat_contact_carries_the_body_without_a_sole(robot: Robot) -> None:
    """Both feet up, the body on two flat hands: the base is theirs to hold."""
    state, wholebody = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv)), WholeBody(robot)
    hands = []
    for name in ("left_hand", "right_hand"):
        surface = next(s for s in robot.contacts if s.name == name)
        place = robot.data.oMi[surface.joint].act(surface.placement.translation)
        hands.append(PlannedContact(name, place, np.eye(3)[2], (0.0, 2.0), flat=True))
    wanted = reference_at(robot, state, touches=tuple(hands), contact=np.array([False, False]), com_weight=np.zeros(3))
    wholebody.update(state, wanted)
    solution, terms = wholebody.solution, wholebody.terms
    assert solution is not None and solution.touch is not None and not solution.wrenches.any()
    for hand in terms.contacts[2:]:
        np.testing.assert_allclose(hand.J @ solution.acceleration + hand.drift, hand.rest, atol=1e-5)


def test_contacts_are_named_soles_first() -> None:
    robot = registry.load("human")
    assert [s.name for s in robot.contacts] == ["left sole", "right sole", "left_hand", "right_hand"]
    assert [s.sensed for s in robot.contacts] == [True, True, False, False]


def test_mistakes_in_a_contact_are_named(tmp_path: Path) -> None:
    text = (registry.config_folder() / "robots" / "human.yaml").read_text()
    for old, new, key in (
        ("frame: l_hand", "frame: l_paw", "contacts.left_hand.frame"),
        ("x: [-0.04, 0.04], y: [-0.03, 0.03], xyz", "y: [-0.03, 0.03], xyz", "contacts.left_hand.x"),
        ("xyz: [-0.03, 0, -0.09]", "xyz: [1]", "contacts.left_hand.xyz"),
    ):
        assert old in text
        file = tmp_path / "broken.yaml"
        file.write_text(text.replace(old, new, 1))
        with pytest.raises(ConfigError, match=key):
            registry.load(str(file))
    robot = registry.load("human")
    state = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv))
    paw = PlannedContact("paw", np.zeros(3), np.eye(3)[2], (0.0, 1.0))
    with pytest.raises(ValueError, match="'paw': the robot has no such surface; it has: left sole"):
        WholeBody(robot).update(state, reference_at(robot, state, touches=(paw,)))
