"""The human body as a robot: 15 links and 34 joints from Kudoh's anthropometry (specification K1).

Every link is a cylinder of water density along its segment: r = sqrt(m / (rho pi h)), I_axial = m r²/2,
I_perp = m (3 r² + h²)/12. Feet stand on flat boxes. A ball joint is three pin joints through massless links.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from humanoid_balance.errors import InputError
from humanoid_balance.robot.urdf_parts import fixed_joint, geometry, inertial, numbers, pin_joint

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
HEIGHT = 1.70  # [m]
ANKLE_HEIGHT = 0.039  # of the body height
HEEL = 0.28  # the ankle stands this share of the foot length before the heel
SOLE_WIDTH = 0.055
HIP_HALF_WIDTH = 0.050
WIDEST_THIGH = 0.9 * HIP_HALF_WIDTH  # flesh gives way: standing, the thighs do not touch
SHOULDER_HALF_WIDTH = 0.118

# joint: (axis, lower, upper [deg], torque [N m]) of each pin; ranges are of the left side, roll and yaw are mirrored.
Joint = tuple[tuple[str, float, float, float], ...]
# Kudoh's table (K1), for his experiments; neck, wrist, shoulder yaw and ankle yaw are not in the thesis. Its hip has no
# adduction: legs cannot cross.
KUDOH: dict[str, Joint] = {
    "waist": (("yaw", -45, 45, 200), ("roll", -45, 45, 200), ("pitch", -45, 30, 200)),
    "neck": (("yaw", -60, 60, 20), ("roll", -35, 35, 20), ("pitch", -45, 45, 20)),
    "shoulder": (("pitch", -180, 180, 80), ("roll", 0, 180, 80), ("yaw", -90, 90, 80)),
    "elbow": (("pitch", -150, 0, 60),),
    "wrist": (("yaw", -80, 80, 15), ("roll", -30, 30, 15), ("pitch", -60, 60, 15)),
    "hip": (("yaw", -15, 30, 200), ("roll", 0, 45, 200), ("pitch", -90, 45, 200)),
    "knee": (("pitch", 0, 150, 200),),
    "ankle": (("pitch", -60, 60, 180), ("roll", -30, 45, 60), ("yaw", -20, 20, 60)),
}
# Mean ranges of healthy adults (American Academy of Orthopaedic Surgeons, "Joint Motion", 1965), to whole five degrees.
# Differences: the ankle bends up as far as it does under the body's weight with a bent knee, 45 deg, not the 20 of a
# hanging foot (more than twice as far: Rabin and Kozol, J. Am. Podiatr. Med. Assoc. 102, 2012): a sole that is flat on
# the ground behind the body needs it. Its yaw, which stands for the turning of the shank over the foot, stays as above.
ANATOMICAL: dict[str, Joint] = {
    "waist": (("yaw", -45, 45, 200), ("roll", -35, 35, 200), ("pitch", -30, 80, 200)),
    "neck": (("yaw", -60, 60, 20), ("roll", -45, 45, 20), ("pitch", -45, 45, 20)),
    "shoulder": (("pitch", -180, 60, 80), ("roll", -30, 180, 80), ("yaw", -70, 90, 80)),
    "elbow": (("pitch", -150, 0, 60),),
    "wrist": (("yaw", -80, 80, 15), ("roll", -30, 20, 15), ("pitch", -80, 70, 15)),
    "hip": (("yaw", -45, 45, 200), ("roll", -25, 45, 200), ("pitch", -120, 30, 200)),
    "knee": (("pitch", 0, 135, 200),),
    "ankle": (("pitch", -45, 50, 180), ("roll", -35, 15, 60), ("yaw", -20, 20, 60)),
}
RANGES = {"anatomical": ANATOMICAL, "kudoh": KUDOH}  # the default first
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
    return ("ranges", "mass", "height", *LENGTH_FRACTION, *(f"{s}_mass" for s in MASS_FRACTION))


def segments(**options: float | str) -> dict[str, Segment]:
    """Mass and length of each segment; ``mass`` and ``height`` of the body before the scales are applied."""
    sizes = {}
    for name, value in options.items():
        if name not in option_names():
            raise InputError(f"human: unknown option '{name}'; allowed: {', '.join(option_names())}")
        if name == "ranges":
            if value not in RANGES:
                raise InputError(f"human: option 'ranges' is {value}; allowed: {', '.join(RANGES)}")
            continue
        low, high = {"mass": (20.0, 250.0), "height": (1.0, 2.5)}.get(name, (0.5, 2.0))
        if isinstance(value, str) or not low <= value <= high:
            raise InputError(f"human: option '{name}' is {value}; allowed: {low:g} to {high:g}")
        sizes[name] = value
    mass, height = sizes.get("mass", 71.0), sizes.get("height", HEIGHT)
    return {
        s: Segment(
            mass * MASS_FRACTION[s] * sizes.get(f"{s}_mass", 1.0),
            height * LENGTH_FRACTION[s] * sizes.get(s, 1.0),
        )
        for s in MASS_FRACTION
    }


def generate(**options: float | str) -> str:
    """The URDF of a human; see ``option_names`` for what can be set."""
    body = segments(**options)
    height = float(options.get("height", HEIGHT))
    ranges = RANGES[str(options.get("ranges", next(iter(RANGES))))]
    robot = ET.Element("robot", name="human")
    material = ET.SubElement(robot, "material", name="skin")
    ET.SubElement(material, "color", rgba="0.75 0.62 0.52 1")

    _link(robot, "loins", body["loins"], up=1.0)
    _joint(robot, ranges, "waist", "loins", "chest", (0, 0, body["loins"].length))
    _link(robot, "chest", body["chest"], up=1.0)
    _joint(robot, ranges, "neck", "chest", "head", (0, 0, body["chest"].length))
    _link(robot, "head", body["head"], up=1.0)
    for side, sign in (("l", 1), ("r", -1)):
        shoulder = (0, sign * SHOULDER_HALF_WIDTH * height, body["chest"].length * 0.93)
        _joint(robot, ranges, "shoulder", "chest", "upper_arm", shoulder, side)
        _link(robot, f"{side}_upper_arm", body["upper_arm"], up=-1.0)
        _joint(robot, ranges, "elbow", "upper_arm", "forearm", (0, 0, -body["upper_arm"].length), side)
        _link(robot, f"{side}_forearm", body["forearm"], up=-1.0)
        _joint(robot, ranges, "wrist", "forearm", "hand", (0, 0, -body["forearm"].length), side)
        _link(robot, f"{side}_hand", body["hand"], up=-1.0)
        _joint(robot, ranges, "hip", "loins", "thigh", (0, sign * HIP_HALF_WIDTH * height, 0), side)
        _link(robot, f"{side}_thigh", body["thigh"], up=-1.0, widest=WIDEST_THIGH * height)
        _joint(robot, ranges, "knee", "thigh", "shank", (0, 0, -body["thigh"].length), side)
        _link(robot, f"{side}_shank", body["shank"], up=-1.0)
        _joint(robot, ranges, "ankle", "shank", "foot", (0, 0, -body["shank"].length), side)
        _foot(robot, side, body["foot"], height)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def _link(robot: ET.Element, name: str, segment: Segment, up: float, widest: float = math.inf) -> None:
    """A vertical cylinder that starts at the joint and points up (+1) or hangs down (-1)."""
    link = ET.SubElement(robot, "link", name=name)
    com = (0, 0, up * segment.length / 2)
    perpendicular = segment.inertia_perpendicular
    inertial(link, segment.mass, com, perpendicular, perpendicular, segment.inertia_axial)
    shape = {"cylinder": f"radius={min(segment.radius, widest):.6g};length={segment.length:.6g}"}
    geometry(link, shape, com, ("visual", "collision"))


def _foot(robot: ET.Element, side: str, segment: Segment, height: float) -> None:
    """A foot lies along x: inertia of the cylinder, shape of a flat box; the sole frame is under the box's centre."""
    link = ET.SubElement(robot, "link", name=f"{side}_foot")
    drop, forward = ANKLE_HEIGHT * height, (0.5 - HEEL) * segment.length
    perpendicular = segment.inertia_perpendicular
    inertial(link, segment.mass, (forward, 0, -drop / 2), segment.inertia_axial, perpendicular, perpendicular)
    width = SOLE_WIDTH * height
    geometry(
        link,
        {"box": f"size={numbers((segment.length, width, drop * 0.8))}"},
        (forward, 0, -drop * 0.6),
        ("visual",),
    )
    sole = ET.SubElement(robot, "link", name=f"{side}_sole")
    thickness = 0.2 * drop
    geometry(
        sole, {"box": f"size={numbers((segment.length, width, thickness))}"}, (0, 0, thickness / 2), ("collision",)
    )
    fixed_joint(robot, f"{side}_sole_fixed", f"{side}_foot", f"{side}_sole", (forward, 0, -drop))


def _joint(
    robot: ET.Element,
    ranges: dict[str, Joint],
    name: str,
    parent: str,
    child: str,
    origin: tuple[float, ...],
    side: str | None = None,
) -> None:
    """One pin joint for each axis, through massless links, all at ``origin`` of the parent."""
    prefix = f"{side}_" if side else ""
    parent = f"{prefix}{parent}" if parent in LIMBS else parent
    axes = ranges[name]
    for k, (axis, low, high, torque) in enumerate(axes):
        last = k == len(axes) - 1
        label = f"{prefix}{name}" if len(axes) == 1 else f"{prefix}{name}_{axis}"
        if side == "r" and axis != "pitch":
            low, high = -high, -low
        target = f"{prefix}{child}" if last else f"{label}_link"
        if not last:
            ET.SubElement(robot, "link", name=target)
        place = origin if k == 0 else (0, 0, 0)
        pin_joint(robot, label, parent, target, place, axis, (low, high), torque, JOINT_SPEED)
        parent = target
