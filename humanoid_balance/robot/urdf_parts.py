"""Elements of a URDF, for the bodies that are generated."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

AXES = {"pitch": "0 1 0", "roll": "1 0 0", "yaw": "0 0 1"}


def numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{v:.12g}" for v in values)


def inertial(link: ET.Element, mass: float, com: tuple[float, ...], ixx: float, iyy: float, izz: float) -> None:
    part = ET.SubElement(link, "inertial")
    ET.SubElement(part, "origin", xyz=numbers(com), rpy="0 0 0")
    ET.SubElement(part, "mass", value=f"{mass:.15g}")
    ET.SubElement(part, "inertia", ixx=f"{ixx:.15g}", iyy=f"{iyy:.15g}", izz=f"{izz:.15g}", ixy="0", ixz="0", iyz="0")


def geometry(link: ET.Element, shape: dict[str, str], origin: tuple[float, ...], kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        part = ET.SubElement(link, kind)
        ET.SubElement(part, "origin", xyz=numbers(origin), rpy="0 0 0")
        name, *_ = shape
        ET.SubElement(ET.SubElement(part, "geometry"), name, attributes(shape[name]))
        if kind == "visual":
            ET.SubElement(part, "material", name="skin")


def attributes(text: str) -> dict[str, str]:
    return dict(item.split("=") for item in text.split(";"))


def pin_joint(
    robot: ET.Element, name: str, parent: str, child: str, origin: tuple[float, ...], axis: str,
    degrees: tuple[float, float], torque: float, speed: float,
) -> None:  # fmt: skip
    """A revolute joint at ``origin`` of the parent, with its range [deg], peak torque [N m] and speed [rad/s]."""
    joint = _joint(robot, name, "revolute", parent, child, origin)
    ET.SubElement(joint, "axis", xyz=AXES[axis])
    low, high = (f"{math.radians(angle):.15g}" for angle in degrees)
    ET.SubElement(joint, "limit", lower=low, upper=high, effort=f"{torque:g}", velocity=f"{speed:g}")


def fixed_joint(robot: ET.Element, name: str, parent: str, child: str, origin: tuple[float, ...]) -> None:
    _joint(robot, name, "fixed", parent, child, origin)


def _joint(robot: ET.Element, name: str, kind: str, parent: str, child: str, origin: tuple[float, ...]) -> ET.Element:
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "origin", xyz=numbers(origin), rpy="0 0 0")
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    return joint
