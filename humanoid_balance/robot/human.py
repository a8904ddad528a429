"""The human body as a robot: 15 links and 34 joints from Kudoh's anthropometry (specification K1).

Every link is a cylinder of water density along its segment: r = sqrt(m / (rho pi h)), I_axial = m r²/2,
I_perp = m (3 r² + h²)/12. Feet stand on flat boxes. A ball joint is three pin joints through massless links.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from humanoid_balance.errors import InputError

DENSITY = 1000.0  # [kg/m³]

# Share of the body mass, limbs each side (K1). Both sides together they sum to 1.
MASS_FRACTION = {
    "head": 0.070,
    "chest": 0.258,
    "loins": 0.172,
    "upper_arm": 0.036,
    "forearm": 0.022,
    "hand": 0.007,
    "thigh": 0.114,
    "shank": 0.053,
    "foot": 0.018,
}
# Share of the body height (Drillis and Contini): foot 0.039 + shank + thigh + loins + chest + head = 1.
LENGTH_FRACTION = {
    "head": 0.182,
    "chest": 0.178,
    "loins": 0.110,
    "upper_arm": 0.186,
    "forearm": 0.146,
    "hand": 0.108,
    "thigh": 0.245,
    "shank": 0.246,
    "foot": 0.152,
}
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
ANKLE_HEIGHT = 0.039  # of the body height
HEEL = 0.28  # the ankle stands this share of the foot length before the heel
SOLE_WIDTH = 0.055
HIP_HALF_WIDTH = 0.050
WIDEST_THIGH = 0.9 * HIP_HALF_WIDTH  # flesh gives way: standing, the thighs do not touch
SHOULDER_HALF_WIDTH = 0.118

AXES = {"pitch": "0 1 0", "roll": "1 0 0", "yaw": "0 0 1"}

# joint: ((axis, lower, upper) ..., torque [N m]); ranges in degrees for the left side (K1; neck, wrist, shoulder yaw
# and ankle yaw are not in the thesis). Right side: roll and yaw ranges are mirrored.
Joint = tuple[tuple[str, float, float, float], ...]
JOINTS: dict[str, Joint] = {
    "waist": (("yaw", -45, 45, 200), ("roll", -45, 45, 200), ("pitch", -45, 30, 200)),
    "neck": (("yaw", -60, 60, 20), ("roll", -35, 35, 20), ("pitch", -45, 45, 20)),
    "shoulder": (("pitch", -180, 180, 80), ("roll", 0, 180, 80), ("yaw", -90, 90, 80)),
    "elbow": (("pitch", -150, 0, 60),),
    "wrist": (("yaw", -80, 80, 15), ("roll", -30, 30, 15), ("pitch", -60, 60, 15)),
    "hip": (("yaw", -15, 30, 200), ("roll", 0, 45, 200), ("pitch", -90, 45, 200)),
    "knee": (("pitch", 0, 150, 200),),
    "ankle": (("pitch", -60, 60, 180), ("roll", -30, 45, 60), ("yaw", -20, 20, 60)),
}
JOINT_SPEED = 15.0  # [rad/s]


@dataclass(frozen=True)
class Segment:
    """A cylinder: mass [kg], length [m], radius [m]."""

    mass: float
    length: float

    @property
    def radius(self) -> float:
        return math.sqrt(self.mass / (DENSITY * math.pi * self.length))

    @property
    def inertia_axial(self) -> float:
        return self.mass * self.radius**2 / 2

    @property
    def inertia_perpendicular(self) -> float:
        return self.mass * (3 * self.radius**2 + self.length**2) / 12


def option_names() -> tuple[str, ...]:
    """Options of ``human:name=value``: the whole body, then length and mass scales of each segment."""
    return ("mass", "height", *LENGTH_FRACTION, *(f"{s}_mass" for s in MASS_FRACTION))


def segments(**options: float) -> dict[str, Segment]:
    """Mass and length of each segment; ``mass`` and ``height`` of the body before the scales are applied."""
    for name, value in options.items():
        if name not in option_names():
            raise InputError(f"human: unknown option '{name}'; allowed: {', '.join(option_names())}")
        low, high = {"mass": (20.0, 250.0), "height": (1.0, 2.5)}.get(name, (0.5, 2.0))
        if not low <= value <= high:
            raise InputError(f"human: option '{name}' is {value:g}; allowed: {low:g} to {high:g}")
    mass, height = options.get("mass", 71.0), options.get("height", 1.70)
    return {
        s: Segment(
            mass * MASS_FRACTION[s] * options.get(f"{s}_mass", 1.0),
            height * LENGTH_FRACTION[s] * options.get(s, 1.0),
        )
        for s in MASS_FRACTION
    }


def generate(**options: float) -> str:
    """The URDF of a human; see ``option_names`` for what can be set."""
    body = segments(**options)
    height = options.get("height", 1.70)
    robot = ET.Element("robot", name="human")
    material = ET.SubElement(robot, "material", name="skin")
    ET.SubElement(material, "color", rgba="0.75 0.62 0.52 1")

    _link(robot, "loins", body["loins"], up=1.0)
    _joint(robot, "waist", "loins", "chest", (0, 0, body["loins"].length))
    _link(robot, "chest", body["chest"], up=1.0)
    _joint(robot, "neck", "chest", "head", (0, 0, body["chest"].length))
    _link(robot, "head", body["head"], up=1.0)
    for side, sign in (("l", 1), ("r", -1)):
        shoulder = (0, sign * SHOULDER_HALF_WIDTH * height, body["chest"].length * 0.93)
        _joint(robot, "shoulder", "chest", "upper_arm", shoulder, side)
        _link(robot, f"{side}_upper_arm", body["upper_arm"], up=-1.0)
        _joint(robot, "elbow", "upper_arm", "forearm", (0, 0, -body["upper_arm"].length), side)
        _link(robot, f"{side}_forearm", body["forearm"], up=-1.0)
        _joint(robot, "wrist", "forearm", "hand", (0, 0, -body["forearm"].length), side)
        _link(robot, f"{side}_hand", body["hand"], up=-1.0)
        _joint(robot, "hip", "loins", "thigh", (0, sign * HIP_HALF_WIDTH * height, 0), side)
        _link(robot, f"{side}_thigh", body["thigh"], up=-1.0, widest=WIDEST_THIGH * height)
        _joint(robot, "knee", "thigh", "shank", (0, 0, -body["thigh"].length), side)
        _link(robot, f"{side}_shank", body["shank"], up=-1.0)
        _joint(robot, "ankle", "shank", "foot", (0, 0, -body["shank"].length), side)
        _foot(robot, side, body["foot"], height)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{v:.12g}" for v in values)


def _inertial(link: ET.Element, mass: float, com: tuple[float, ...], ixx: float, iyy: float, izz: float) -> None:
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=_numbers(com), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=f"{mass:.15g}")
    ET.SubElement(
        inertial, "inertia", ixx=f"{ixx:.15g}", iyy=f"{iyy:.15g}", izz=f"{izz:.15g}", ixy="0", ixz="0", iyz="0"
    )


def _geometry(link: ET.Element, shape: dict[str, str], origin: tuple[float, ...], kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        part = ET.SubElement(link, kind)
        ET.SubElement(part, "origin", xyz=_numbers(origin), rpy="0 0 0")
        name, *_ = shape
        ET.SubElement(ET.SubElement(part, "geometry"), name, _attributes(shape[name]))
        if kind == "visual":
            ET.SubElement(part, "material", name="skin")


def _attributes(text: str) -> dict[str, str]:
    return dict(item.split("=") for item in text.split(";"))


def _link(robot: ET.Element, name: str, segment: Segment, up: float, widest: float = math.inf) -> None:
    """A vertical cylinder that starts at the joint and points up (+1) or hangs down (-1)."""
    link = ET.SubElement(robot, "link", name=name)
    com = (0, 0, up * segment.length / 2)
    perpendicular = segment.inertia_perpendicular
    _inertial(link, segment.mass, com, perpendicular, perpendicular, segment.inertia_axial)
    shape = {"cylinder": f"radius={min(segment.radius, widest):.6g};length={segment.length:.6g}"}
    _geometry(link, shape, com, ("visual", "collision"))


def _foot(robot: ET.Element, side: str, segment: Segment, height: float) -> None:
    """A foot lies along x: inertia of the cylinder, shape of a flat box; the sole frame is under the box's centre."""
    link = ET.SubElement(robot, "link", name=f"{side}_foot")
    drop, forward = ANKLE_HEIGHT * height, (0.5 - HEEL) * segment.length
    perpendicular = segment.inertia_perpendicular
    _inertial(link, segment.mass, (forward, 0, -drop / 2), segment.inertia_axial, perpendicular, perpendicular)
    width = SOLE_WIDTH * height
    _geometry(
        link,
        {"box": f"size={_numbers((segment.length, width, drop * 0.8))}"},
        (forward, 0, -drop * 0.6),
        ("visual",),
    )
    sole = ET.SubElement(robot, "link", name=f"{side}_sole")
    thickness = 0.2 * drop
    _geometry(
        sole, {"box": f"size={_numbers((segment.length, width, thickness))}"}, (0, 0, thickness / 2), ("collision",)
    )
    joint = ET.SubElement(robot, "joint", name=f"{side}_sole_fixed", type="fixed")
    ET.SubElement(joint, "origin", xyz=_numbers((forward, 0, -drop)), rpy="0 0 0")
    ET.SubElement(joint, "parent", link=f"{side}_foot")
    ET.SubElement(joint, "child", link=f"{side}_sole")


def _joint(
    robot: ET.Element, name: str, parent: str, child: str, origin: tuple[float, ...], side: str | None = None
) -> None:
    """One pin joint for each axis, through massless links, all at ``origin`` of the parent."""
    prefix = f"{side}_" if side else ""
    parent = f"{prefix}{parent}" if parent in LIMBS else parent
    axes = JOINTS[name]
    for k, (axis, low, high, torque) in enumerate(axes):
        last = k == len(axes) - 1
        label = f"{prefix}{name}" if len(axes) == 1 else f"{prefix}{name}_{axis}"
        if side == "r" and axis != "pitch":
            low, high = -high, -low
        target = f"{prefix}{child}" if last else f"{label}_link"
        if not last:
            ET.SubElement(robot, "link", name=target)
        joint = ET.SubElement(robot, "joint", name=label, type="revolute")
        ET.SubElement(joint, "origin", xyz=_numbers(origin) if k == 0 else "0 0 0", rpy="0 0 0")
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=target)
        ET.SubElement(joint, "axis", xyz=AXES[axis])
        ET.SubElement(
            joint,
            "limit",
            lower=f"{math.radians(low):.15g}",
            upper=f"{math.radians(high):.15g}",
            effort=f"{torque:g}",
            velocity=f"{JOINT_SPEED:g}",
        )
        parent = target
