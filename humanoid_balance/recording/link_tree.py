"""The tree of a robot's links as ROS transforms, so that a viewer can show the robot from joint angles alone."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array


@dataclass(frozen=True)
class Link:
    """A link, where it sits on its parent, and the axis about which it turns there."""

    parent: str
    name: str
    placement: pin.SE3
    joint: int | None  # index of the actuated joint; None: does not move
    axis: Array  # in the link's frame (3,)


class LinkTree:
    """All links of the URDF; locked joints stand at their posture."""

    def __init__(self, robot: Robot) -> None:
        root = ET.fromstring(robot.urdf)
        self.links = [_link(robot, joint) for joint in root.findall("joint")]
        children = {link.name for link in self.links}
        self.root = next(link.attrib["name"] for link in root.findall("link") if link.attrib["name"] not in children)
        self.moving = [link for link in self.links if link.joint is not None]
        self.fixed = [link for link in self.links if link.joint is None]
        self._joints = np.array([link.joint for link in self.moving], int)
        at_rest = [pin.Quaternion(link.placement.rotation) for link in self.moving]
        turned = [r * pin.Quaternion(0.0, *link.axis) for r, link in zip(at_rest, self.moving, strict=True)]
        self._at_rest = np.array([q.coeffs() for q in at_rest]).reshape(-1, 4)
        self._turned = np.array([q.coeffs() for q in turned]).reshape(-1, 4)

    def quaternions(self, angles: Array) -> Array:
        """Orientation x y z w of every moving link in its parent, for joint angles (k, n): (k, moving, 4)."""
        half = angles[:, self._joints, None] / 2
        return np.cos(half) * self._at_rest + np.sin(half) * self._turned


def _link(robot: Robot, joint: ET.Element) -> Link:
    name, origin, axis = joint.attrib["name"], joint.find("origin"), joint.find("axis")
    place = {} if origin is None else origin.attrib
    placement = pin.SE3(pin.rpy.rpyToMatrix(*_numbers(place.get("rpy", "0 0 0"))), _numbers(place.get("xyz", "0 0 0")))
    about = _numbers("1 0 0" if axis is None else axis.attrib["xyz"])
    about /= np.linalg.norm(about) or 1.0
    index = robot.joint_names.index(name) if name in robot.joint_names else None
    if name in robot.locked:
        turn = pin.AngleAxis(robot.config.posture_of(name), about).toRotationMatrix()
        placement = placement * pin.SE3(turn, np.zeros(3))
    parent, child = (joint.find(end).attrib["link"] for end in ("parent", "child"))  # type: ignore[union-attr]
    return Link(parent, child, placement, index, about)


def _numbers(text: str) -> Array:
    return np.array([float(part) for part in text.split()])
