"""The planar body of Yin, Loken and van de Panne's finite-state gaits: seven links, six pitch joints, 90 kg.

Masses, lengths and the torque limit are the thesis's (specification Y0, R2D). It leaves open where the ankle stands on
the foot, the inertias and the joint ranges; they are those with which the gaits were reproduced: the ankle 6 cm before
the heel and 5 cm above the sole, thin rods (I = m l²/12), ranges that hold all poses of its tables. Its
joints are driven as in the thesis, with feedback that is closed much faster than the control loop: impedance drives.

It lives in its sagittal plane, on a boom (``World.planar``): no joint moves it sideways, and its legs pass through each
other. All the rest of the stack is three-dimensional, so the legs stand a little to the left and to the right of the
plane, and each sole is wide enough to reach across it: one foot alone can carry the body, which changes nothing in the
plane.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from humanoid_balance.errors import InputError
from humanoid_balance.robot.urdf_parts import fixed_joint, geometry, inertial, numbers, pin_joint

# mass [kg], length [m], radius of the drawn cylinder [m]
TRUNK = (70.0, 0.48, 0.10)
THIGH = (5.0, 0.45, 0.045)
SHANK = (4.0, 0.45, 0.035)
FOOT = (1.0, 0.20)
ANKLE_HEIGHT = 0.05  # above the sole [m]
CLEAR = 0.05  # of each end of a rod that touches nothing [m]: a hard landing sinks in by 3 cm, and only feet touch
HEEL = 0.06  # from the heel to the ankle [m]
ASIDE = 0.05  # of each leg from the plane [m]
SOLE_WIDTH = 0.20  # [m]; reaches ASIDE beyond the plane
TORQUE = 1000.0  # [N m]
SPEED = 30.0  # [rad/s]; the thesis has no limit, its fastest gait stays below half of it
# [deg]; flexion of the hip is negative. The tables ask for 140 deg at the hip and 92 at the ankle.
RANGES = {"hip": (-170.0, 60.0), "knee": (0.0, 160.0), "ankle": (-100.0, 100.0)}


def generate(**options: float | str) -> str:
    """The URDF; it has no options."""
    if options:
        raise InputError(f"r2d: unknown option '{next(iter(options))}'; allowed: actuation")
    robot = ET.Element("robot", name="r2d")
    material = ET.SubElement(robot, "material", name="skin")
    ET.SubElement(material, "color", rgba="0.55 0.65 0.75 1")
    _rod(robot, "trunk", TRUNK, 1.0)
    for side, sign in (("l", 1), ("r", -1)):
        _pin(robot, side, "hip", "trunk", f"{side}_thigh", (0, sign * ASIDE, 0))
        _rod(robot, f"{side}_thigh", THIGH, -1.0)
        _pin(robot, side, "knee", f"{side}_thigh", f"{side}_shank", (0, 0, -THIGH[1]))
        _rod(robot, f"{side}_shank", SHANK, -1.0)
        _pin(robot, side, "ankle", f"{side}_shank", f"{side}_foot", (0, 0, -SHANK[1]))
        _foot(robot, side)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def _rod(robot: ET.Element, name: str, size: tuple[float, float, float], up: float) -> None:
    """A thin rod that starts at the joint and points up (+1) or hangs down (-1); about its own axis a cylinder."""
    mass, length, radius = size
    link = ET.SubElement(robot, "link", name=name)
    com, across = (0, 0, up * length / 2), mass * length**2 / 12
    inertial(link, mass, com, across, across, mass * radius**2 / 2)
    for kind, size_of in (("visual", length), ("collision", length - 2 * CLEAR)):
        geometry(link, {"cylinder": f"radius={radius:g};length={size_of:g}"}, com, (kind,))


def _pin(robot: ET.Element, side: str, name: str, parent: str, child: str, origin: tuple[float, ...]) -> None:
    pin_joint(robot, f"{side}_{name}", parent, child, origin, "pitch", RANGES[name], TORQUE, SPEED)


def _foot(robot: ET.Element, side: str) -> None:
    """A rod along the sole, half way up to the ankle."""
    mass, length = FOOT
    forward, across = length / 2 - HEEL, mass * length**2 / 12
    link = ET.SubElement(robot, "link", name=f"{side}_foot")
    inertial(link, mass, (forward, 0, -ANKLE_HEIGHT / 2), mass * ANKLE_HEIGHT**2 / 12, across, across)
    box = {"box": f"size={numbers((length, 2 * ASIDE, 0.8 * ANKLE_HEIGHT))}"}
    geometry(link, box, (forward, 0, -0.6 * ANKLE_HEIGHT), ("visual",))
    sole, thickness = ET.SubElement(robot, "link", name=f"{side}_sole"), 0.2 * ANKLE_HEIGHT
    box = {"box": f"size={numbers((length, SOLE_WIDTH, thickness))}"}
    geometry(sole, box, (0, 0, thickness / 2), ("collision",))
    fixed_joint(robot, f"{side}_sole_fixed", f"{side}_foot", f"{side}_sole", (forward, 0, -ANKLE_HEIGHT))
