"""The shapes of a robot's links as its URDF tells them, for simulators that need them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import ConfigError
from humanoid_balance.robot import meshes
from humanoid_balance.robot.model import Robot
from humanoid_balance.robot.repair import mesh_folder
from humanoid_balance.types import Array

_STL_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True)
class UrdfShape:
    """A box, cylinder or sphere, placed in the frame of the joint that moves it."""

    kind: str
    size: dict[str, str]  # as URDF and SDF write it: size, or radius and length
    place: pin.SE3


def shapes(robot: Robot) -> dict[int, list[UrdfShape]]:
    """Collision shapes by Pinocchio joint, feet left out (their soles are boxes); a mesh becomes the box around it."""
    root = ET.fromstring(robot.urdf)
    feet = set().union(*(rigid_with(root, foot.frame) for foot in robot.config.feet))
    found: dict[int, list[UrdfShape]] = {}
    for link in root.findall("link"):
        name = link.attrib["name"]
        if name in feet or not robot.model.existFrame(name):
            continue
        frame = robot.model.frames[robot.model.getFrameId(name)]
        for part in link.findall("collision"):
            shape = _shape(robot, part, frame.placement)
            if shape is not None:
                found.setdefault(frame.parentJoint, []).append(shape)
    return found


def _shape(robot: Robot, part: ET.Element, link: pin.SE3) -> UrdfShape | None:
    origin, geometry = part.find("origin"), part.find("geometry")
    place = link if origin is None else link * placement(origin)
    for solid in geometry if geometry is not None else ():
        if solid.tag in ("box", "cylinder", "sphere"):
            return UrdfShape(solid.tag, dict(solid.attrib), place)
        if solid.tag == "mesh":
            file = meshes.readable(resolve_mesh(robot, solid.attrib["filename"]))
            if file is not None and file.suffix.lower() in (".stl", ".obj"):
                scale = [float(s) for s in solid.attrib.get("scale", "1 1 1").split()]
                points = _vertices(file) * scale
                low, high = points.min(axis=0), points.max(axis=0)
                size = " ".join(f"{s:.6g}" for s in np.maximum(high - low, 1e-3))
                return UrdfShape("box", {"size": size}, place * pin.SE3(np.eye(3), (low + high) / 2))
    return None


def _vertices(file: Path) -> Array:
    """Corners of a mesh (k, 3) [m], from a binary STL or an OBJ."""
    data = file.read_bytes()
    if file.suffix.lower() == ".obj":
        lines = (line.split() for line in data.decode().splitlines() if line.startswith("v "))
        return np.array([[float(x) for x in words[1:4]] for words in lines])
    faces = np.frombuffer(data, _STL_FACE, int.from_bytes(data[80:84], "little"), 84)
    corners: Array = faces["corners"].reshape(-1, 3).astype(float)
    return corners


def placement(origin: ET.Element) -> pin.SE3:
    """Of a URDF ``<origin>``."""
    xyz, rpy = ([float(t) for t in origin.attrib.get(key, "0 0 0").split()] for key in ("xyz", "rpy"))
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))


def rigid_with(root: ET.Element, link: str) -> set[str]:
    """The link and all that fixed joints weld to it."""
    welded, grown = {link}, True
    while grown:
        grown = False
        for joint in root.findall("./joint[@type='fixed']"):
            ends = {joint.find(end).attrib["link"] for end in ("parent", "child")}  # type: ignore[union-attr]
            if ends & welded and not ends <= welded:
                welded |= ends
                grown = True
    return welded


def resolve_mesh(robot: Robot, address: str) -> Path:
    """A mesh by ``package://package/path``, looked for beside every folder above the URDF, or relative to it."""
    here = (robot.urdf_path or robot.config.file).parent
    found = meshes.find(address, here, mesh_folder(ET.fromstring(robot.urdf)))
    if found is not None:
        return found
    raise ConfigError(robot.config.file, *robot.config.source, f"meshes that exist; not found: {address}")
