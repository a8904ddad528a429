"""Sole wrenches from joint torques."""

from dataclasses import replace

import numpy as np
import pytest
from estimation.motion import Motion, noisy

from humanoid_balance.estimation import Estimator
from humanoid_balance.estimation.foot_wrench import FootWrenchObserver
from humanoid_balance.robot.config import Estimation
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SensorFrame


def test_at_rest_and_in_motion_it_finds_the_wrenches_of_inverse_dynamics(robot: Robot) -> None:
    motion = Motion(robot)
    observer = FootWrenchObserver(robot, 300.0)
    errors = []
    for k in range(300):
        frame = motion.frame(0.001 * k)
        wrench = observer.update(motion.q(frame.stamp), motion.v(frame.stamp), frame.torque, 0.001)
        errors.append(np.abs(wrench - frame.wrench))
    assert np.max(errors[0]) < 0.01 * robot.weight
    # Behind by the observer's 3 ms, and a third of the moments' lever.
    assert np.max(errors) < 0.02 * robot.weight


def test_a_push_on_the_trunk_is_not_taken_for_ground_force(human: Robot) -> None:
    quiet, pushed = Motion(human, 0.0), Motion(human, 0.0, push=lambda t: np.array([100.0, 0.0, 0.0]))
    q, v = quiet.q(0.0), np.zeros(human.model.nv)
    for motion, expected in ((quiet, 0.0), (pushed, -100.0)):  # the feet hold against it
        observer = FootWrenchObserver(human, 300.0)
        wrench = observer.update(q, v, motion.frame(0.0).torque, 0.001)
        assert wrench[:, 0].sum() == pytest.approx(expected, abs=3.0)


def test_a_robot_without_foot_sensors_stands_and_lifts_a_foot(human: Robot) -> None:
    config = replace(human.config, estimation=Estimation(foot_sensors=False))
    robot = Robot(human.name, human.spec, config, human.urdf, human.urdf_path)
    motion = Motion(robot, 0.5, lift=lambda t: 0.0 if t < 0.3 else 0.05 * (1 - np.cos(20 * (t - 0.3))))
    estimator, rng = Estimator(robot), np.random.default_rng(0)
    contacts, blind = [], np.full((2, 6), np.nan)
    for k in range(400):
        frame = noisy(motion.frame(0.001 * k), rng)
        state = estimator.update(SensorFrame(*(getattr(frame, f) for f in FIELDS), wrench=blind))
        assert state.valid and state.faults == ()
        contacts.append(tuple(state.contact))
    assert set(contacts[:300]) == {(True, True)}
    lifted = contacts.index((True, False))
    assert 300 <= lifted <= 315 and set(contacts[lifted:]) == {(True, False)}
    true = motion.com(0.399) - motion.soles[0].translation
    np.testing.assert_allclose(state.com - state.sole_position[0], true, atol=0.01)


FIELDS = ("stamp", "position", "velocity", "torque", "gyro", "acceleration")
