"""The SDF for Gazebo: the same body as Pinocchio's, and worlds as they were asked for."""

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.plants.gazebo.model import LIGHT_MASS, sdf_model
from humanoid_balance.plants.gazebo.world import sdf_world
from humanoid_balance.plants.world import GROUNDS, World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

ROBOTS = ["human", "talos", "g1", "human:mass=90,height=1.81,shank=1.06", "talos:mass=99"]


@dataclass
class Body:
    mass: float
    com: np.ndarray
    inertia: np.ndarray  # about the CoM


def number(parent: ET.Element, tag: str) -> float:
    return float(parent.findtext(tag, "nan"))


def place(parent: ET.Element) -> pin.SE3:
    values = [float(t) for t in parent.findtext("pose", "0 0 0 0 0 0").split()]
    return pin.SE3(pin.rpy.rpyToMatrix(*values[3:]), np.array(values[:3]))


def body_of(model: ET.Element) -> Body:
    """All links together, with every joint at zero."""
    total = pin.Inertia.Zero()
    for link in model.findall("link"):
        inertial = link.find("inertial")
        assert inertial is not None
        rows = inertial.find("inertia")
        assert rows is not None
        xx, xy, xz, yy, yz, zz = (number(rows, f"i{k}") for k in ("xx", "xy", "xz", "yy", "yz", "zz"))
        moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        at = place(link) * place(inertial)
        total = total + at.act(pin.Inertia(number(inertial, "mass"), np.zeros(3), moments))
    return Body(total.mass, total.lever, total.inertia)


def pinocchio_body(robot: Robot) -> Body:
    data = robot.model.createData()
    pin.ccrba(robot.model, data, pin.neutral(robot.model), np.zeros(robot.model.nv))
    return Body(data.Ig.mass, pin.centerOfMass(robot.model, data, pin.neutral(robot.model)), data.Ig.inertia)


@pytest.mark.parametrize("spec", ROBOTS)
def test_mass_com_and_inertia_are_those_of_pinocchio(spec: str) -> None:
    robot = registry.load(spec)
    sdf, model = body_of(sdf_model(robot, World(), 0)), pinocchio_body(robot)
    added = LIGHT_MASS * sum(inertia.mass < LIGHT_MASS for inertia in robot.model.inertias[1:])
    assert sdf.mass == pytest.approx(model.mass + added, rel=1e-9)
    assert added < 4e-4 * model.mass
    assert sdf.com == pytest.approx(model.com, abs=1e-9 if added == 0 else 3e-4)
    assert sdf.inertia == pytest.approx(model.inertia, rel=2e-3, abs=1e-6 if added == 0 else 2e-3 * robot.inertia)


@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_a_payload_sits_at_the_centre_of_the_torso(spec: str) -> None:
    robot = registry.load(spec)
    bare, loaded = (body_of(sdf_model(robot, World(payload=p), 0)) for p in (0.0, 8.0))
    assert loaded.mass == pytest.approx(bare.mass + 8.0)
    centre = (loaded.mass * loaded.com - bare.mass * bare.com) / 8.0
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    assert np.linalg.norm(centre - data.oMf[robot.torso_frame].translation) < 0.4 * robot.com_height


@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_every_joint_turns_about_the_axis_of_the_urdf(spec: str) -> None:
    robot = registry.load(spec)
    urdf = ET.fromstring(robot.urdf)
    for joint in sdf_model(robot, World(), 0).findall("joint"):
        axis = urdf.find(f"./joint[@name='{joint.get('name')}']/axis")
        assert axis is not None
        wanted = np.array([float(t) for t in axis.attrib["xyz"].split()])
        got = np.array([float(t) for t in joint.findtext("axis/xyz", "").split()])
        assert got == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-9)


def test_the_ground_rises_forward() -> None:
    world = ET.fromstring(sdf_world(registry.load("g1"), World(slope=10.0, friction=0.4)))
    plane = world.find("./world/model[@name='ground']/link/collision")
    assert plane is not None
    normal = [float(t) for t in plane.findtext("geometry/plane/normal", "").split()]
    assert normal == pytest.approx([-math.sin(math.radians(10)), 0.0, math.cos(math.radians(10))])
    assert plane.findtext("surface/friction/ode/mu") == "0.4"


@pytest.mark.parametrize("ground", GROUNDS)
def test_the_robot_starts_clear_of_what_lies_on_the_ground(ground: str) -> None:
    robot = registry.load("human")
    world = ET.fromstring(sdf_world(robot, World(ground=ground)))
    edge = np.abs(robot.soles[..., :2]).max(axis=(0, 1)) + np.array([0.0, robot.stance_width / 2])
    blocks = [c for m in world.findall("./world/model") for c in m.iter("collision") if m.get("name") == "blocks"]
    assert bool(blocks) == (ground in ("rough", "stairs", "tiles", "slope"))
    for block in blocks:
        x, y, z = place(block).translation
        size = [float(t) for t in block.findtext("geometry/box/size", "").split()]
        beside = abs(x) - size[0] / 2 > edge[0] or abs(y) - size[1] / 2 > edge[1]
        assert beside or z + size[2] / 2 == pytest.approx(0.0, abs=1e-9)  # or the robot stands on it
