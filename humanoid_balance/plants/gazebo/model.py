"""A robot of the registry as an SDF model for Gazebo Classic: one link a joint, sole boxes, and the motor board plugin.

Masses, inertias and kinematics are taken from the Pinocchio model, in which fixed and locked joints are already welded,
so that nothing depends on how a URDF converter lumps links.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from humanoid_balance.plants.board.board import joint_table
from humanoid_balance.plants.urdf_shapes import UrdfShape, placement, shapes
from humanoid_balance.plants.world import World
from humanoid_balance.robot.model import SOLE_NAMES, Robot

MODEL = "robot"
LIGHT_MASS = 1e-3  # links of no mass between the axes of a ball joint get this [kg]
LIGHT_INERTIA = 1e-5  # [kg m²]
SOLE_THICKNESS = 0.01  # [m]
TABLE = (  # entries of the joint table that the plugin hands on
    "lower", "upper", "velocity_limit", "torque_limit", "temperature_max", "voltage_min", "voltage_max",
    "position_scale", "torque_scale",
)  # fmt: skip
CORNERS = 8  # points that carry a standing robot
SINK = 2e-4  # how deep they press into the ground; sets their stiffness [m]
CREEP = 1e-6  # of a sole under load: the direct solver needs some to share friction among the corners [m/s/N]
DAMPING_TIME = 0.004  # of a sole's points: damping / stiffness [s]
# Shapes touch where these have a bit in common. All touch the ground; of each other, only what is of two feet.
# A sole that leans against the box around its own shin would measure a force that holds nobody up.
BODY_BITS, SOLE_BITS, FOOT_BITS = 1, 2, 4


def sdf_model(robot: Robot, world: World, port: int, strength: float = 1.0) -> ET.Element:
    """``<model>`` standing at rest in its nominal stance, with the plugin as a board that listens on ``port``."""
    model = ET.Element("model", name=MODEL)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, pin.neutral(robot.model))
    names = link_names(robot)
    parts = shapes(robot)
    for i in range(1, robot.model.njoints):
        link = ET.SubElement(model, "link", name=names[i])
        text(link, "pose", pose(data.oMi[i]))
        _add_inertia(link, _inertia(robot, world, i))
        sides = [side for side in range(2) if robot.model.frames[robot.sole_frames[side]].parentJoint == i]
        for k, shape in enumerate(parts.get(i, ())):
            _add_shape(link, f"{names[i]}_{k}", shape, FOOT_BITS if sides else BODY_BITS)
        for side in sides:
            text(link, "self_collide", "true")  # with any other link, as far as the bits go
            _add_sole(link, robot, side)
    for i in range(2, robot.model.njoints):
        _add_joint(model, robot, i, names)
    model.append(_plugin(robot, world, port, strength, names))
    return model


def text(parent: ET.Element, tag: str, value: object) -> None:
    ET.SubElement(parent, tag).text = str(value)


def numbers(values: Iterable[float]) -> str:
    return " ".join(f"{v:.12g}" for v in values)


def pose(place: pin.SE3) -> str:
    """x y z roll pitch yaw, as SDF has it."""
    return numbers([*place.translation, *pin.rpy.matrixToRpy(place.rotation)])


def link_names(robot: Robot) -> dict[int, str]:
    """By Pinocchio joint: the URDF link that the joint moves."""
    names: dict[int, str] = {}
    for frame in robot.model.frames:
        if frame.type == pin.FrameType.BODY:
            names.setdefault(frame.parentJoint, frame.name)
    return names


def contact_stiffness(robot: Robot) -> float:
    """Of one point of a sole, so that a standing robot sinks in by ``SINK`` [N/m]."""
    return robot.weight / CORNERS / SINK


def _inertia(robot: Robot, world: World, joint: int) -> pin.Inertia:
    own = robot.model.inertias[joint]
    torso = robot.model.frames[robot.torso_frame]
    if world.payload and torso.parentJoint == joint:
        origin = ET.fromstring(robot.urdf).find(f"./link[@name='{torso.name}']/inertial/origin")
        centre = torso.placement if origin is None else torso.placement * placement(origin)
        own = own + pin.Inertia(world.payload, centre.translation, 1e-3 * world.payload * np.eye(3))
    if own.mass < LIGHT_MASS:
        return pin.Inertia(LIGHT_MASS, own.lever, LIGHT_INERTIA * np.eye(3))
    return own


def _add_inertia(link: ET.Element, inertia: pin.Inertia) -> None:
    inertial = ET.SubElement(link, "inertial")
    text(inertial, "pose", numbers([*inertia.lever, 0.0, 0.0, 0.0]))
    text(inertial, "mass", f"{inertia.mass:.12g}")
    matrix = ET.SubElement(inertial, "inertia")
    for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        text(matrix, "i" + "xyz"[a] + "xyz"[b], f"{inertia.inertia[a, b]:.12g}")


def _add_shape(link: ET.Element, name: str, shape: UrdfShape, bits: int) -> None:
    """What is seen, and what touches the ground when the robot has fallen."""
    for tag in ("visual", "collision"):
        part = ET.SubElement(link, tag, name=name)
        text(part, "pose", pose(shape.place))
        geometry = ET.SubElement(ET.SubElement(part, "geometry"), shape.kind)
        for key, value in shape.size.items():
            text(geometry, key, value)
        if tag == "collision":
            text(ET.SubElement(ET.SubElement(part, "surface"), "contact"), "collide_bitmask", bits)


def _add_sole(link: ET.Element, robot: Robot, side: int) -> None:
    low, high = robot.soles[side].min(axis=0), robot.soles[side].max(axis=0)
    place = robot.model.frames[robot.sole_frames[side]].placement
    centre = pin.SE3(np.eye(3), np.array([*(low + high)[:2] / 2, SOLE_THICKNESS / 2]))
    stiffness = contact_stiffness(robot)
    for tag in ("visual", "collision"):
        part = ET.SubElement(link, tag, name=SOLE_NAMES[side])
        text(part, "pose", pose(place * centre))
        box = ET.SubElement(ET.SubElement(part, "geometry"), "box")
        text(box, "size", numbers([*(high - low)[:2], SOLE_THICKNESS]))
        if tag == "collision":
            text(part, "max_contacts", 4)
            surface = ET.SubElement(part, "surface")
            friction = ET.SubElement(ET.SubElement(surface, "friction"), "ode")
            for key in ("mu", "mu2"):
                text(friction, key, 10.0)  # the ground's is smaller, and the smaller one counts
            for key in ("slip1", "slip2"):
                text(friction, key, CREEP)
            contact = ET.SubElement(surface, "contact")
            text(contact, "collide_bitmask", SOLE_BITS)
            ode = ET.SubElement(contact, "ode")
            text(ode, "kp", f"{stiffness:.6g}")
            text(ode, "kd", f"{stiffness * DAMPING_TIME:.6g}")
            text(ode, "max_vel", 1.0)
            text(ode, "min_depth", 0.0)


def _add_joint(model: ET.Element, robot: Robot, i: int, names: dict[int, str]) -> None:
    joint = robot.model.joints[i]
    element = ET.SubElement(model, "joint", name=robot.model.names[i], type="revolute")
    text(element, "parent", names[robot.model.parents[i]])
    text(element, "child", names[i])
    axis = ET.SubElement(element, "axis")
    moves = joint.createData()
    joint.calc(moves, np.zeros(joint.nq), np.ones(joint.nv))
    text(axis, "xyz", numbers(np.asarray(moves.S).reshape(6)[3:]))
    limit = ET.SubElement(axis, "limit")
    text(limit, "lower", f"{robot.model.lowerPositionLimit[joint.idx_q]:.12g}")
    text(limit, "upper", f"{robot.model.upperPositionLimit[joint.idx_q]:.12g}")


def _plugin(robot: Robot, world: World, port: int, strength: float, names: dict[int, str]) -> ET.Element:
    """What the board has to know: its joint table, its sensors' places, the stance and the forces in it."""
    plugin = ET.Element("plugin", name="motor_board", filename="libhumanoid_balance_board.so")
    text(plugin, "port", port)
    text(plugin, "board", robot.name)
    text(plugin, "strength", f"{strength:g}")
    q = robot.stance(math.radians(world.tilt))
    text(plugin, "base", pose(pin.SE3(pin.Quaternion(q[3:7]).toRotationMatrix(), q[:3] - [0.0, 0.0, SINK])))
    torque = robot.standing_torque(q)
    for i, joint in enumerate(joint_table(robot, np.arange(robot.n))):
        row = ET.SubElement(plugin, "joint", name=joint.name)
        for key in TABLE:
            text(row, key, f"{getattr(joint, key):.9g}")
        for key, value in {
            "position": q[7 + i], "torque": torque[i],
            "armature": robot.armature[i], "damping": robot.damping[i], "friction": robot.friction[i],
        }.items():  # fmt: skip
            text(row, key, f"{value:.12g}")
    for frame in robot.model.frames:
        if frame.type == pin.FrameType.BODY:
            _add_frame(plugin, "frame", frame.name, names, frame)
    _add_frame(plugin, "imu", "imu", names, robot.model.frames[robot.imu_frame])
    ground = pin.rpy.rpyToMatrix(0.0, -math.radians(world.tilt), 0.0)  # both soles lie flat on it
    for side, wrench in enumerate(robot.standing_wrench(q)):
        row = _add_frame(plugin, "sole", SOLE_NAMES[side], names, robot.model.frames[robot.sole_frames[side]])
        text(row, "force", numbers(ground.T @ wrench[:3]))
        text(row, "moment", numbers(ground.T @ wrench[3:]))
    return plugin


def _add_frame(plugin: ET.Element, tag: str, name: str, names: dict[int, str], frame: pin.Frame) -> ET.Element:
    row = ET.SubElement(plugin, tag, name=name, link=names[frame.parentJoint])
    text(row, "pose", pose(frame.placement))
    return row
