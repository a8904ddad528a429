"""The foot-rotation indicator."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.foot_rotation import FootInertia
from humanoid_balance.estimation.settings import ContactSettings
from humanoid_balance.estimation.sole import Sole
from humanoid_balance.robot.model import Robot

DT = 0.001


def test_the_wrench_of_a_rolling_foot_is_the_rate_of_its_momentum(human: Robot) -> None:
    model = human.model
    frame = model.frames[human.sole_frames[0]]
    inertia = model.inertias[frame.parentJoint]
    toe, com = np.array([0.13, 0.0, 0.0]), np.array([0.02, 0.1, 0.9])
    alpha = 20.0  # constant angular acceleration about the toe

    def pose(t: float) -> pin.SE3:
        turn = pin.exp3(np.array([0.0, 0.5 * alpha * t * t, 0.0]))
        return pin.SE3(turn, toe - turn @ toe)

    def momentum(t: float) -> np.ndarray:
        """Linear, and angular about the CoM of the body."""
        placement = pose(t) * frame.placement.inverse()
        rate = np.array([0.0, alpha * t, 0.0])
        centre = placement.act(inertia.lever)
        linear = inertia.mass * np.cross(rate, centre - toe)
        spin = placement.rotation @ inertia.inertia @ placement.rotation.T @ rate
        return np.concatenate([linear, spin + np.cross(centre - com, linear)])

    foot = FootInertia(human, 0, span=2)
    sole = Sole(FootContact(human.weight, ContactSettings()), human.soles[0], 1.0)
    for t in (0.019, 0.020, 0.021):
        rate = np.array([0.0, alpha * t, 0.0])
        speed, back = np.cross(rate, pose(t).translation - toe), pose(t).rotation.T
        foot.remember([*(back @ speed).tolist(), *(back @ rate).tolist()])
    sole.position, sole.rows = pose(0.02).translation.tolist(), pose(0.02).rotation.tolist()
    force, moment = foot.wrench(foot.turning(sole, DT), com.tolist())
    numeric = (momentum(0.021) - momentum(0.019)) / 0.002
    np.testing.assert_allclose(force, numeric[:3], atol=0.02)
    np.testing.assert_allclose(moment, numeric[3:], atol=0.02)


def test_a_still_foot_takes_nothing(human: Robot) -> None:
    foot = FootInertia(human, 1)
    sole = Sole(FootContact(human.weight, ContactSettings()), human.soles[1], 1.0)
    for _ in range(20):
        foot.remember([0.0] * 6)
    force, moment = foot.wrench(foot.turning(sole, DT), [0.0, 0.0, 0.9])
    assert np.abs(force).max() == 0.0 and np.abs(moment).max() == pytest.approx(0.0, abs=1e-12)
