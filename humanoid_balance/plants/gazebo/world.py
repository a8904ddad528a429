"""Worlds for Gazebo Classic: physics, ground, and what else stands on it besides the robot."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from humanoid_balance.plants.gazebo.model import numbers, pose, sdf_model, text
from humanoid_balance.plants.world import World
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

SOLVER = "world"  # ODE's direct solver; the iterative one leaves the joints of a humanoid soft
CFM = 1e-9  # give of the joints: keeps constraints solvable that hold each other [m/s/N]
BLOCK_HEIGHT = 0.02  # [m]
BLOCK_SIZE = 0.20  # [m]
FIELD = 9  # blocks along each side of the rough field


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
    element.append(_plane(world))
    for model in GROUNDS[world.ground](robot, world):
        element.append(model)
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


def _plane(world: World) -> ET.Element:
    model, link = _static("ground")
    slope = math.radians(world.slope)
    for tag in ("collision", "visual"):
        part = ET.SubElement(link, tag, name="ground")
        plane = ET.SubElement(ET.SubElement(part, "geometry"), "plane")
        text(plane, "normal", numbers([-math.sin(slope), 0.0, math.cos(slope)]))
        text(plane, "size", "40 40")
        if tag == "collision":
            _add_surface(part, world.friction)
    return model


def _flat(robot: Robot, world: World) -> list[ET.Element]:
    return []


def _box(link: ET.Element, name: str, place: pin.SE3, size: list[float], friction: float) -> None:
    for tag in ("collision", "visual"):
        part = ET.SubElement(link, tag, name=name)
        text(part, "pose", pose(place))
        text(ET.SubElement(ET.SubElement(part, "geometry"), "box"), "size", numbers(size))
        if tag == "collision":
            _add_surface(part, friction)


def _rough(robot: Robot, world: World) -> list[ET.Element]:
    """A field of blocks up to 2 cm high, each of its own height; flat where the robot stands at the start."""
    model, link = _static("blocks")
    ground = pin.rpy.rpyToMatrix(0.0, -math.radians(world.slope), 0.0)
    heights = np.random.default_rng(0).uniform(0.0, BLOCK_HEIGHT, (FIELD, FIELD))
    edge = np.abs(robot.soles[..., :2]).max(axis=(0, 1))
    free = edge + np.array([0.05, 0.05 + robot.stance_width / 2])
    for i, j in np.ndindex(FIELD, FIELD):
        x, y = (BLOCK_SIZE * (k - FIELD // 2) for k in (i, j))
        if abs(x) - BLOCK_SIZE / 2 < free[0] and abs(y) - BLOCK_SIZE / 2 < free[1]:
            continue
        height = float(heights[i, j])
        place = pin.SE3(ground, ground @ np.array([x, y, height / 2]))
        _box(link, f"block_{i}_{j}", place, [0.98 * BLOCK_SIZE, 0.98 * BLOCK_SIZE, height], world.friction)
    return [model]


def _cart(robot: Robot, world: World) -> list[ET.Element]:
    """A box of a tenth of the robot's mass on four castors without friction, at arm's length in front."""
    model = ET.Element("model", name="cart")
    text(model, "pose", numbers([0.45 * robot.com_height + 0.25, 0.0, 0.0, 0.0, 0.0, 0.0]))
    link = ET.SubElement(model, "link", name="cart")
    mass, height = robot.mass / 10, 0.9 * robot.com_height
    inertial = ET.SubElement(link, "inertial")
    text(inertial, "pose", numbers([0.0, 0.0, height / 2, 0.0, 0.0, 0.0]))
    text(inertial, "mass", f"{mass:g}")
    inertia = ET.SubElement(inertial, "inertia")
    for axis, (a, b) in zip("xyz", ((0.4, height), (0.4, height), (0.4, 0.4)), strict=True):
        text(inertia, f"i{axis}{axis}", f"{mass * (a * a + b * b) / 12:g}")
    _box(link, "box", pin.SE3(np.eye(3), np.array([0.0, 0.0, height / 2 + 0.03])), [0.4, 0.4, height - 0.06], 0.5)
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        part = ET.SubElement(link, "collision", name=f"castor_{k}")
        text(part, "pose", numbers([0.17 * x, 0.17 * y, 0.03, 0.0, 0.0, 0.0]))
        text(ET.SubElement(ET.SubElement(part, "geometry"), "sphere"), "radius", 0.03)
        _add_surface(part, 0.0)
    return [model]


GROUNDS: dict[str, Callable[[Robot, World], list[ET.Element]]] = {"flat": _flat, "rough": _rough, "cart": _cart}
