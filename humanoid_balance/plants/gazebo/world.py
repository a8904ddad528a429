"""Worlds for Gazebo Classic: physics, ground, and what else stands on it besides the robot."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin

from humanoid_balance.plants.gazebo.model import numbers, pose, sdf_model, text
from humanoid_balance.plants.terrain import Terrain, cart_of, terrain
from humanoid_balance.plants.world import World
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

SOLVER = "world"  # ODE's direct solver; the iterative one leaves the joints of a humanoid soft
CFM = 1e-9  # give of the joints: keeps constraints solvable that hold each other [m/s/N]


def sdf_world(robot: Robot, world: World, port: int = 0, strength: float = 1.0) -> str:
    """A whole ``.world`` file; the robot's board listens on ``port``, 0 for any free one.

    ``strength`` is the share of their torque limits that the motors really have.
    """
    root = ET.Element("sdf", version="1.6")
    element = ET.SubElement(root, "world", name="default")
    text(element, "gravity", numbers([0.0, 0.0, -GRAVITY]))
    _add_physics(element, world.timestep)
    light = ET.SubElement(element, "light", name="sun", type="directional")
    text(light, "direction", "-0.5 0.3 -1")
    ground = terrain(world, robot)
    element.append(_plane(world, ground))
    if ground.boxes:
        element.append(_boxes(ground))
    if world.ground == "cart":
        element.append(_cart(robot))
    element.append(sdf_model(robot, world, port, strength))
    return ET.tostring(root, encoding="unicode")


def _add_physics(world: ET.Element, timestep: float) -> None:
    physics = ET.SubElement(world, "physics", type="ode")
    text(physics, "max_step_size", f"{timestep:g}")
    text(physics, "real_time_update_rate", f"{1 / timestep:g}")
    ode = ET.SubElement(physics, "ode")
    text(ET.SubElement(ode, "solver"), "type", SOLVER)
    constraints = ET.SubElement(ode, "constraints")
    text(constraints, "cfm", CFM)
    text(constraints, "erp", 0.2)
    text(constraints, "contact_max_correcting_vel", 1.0)
    text(constraints, "contact_surface_layer", 0.0)


def _static(name: str) -> tuple[ET.Element, ET.Element]:
    model = ET.Element("model", name=name)
    text(model, "static", "true")
    return model, ET.SubElement(model, "link", name=name)


def _add_surface(collision: ET.Element, friction: float) -> None:
    surface = ET.SubElement(collision, "surface")
    ode = ET.SubElement(ET.SubElement(surface, "friction"), "ode")
    for key in ("mu", "mu2"):
        text(ode, key, f"{friction:g}")


def _plane(world: World, ground: Terrain) -> ET.Element:
    model, link = _static("ground")
    slope = ground.slope
    for tag in ("collision", "visual"):
        part = ET.SubElement(link, tag, name="ground")
        if ground.floor:
            text(part, "pose", numbers([0.0, 0.0, ground.floor, 0.0, 0.0, 0.0]))
        plane = ET.SubElement(ET.SubElement(part, "geometry"), "plane")
        text(plane, "normal", numbers([-math.sin(slope), 0.0, math.cos(slope)]))
        text(plane, "size", "40 40")
        if tag == "collision":
            _add_surface(part, world.friction)
    return model


def _box(link: ET.Element, name: str, place: pin.SE3, size: list[float], friction: float) -> None:
    for tag in ("collision", "visual"):
        part = ET.SubElement(link, tag, name=name)
        text(part, "pose", pose(place))
        text(ET.SubElement(ET.SubElement(part, "geometry"), "box"), "size", numbers(size))
        if tag == "collision":
            _add_surface(part, friction)


def _boxes(ground: Terrain) -> ET.Element:
    model, link = _static("blocks")
    for box in ground.boxes:
        place = pin.SE3(pin.rpy.rpyToMatrix(*box.rpy), np.array(box.position))
        _box(link, box.name, place, list(box.size), box.friction)
    return model


def _cart(robot: Robot) -> ET.Element:
    """What stands in front of the robot and rolls."""
    cart = cart_of(robot)
    model = ET.Element("model", name="cart")
    text(model, "pose", numbers([cart.ahead, 0.0, 0.0, 0.0, 0.0, 0.0]))
    link = ET.SubElement(model, "link", name="cart")
    inertial = ET.SubElement(link, "inertial")
    text(inertial, "pose", numbers([0.0, 0.0, cart.height / 2, 0.0, 0.0, 0.0]))
    text(inertial, "mass", f"{cart.mass:g}")
    inertia = ET.SubElement(inertial, "inertia")
    for axis, value in zip("xyz", cart.inertia, strict=True):
        text(inertia, f"i{axis}{axis}", f"{value:g}")
    _box(link, "box", pin.SE3(np.eye(3), np.array([0.0, 0.0, cart.height / 2 + cart.castor])), list(cart.box), 0.5)
    for k, (x, y) in enumerate(cart.castors):
        part = ET.SubElement(link, "collision", name=f"castor_{k}")
        text(part, "pose", numbers([x, y, cart.castor, 0.0, 0.0, 0.0]))
        text(ET.SubElement(ET.SubElement(part, "geometry"), "sphere"), "radius", cart.castor)
        _add_surface(part, 0.0)
    return model
