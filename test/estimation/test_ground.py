"""The plane through the standing soles."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.ground import GroundPlane
from humanoid_balance.estimation.settings import ContactSettings
from humanoid_balance.estimation.sole import Sole
from humanoid_balance.robot.model import Robot


def standing(robot: Robot, side: int, slope: np.ndarray, place: np.ndarray, contact: bool = True) -> Sole:
    sole = Sole(FootContact(robot.weight, ContactSettings()), robot.soles[side], 1.0)
    sole.contact.reset(contact)
    wrench = [0.0, 0.0, robot.weight / 2 * contact, 0.0, 0.0, 0.0]
    sole.update(place.tolist(), pin.exp3(slope).tolist(), [0.0] * 6, wrench, 0.0, 0.001)
    return sole


def test_two_soles_on_a_slope_give_its_normal_and_height(human: Robot) -> None:
    slope = np.array([0.1, -0.15, 0.0])
    plane = pin.exp3(slope)
    left, right = plane @ [0.0, 0.1, 0.0], plane @ [0.1, -0.1, 0.0]
    ground = GroundPlane()
    ground.update(standing(human, 0, slope, left), standing(human, 1, slope, right))
    np.testing.assert_allclose(ground.normal, plane[:, 2], atol=1e-12)
    point = plane @ [0.3, 0.4, 0.0]
    assert ground.height(point[0], point[1]) == pytest.approx(point[2])


def test_one_sole_is_enough_and_flight_keeps_the_last_plane(human: Robot) -> None:
    slope, place = np.array([0.0, 0.1, 0.0]), np.array([1.0, 2.0, 0.3])
    ground = GroundPlane()
    air = standing(human, 1, np.array([0.5, 0.0, 0.0]), np.array([1.0, 1.8, 0.5]), contact=False)
    ground.update(standing(human, 0, slope, place), air)
    assert ground.height(1.0, 2.0) == pytest.approx(0.3)
    ground.update(air, air)
    assert ground.height(1.0, 2.0) == pytest.approx(0.3)
    np.testing.assert_allclose(ground.normal, pin.exp3(slope)[:, 2], atol=1e-12)


def test_a_sole_on_its_front_edge_lies_where_it_presses(human: Robot) -> None:
    """Its middle is up in the air with the heel."""
    sole = Sole(FootContact(human.weight, ContactSettings()), human.soles[0], 1.0)
    sole.contact.reset(True)
    toe, force, heel = float(human.soles[0][:, 0].max()), human.weight / 2, 0.5
    place = [0.0, 0.1, 0.2 + toe * np.sin(heel)]
    sole.update(
        place, pin.utils.rotate("y", heel).tolist(), [0.0] * 6, [0.0, 0.0, force, 0.0, -toe * force, 0.0], 0.0, 0.001
    )
    ground = GroundPlane()
    ground.update(sole, standing(human, 1, np.zeros(3), np.array([0.0, -0.1, 0.2])))
    assert ground.height(0.0, 0.0) == pytest.approx(0.2)
    np.testing.assert_allclose(ground.normal, [0.0, 0.0, 1.0], atol=1e-12)
