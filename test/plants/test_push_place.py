"""A push acts where it was asked to: on the torso at the CoM, on a link, at a height."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from geometry_msgs.msg import WrenchStamped

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board import Body
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.push_file import read as read_push
from humanoid_balance.plants.push_place import link_of, links
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.ros.push import PushInput
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand
from humanoid_balance.yaml_file import Reader

G1 = registry.load("g1")
ZERO = np.zeros(G1.n)
IDLE = TorqueCommand(0.0, ZERO, ZERO, ZERO, ZERO, ZERO)
ARM = next(name for name in links(G1) if "left_elbow" in name)


def origin(link: str) -> np.ndarray:
    data = G1.model.createData()
    pin.forwardKinematics(G1.model, data, G1.q_nominal)
    return pin.updateFramePlacement(G1.model, data, G1.model.getFrameId(link)).translation


def pushed(push: PushProfile, slope: float = 0.0) -> MujocoPlant:
    """A robot in the first period of a push."""
    plant = MujocoPlant(G1, PlantOptions(World(slope=slope)), [push])
    plant.write(IDLE)
    return plant


def moment(plant: MujocoPlant) -> np.ndarray:
    """About the CoM of the whole body, of all external forces (3,)."""
    data = plant.data
    arms = data.xipos - data.subtree_com[1]
    return (np.cross(arms, data.xfrc_applied[:, :3]) + data.xfrc_applied[:, 3:]).sum(axis=0)


def test_without_more_words_a_push_goes_through_the_com() -> None:
    plant = MujocoPlant(G1, pushes=[PushProfile(100.0, 0.1, 30.0, 0.0)])
    com = plant.data.subtree_com[1].copy()
    plant._apply_pushes()
    assert moment(plant) == pytest.approx(np.zeros(3), abs=1e-9)
    assert plant.truth().push_point == pytest.approx(com, abs=1e-12)


def test_the_height_is_the_lever_about_the_ground() -> None:
    for height in (0.3, 0.9, 1.2):
        plant = MujocoPlant(G1, pushes=[PushProfile(100.0, 0.1, 0.0, 0.0, height=height)])
        com = plant.data.subtree_com[1].copy()
        plant._apply_pushes()
        assert moment(plant) == pytest.approx([0.0, 100.0 * (height - com[2]), 0.0], abs=1e-6)
        assert plant.truth().push_point == pytest.approx([com[0], com[1], height], abs=1e-9)


def test_a_link_is_pushed_at_its_origin_and_with_a_height_above_or_below_it() -> None:
    at = origin(ARM)
    plain, high = pushed(PushProfile(10.0, 0.1, 0.0, 0.0, link=ARM)), pushed(
        PushProfile(10.0, 0.1, 0.0, 0.0, link=ARM, height=1.0)
    )  # fmt: skip
    assert plain.truth().push_point == pytest.approx(at, abs=1e-3)  # soles sink by 0.2 mm
    assert high.truth().push_point == pytest.approx([at[0], at[1], 1.0], abs=1e-3)
    body = plain.model.body(ARM).id
    assert plain.data.xfrc_applied[body, 0] == pytest.approx(10.0)
    assert np.count_nonzero(plain.data.xfrc_applied.any(axis=1)) == 1


def test_on_a_slope_the_height_counts_from_the_ground_below_the_body() -> None:
    plant = pushed(PushProfile(10.0, 0.1, 0.0, 0.0, height=0.5), slope=10.0)
    x, _, z = plant.truth().push_point
    assert z == pytest.approx(0.5 + x * math.tan(math.radians(10.0)), abs=1e-6)


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_every_link_of_a_robot_can_be_pushed(name: str) -> None:
    robot = registry.load(name)
    plant = MujocoPlant(robot, pushes=[PushProfile(1.0, 0.1, 0.0, 0.0, link=link) for link in links(robot)])
    plant._apply_pushes()
    assert np.count_nonzero(plant.data.xfrc_applied.any(axis=1)) == len(links(robot))


def test_a_virtual_board_pushes_where_the_simulator_does() -> None:
    pushes = [PushProfile(120.0, 0.03, 90.0, 0.0, height=1.1), PushProfile(60.0, 0.02, 0.0, 0.0, link=ARM, height=0.9)]
    plant, body = MujocoPlant(G1, pushes=pushes), Body(G1, pushes=pushes)
    body.held = False
    for _ in range(40):
        plant.write(IDLE)
        body.step(lambda q, v: ZERO)
    np.testing.assert_allclose(body.plant.data.qvel, plant.data.qvel, rtol=0, atol=1e-12)


def test_pushes_of_the_topic_act_where_the_node_was_told() -> None:
    plant = MujocoPlant(G1)
    pushes = PushInput(plant, lambda what, why: pytest.fail(what), ARM, 0.8)
    message = WrenchStamped()
    message.wrench.force.x = 20.0
    pushes.on_message(message)
    pushes.update()
    plant.write(IDLE)
    at = origin(ARM)
    assert plant.truth().push_point == pytest.approx([at[0], at[1], 0.8], abs=1e-3)


def test_a_file_says_where_a_push_acts() -> None:
    data = {"force": 10.0, "duration": 0.1, "link": "torso", "height": 1.2}
    push = read_push(Reader(Path("plan.yaml"), data, ""))
    assert (push.link, push.height) == ("torso", 1.2)


def test_a_link_that_is_not_there_is_named_with_those_that_are_like_it() -> None:
    with pytest.raises(InputError, match=r"push link 'left_elbow': the robot has no such link.*left_elbow_link"):
        link_of(G1, PushProfile(1.0, 0.1, link="left_elbow"))


def test_no_push_is_higher_than_the_robot() -> None:
    assert link_of(G1, PushProfile(1.0, 0.1, height=1.3)) == G1.config.torso
    with pytest.raises(InputError, match=r"push height is 1.5 m; allowed: 0 to 1.36"):
        link_of(G1, PushProfile(1.0, 0.1, height=1.5))
    with pytest.raises(InputError, match="push height"):
        PushProfile(1.0, 0.1, height=-0.1)
