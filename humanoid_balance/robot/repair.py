"""A URDF that Pinocchio and MuJoCo both take, from one that a lab or a maker has written.

Each repair is one line for the user, with its size; ``strict: true`` in the robot's YAML refuses instead.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import ConfigError
from humanoid_balance.robot import inertia as possible
from humanoid_balance.robot.config import RobotConfig
from humanoid_balance.types import Array

AXES = ((0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz"))


def repair(urdf: str, config: RobotConfig) -> tuple[str, RobotConfig, tuple[str, ...]]:
    """The repaired URDF, the settings that go with it, and what was repaired."""
    try:
        root = ET.fromstring(urdf)
    except ET.ParseError as error:
        raise ConfigError(config.file, *config.source, f"XML ({error})") from None
    said = list(_inertias(root, config))
    config, locked = _lock_mimics(root, config)
    said += locked
    if said and config.strict:
        raise ConfigError(config.file, *config.source, f"no repairs, as strict is true, but {said[0]}")
    for k, material in enumerate(root.iterfind("./link/visual/material")):
        if "name" not in material.attrib:  # urdfdom complains about each of them
            material.set("name", f"material_{k}")
    return ET.tostring(root, encoding="unicode"), config, tuple(said)


def _inertias(root: ET.Element, config: RobotConfig) -> Iterator[str]:
    welded = {child.get("link") for child in root.iterfind("./joint[@type='fixed']/child")}
    for link in root.findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        name = f"link '{link.get('name')}'"
        mass_of, tensor = inertial.find("mass"), inertial.find("inertia")
        mass = 0.0 if mass_of is None else _number(mass_of, "value", name, config)
        if mass < 0.0:
            raise ConfigError(config.file, *config.source, f"masses of 0 or more; {name} has {mass:g} kg")
        if mass == 0.0:
            continue
        if tensor is None:
            tensor = ET.SubElement(inertial, "inertia")
        given = np.zeros((3, 3))
        for i, j, key in AXES:
            given[i, j] = given[j, i] = _number(tensor, key, name, config)
        if possible.is_possible(given):
            continue
        blank = possible.is_blank(given, mass)
        if blank and link.get("name") in welded:  # a point mass on another link, which both libraries take
            continue
        mended = possible.ball(mass) if blank else possible.nearest(given, mass)
        for i, j, key in AXES:
            tensor.set(key, repr(float(mended[i, j])))
        if blank:
            yield f"{name} has {mass:.3g} kg and no inertia: given a steel ball's, {mended[0, 0]:.1g} kg m²"
        else:
            moved = np.linalg.norm(mended - given) / np.linalg.norm(given)
            moments = ", ".join(f"{m:.2g}" for m in np.linalg.eigvalsh(given))
            yield f"{name} has an inertia that no body can have ({moments} kg m²): moved by {moved:.1%}"


def _number(element: ET.Element, key: str, name: str, config: RobotConfig) -> float:
    try:
        value = float(element.get(key, "0"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(config.file, *config.source, f"numbers; {name} has {key}={element.get(key)!r}")
    return value


def _lock_mimics(root: ET.Element, config: RobotConfig) -> tuple[RobotConfig, list[str]]:
    """A joint that follows another has no motor of its own: it is locked where its leader's posture puts it."""
    followers: dict[str, tuple[str, float, float]] = {}
    for joint in root.findall("joint"):
        mimic = joint.find("mimic")
        if mimic is None:
            continue
        name = str(joint.get("name"))
        joint.remove(mimic)
        if joint.get("type") != "fixed":
            numbers = (_number(mimic, key, f"joint '{name}'", config) for key in ("multiplier", "offset"))
            multiplier, offset = numbers
            followers[name] = mimic.get("joint", ""), multiplier if "multiplier" in mimic.attrib else 1.0, offset
    free = {name: rule for name, rule in followers.items() if not _matches(name, config.locked)}
    if not free:
        return config, []
    posture = {name: _followed(name, followers, config) for name in free}
    config = replace(config, locked=(*config.locked, *free), posture={**config.posture, **posture})
    return config, [f"{len(free)} joints that mimic others are locked: {', '.join(free)}"]


def _followed(name: str, followers: dict[str, tuple[str, float, float]], config: RobotConfig) -> float:
    """Angle at which a joint stands, by the chain of those it follows [rad]."""
    scale, angle, seen = 1.0, 0.0, set()
    while name in followers and name not in seen:
        seen.add(name)
        name, multiplier, offset = followers[name]
        angle, scale = angle + scale * offset, scale * multiplier
    return angle + scale * config.posture_of(name)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def mesh_folder(urdf: ET.Element) -> str:
    """Where a ``<mujoco>`` block of the URDF says the meshes are, relative to it; the block's physics is not ours."""
    compiler = urdf.find("mujoco/compiler")
    return "" if compiler is None else compiler.get("meshdir", compiler.get("assetdir", ""))


def placed(element: ET.Element, placement: pin.SE3) -> ET.Element:
    """Give an element of a URDF its ``<origin>``."""
    roll, pitch, yaw = (float(a) for a in pin.rpy.matrixToRpy(placement.rotation))
    ET.SubElement(element, "origin", xyz=words(placement.translation), rpy=words([roll, pitch, yaw]))
    return element


def words(values: Array | list[float]) -> str:
    return " ".join(repr(float(v)) for v in values)
