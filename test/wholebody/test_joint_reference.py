"""A JointReference goes past the QP, through the whole loop: same TorqueCommand, same safety box, same drives."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wholebody.harness import state_at
from wholebody.statue import Wanted, posture, statue

from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.loop import Loop, Tick
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Arming, SafetyBox
from humanoid_balance.types import JointReference
from humanoid_balance.wholebody.controller import WholeBody


@pytest.fixture(scope="module", params=["torque drives", "impedance drives"])
def robot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """The human; with impedance drives its YAML says that they close a loop of their own."""
    plain = registry.load("human")
    if request.param == "torque drives":
        return plain
    file: Path = tmp_path_factory.mktemp("robot") / "impedance.yaml"
    text = plain.config.file.read_text()
    assert '"*": {' in text
    file.write_text(text.replace('"*": {', '"*": {stiffness: 1.0, drive_damping: 1.0, '))
    return registry.load(str(file))


class Rig:
    """MuJoCo with sensor noise, estimator, supervisor, whole-body stage, safety box."""

    def __init__(self, robot: Robot, wanted: Wanted, *pushes: PushProfile) -> None:
        self.robot, self.plant = robot, MujocoPlant(robot, PlantOptions(noise=1.0), pushes)
        self.safety = SafetyBox(robot)
        self.safety.arm()
        self.safety.activate(self.plant.read().torque)
        self.plant.reset()
        self.loop = Loop(
            self.plant, Estimator(robot), Supervisor(robot, repertoire=statue(wanted)), WholeBody(robot), self.safety
        )

    def tick(self) -> Tick:
        tick = self.loop.tick()
        given = np.abs(self.plant.truth().torque)
        assert (given <= self.robot.torque_limit + 1e-9).all()
        return tick

    def error(self) -> float:
        """Of the worst joint [rad]."""
        return float(np.abs(self.plant.truth().joint_position - self.robot.posture).max())


def test_a_posture_is_held_through_the_whole_loop(robot: Robot) -> None:
    """Pushed as well: the statue leans within its feet and comes back, no joint further than full torque allows."""
    rig = Rig(robot, lambda held, stamp: held, PushProfile(60.0, 0.1, 0.0, 0.5))
    errors = []
    for _ in range(1800):
        tick = rig.tick()
        errors.append(rig.error())
        assert not rig.plant.truth().fell
    assert tick.reference.mode == "statue" and tick.solution is None
    assert rig.safety.arming is Arming.ACTIVE
    assert 0.002 < max(errors) < 0.05  # the push moved it
    assert max(errors[-200:]) < 0.005


def test_impedance_drives_get_the_gains_and_torque_drives_their_sum(robot: Robot) -> None:
    impedance = bool(robot.drive_stiffness.any())
    tick = Rig(robot, lambda held, stamp: held).tick()
    wanted = posture(robot, tick.state.stamp)
    if impedance:
        np.testing.assert_array_equal(tick.sent.stiffness, wanted.stiffness)
        np.testing.assert_array_equal(tick.sent.damping, wanted.damping)
        np.testing.assert_array_equal(tick.sent.position, wanted.position)
    else:
        assert not tick.sent.stiffness.any() and not tick.sent.damping.any()
    q, v = tick.state.q[7:], tick.state.v[6:]
    feedback = wanted.stiffness * (wanted.position - q) + wanted.damping * (wanted.velocity - v)
    total = (
        tick.wanted.torque
        + tick.wanted.stiffness * (tick.wanted.position - q)
        + tick.wanted.damping * (tick.wanted.velocity - v)
    )
    np.testing.assert_allclose(total, wanted.torque + feedback, atol=1e-9)


def test_an_acceleration_is_fed_forward_through_the_inertia_of_the_joints(robot: Robot) -> None:
    state = state_at(robot, robot.q_nominal, np.zeros(robot.model.nv))
    still = posture(robot, 0.0)
    moving = replace(still, acceleration=np.full(robot.n, 2.0))
    wholebody = WholeBody(robot)
    torque = wholebody.update(state, moving).torque - wholebody.update(state, still).torque
    wholebody.terms.update(state.q, state.v)
    np.testing.assert_allclose(torque, wholebody.terms.M[6:, 6:] @ moving.acceleration, atol=1e-9)


def test_asking_for_too_much_speed_is_stopped_by_the_safety_box(robot: Robot) -> None:
    """An elbow sent round at 60 rad/s: torque is cut at its limit, then the box brakes, for good."""
    elbow = int(robot.joints_matching(("l_elbow",))[0])

    def spin(held: JointReference, stamp: float) -> JointReference:
        if stamp < 0.1:
            return held
        position, velocity = held.position.copy(), held.velocity.copy()
        position[elbow] = robot.lower[elbow]
        velocity[elbow] = -60.0
        return replace(held, position=position, velocity=velocity)

    rig = Rig(robot, spin)
    for _ in range(600):
        tick = rig.tick()
        if tick.sent.damped:
            break
    assert rig.safety.arming is Arming.TRIPPED and rig.safety.trip is not None
    assert rig.safety.trip.where == robot.joint_names[elbow]
    assert "too fast" in rig.safety.trip.what or "range" in rig.safety.trip.what
    for _ in range(100):
        tick = rig.tick()
        assert tick.sent.damped and not tick.sent.torque.any() and not tick.sent.stiffness.any()


def test_a_reference_that_is_not_a_number_is_stopped_by_the_safety_box(robot: Robot) -> None:
    def broken(held: JointReference, stamp: float) -> JointReference:
        return held if stamp < 0.05 else replace(held, torque=held.torque * math.nan)

    rig = Rig(robot, broken)
    for _ in range(60):
        tick = rig.tick()
        for part in (tick.sent.torque, tick.sent.position, tick.sent.velocity, tick.sent.stiffness, tick.sent.damping):
            assert np.isfinite(part).all()
    assert rig.safety.trip is not None and "not a number" in rig.safety.trip.what
