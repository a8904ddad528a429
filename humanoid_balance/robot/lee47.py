"""The body of Lee's data-driven control (specification A0): 13 rigid bodies, 12 ball joints, 47 kg.

Masses, lengths and inertias are the thesis's table. Its inertias are those of boxes of water density to within its
rounding: the length of the table along the segment, and across it the widths that the moments leave. They say what the
table does not, how wide the soles are. A body of other lengths or masses has boxes of the same proportions across and
water density. A box is nine tenths of its bone, in the middle of it: between joints lie the table's lengths over 0.9,
which are those of the person whose motions the thesis uses. Where joints are across the body, and how high the ankle
is, the table leaves open; here the ankle is in the middle of the foot's height, and the rest follows from the boxes.

A ball joint is three pins, each a coordinate of its rotation. Three pins lock where the middle one is at 90 degrees, so
the middle one is the turn that people have least of, and it stops before: sideways at the trunk, the knees, the elbows
and the feet, the twist of the upper arm at the shoulder, which leaves every direction of the arm, and roll at the hip.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import astuple, dataclass

from humanoid_balance.errors import InputError
from humanoid_balance.robot.urdf_parts import fixed_joint, geometry, inertial, numbers, pin_joint

DENSITY = 1000.0  # [kg/m³]
FILLS = 0.9  # share of the distance between joints that a box is long


@dataclass(frozen=True)
class Box:
    """A segment: mass [kg], length [m], moments across (about the lateral and the other axis) and along it [kg m²]."""

    mass: float
    length: float
    lateral: float
    frontal: float
    axial: float

    @property
    def wide(self) -> float:
        """Of the uniform box with these moments, to the side [m]: x² = 6 (I_y + I_z - I_x) / m."""
        return math.sqrt(6.0 * (self.frontal + self.axial - self.lateral) / self.mass)

    @property
    def deep(self) -> float:
        """... and across that, forward where the segment is upright [m]."""
        return math.sqrt(6.0 * (self.lateral + self.axial - self.frontal) / self.mass)

    @property
    def bone(self) -> float:
        """From joint to joint [m]."""
        return self.length / FILLS

    def heavier(self, times: float) -> Box:
        """Of the same shape, of another density."""
        return Box(*(times * m if k != 1 else m for k, m in enumerate(astuple(self))))

    def changed(self, mass: float, length: float) -> Box:
        """With another mass or length: a box of water density with the same proportions across it."""
        if mass == self.mass and length == self.length:
            return self
        aspect = self.wide / self.deep
        deep = math.sqrt(mass / (DENSITY * length * aspect))
        x, y, z = (m * m * mass / 12.0 for m in (aspect * deep, deep, length))
        return Box(mass, length, y + z, x + z, x + y)


# A0; Ix of the table is about the lateral axis, Iz along the segment. Limbs each side.
TABLE = {
    "head": Box(3.0, 0.180, 0.012, 0.012, 0.008),
    "upper_arm": Box(2.0, 0.238, 0.011, 0.011, 0.003),
    "lower_arm": Box(1.0, 0.200, 0.004, 0.004, 0.001),
    "torso": Box(8.0, 0.230, 0.052, 0.068, 0.049),
    "pelvis": Box(6.0, 0.180, 0.025, 0.047, 0.040),
    "thigh": Box(5.0, 0.400, 0.072, 0.072, 0.010),
    "shin": Box(5.0, 0.380, 0.065, 0.065, 0.011),
    "foot": Box(2.0, 0.225, 0.010, 0.010, 0.003),
}
# [kg] of the push trials, A0: 88.57 together.
SIMBICON = {
    "head": 5.89, "upper_arm": 2.79, "lower_arm": 1.76, "torso": 29.27, "pelvis": 16.61, "thigh": 8.35, "shin": 4.16,
    "foot": 1.34,
}  # fmt: skip
MASSES = {"thesis": {name: box.mass for name, box in TABLE.items()}, "simbicon": SIMBICON}
LEG = ("thigh", "shin")
LIMBS = ("upper_arm", "lower_arm", "thigh", "shin", "foot")
HIP_HALF_WIDTH = 0.09  # [m]; thighs of 11 cm pass each other
SHOULDER_HALF_WIDTH = 0.16  # half a torso and half an arm [m]
CORE = 0.8  # share of a segment's length that touches things: the corners of a shin that leans stay above the ankle
HEEL = 0.28  # the ankle stands this share of the foot's length before the heel, as in the human
# joint: axis, lower, upper [deg] of its pins; ranges are of the left side, roll and yaw are mirrored
JOINTS = {
    "waist": (("yaw", -70, 70), ("roll", -60, 60), ("pitch", -60, 100)),
    "neck": (("yaw", -90, 90), ("roll", -60, 60), ("pitch", -70, 70)),
    "shoulder": (("roll", -60, 180), ("yaw", -80, 80), ("pitch", -180, 90)),
    "elbow": (("yaw", -90, 90), ("roll", -30, 30), ("pitch", -160, 10)),
    "hip": (("yaw", -60, 60), ("roll", -45, 60), ("pitch", -130, 60)),
    "knee": (("yaw", -20, 20), ("roll", -15, 15), ("pitch", -5, 150)),
    "ankle": (("pitch", -60, 70), ("roll", -45, 45), ("yaw", -45, 45)),
}
TORQUE, SPEED = 1500.0, 30.0  # [N m], [rad/s]; the thesis has no limits, and a hard landing asks for 1000

RANGES = {
    "leg": (0.4, 2.0), "leg_mass": (0.2, 3.0), "left_leg": (0.8, 1.2), "left_shin_mass": (0.2, 5.0),
    "mass": (20.0, 250.0),
}  # fmt: skip


def option_names() -> tuple[str, ...]:
    """Options of ``lee47:name=value``."""
    return (*RANGES, "masses", *(f"{name}_mass" for name in TABLE))


def segments(**options: float | str) -> dict[str, Box]:
    """Boxes by name; ``left_thigh`` and ``left_shin`` beside the others. The load of a shin is beside ``mass``."""
    values: dict[str, float] = {}
    for name, value in options.items():
        if name not in option_names():
            raise InputError(f"lee47: unknown option '{name}'; allowed: {', '.join(option_names())}")
        if name == "masses":
            if value not in MASSES:
                raise InputError(f"lee47: option 'masses' is {value}; allowed: {', '.join(MASSES)}")
            continue
        low, high = RANGES.get(name, (0.2, 5.0))
        if isinstance(value, str) or not low <= value <= high:
            raise InputError(f"lee47: option '{name}' is {value}; allowed: {low:g} to {high:g}")
        values[name] = value
    masses = dict(MASSES[str(options.get("masses", "thesis"))])
    for name in masses:
        masses[name] *= values.get(f"{name}_mass", 1.0) * (values.get("leg_mass", 1.0) if name in LEG else 1.0)
    total = sum(mass * (2 if name in LIMBS else 1) for name, mass in masses.items())
    scale = values.get("mass", total) / total
    out = {}
    for name, box in TABLE.items():
        length = box.length * (values.get("leg", 1.0) if name in LEG else 1.0)
        out[name] = box.changed(scale * masses[name] if scale != 1.0 else masses[name], length)
    for name in LEG:
        out[f"left_{name}"] = out[name].changed(out[name].mass, out[name].length * values.get("left_leg", 1.0))
    out["left_shin"] = out["left_shin"].heavier(values.get("left_shin_mass", 1.0))
    return out


def generate(**options: float | str) -> str:
    """The URDF; see ``option_names`` for what can be set."""
    body = segments(**options)
    robot = ET.Element("robot", name="lee47")
    material = ET.SubElement(robot, "material", name="skin")
    ET.SubElement(material, "color", rgba="0.62 0.68 0.74 1")
    _link(robot, "pelvis", body["pelvis"], 1.0)
    _ball(robot, "waist", "pelvis", "torso", (0, 0, body["pelvis"].bone))
    _link(robot, "torso", body["torso"], 1.0)
    _ball(robot, "neck", "torso", "head", (0, 0, body["torso"].bone))
    _link(robot, "head", body["head"], 1.0)
    for side, sign in (("l", 1), ("r", -1)):
        thigh, shin = (body[f"left_{name}" if side == "l" else name] for name in LEG)
        arm, at = body["upper_arm"], body["torso"].bone - body["upper_arm"].wide / 2
        _ball(robot, "shoulder", "torso", f"{side}_upper_arm", (0, sign * SHOULDER_HALF_WIDTH, at), side)
        _link(robot, f"{side}_upper_arm", arm, -1.0)
        _ball(robot, "elbow", f"{side}_upper_arm", f"{side}_lower_arm", (0, 0, -arm.bone), side)
        _link(robot, f"{side}_lower_arm", body["lower_arm"], -1.0)
        _ball(robot, "hip", "pelvis", f"{side}_thigh", (0, sign * HIP_HALF_WIDTH, 0), side)
        _link(robot, f"{side}_thigh", thigh, -1.0)
        _ball(robot, "knee", f"{side}_thigh", f"{side}_shin", (0, 0, -thigh.bone), side)
        _link(robot, f"{side}_shin", shin, -1.0)
        _ball(robot, "ankle", f"{side}_shin", f"{side}_foot", (0, 0, -shin.bone), side)
        _foot(robot, side, body["foot"])
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def _link(robot: ET.Element, name: str, box: Box, up: float) -> None:
    """A box in the middle of a bone that starts at the joint and points up (+1) or hangs down (-1)."""
    link = ET.SubElement(robot, "link", name=name)
    com = (0, 0, up * box.bone / 2)
    inertial(link, box.mass, com, box.frontal, box.lateral, box.axial)
    for kind, share in (("visual", 1.0), ("collision", CORE)):
        geometry(link, {"box": f"size={numbers((box.deep, box.wide, share * box.length))}"}, com, (kind,))


def _foot(robot: ET.Element, side: str, box: Box) -> None:
    """A box along x, with the ankle in the middle of its height; the sole frame is under its centre."""
    link = ET.SubElement(robot, "link", name=f"{side}_foot")
    forward, drop = (0.5 - HEEL) * box.length, box.deep / 2
    inertial(link, box.mass, (forward, 0, 0), box.axial, box.lateral, box.frontal)
    shape = {"box": f"size={numbers((box.length, box.wide, box.deep))}"}
    geometry(link, shape, (forward, 0, 0), ("visual",))
    sole, thickness = ET.SubElement(robot, "link", name=f"{side}_sole"), 0.2 * box.deep
    shape = {"box": f"size={numbers((box.length, box.wide, thickness))}"}
    geometry(sole, shape, (0, 0, thickness / 2), ("collision",))
    fixed_joint(robot, f"{side}_sole_fixed", f"{side}_foot", f"{side}_sole", (forward, 0, -drop))


def _ball(
    robot: ET.Element, name: str, parent: str, child: str, origin: tuple[float, ...], side: str | None = None
) -> None:
    """Three pins through massless links, all at ``origin`` of the parent."""
    label = f"{side}_{name}" if side else name
    for k, (axis, low, high) in enumerate(JOINTS[name]):
        if side == "r" and axis != "pitch":
            low, high = -high, -low
        target = child if k == 2 else f"{label}_{axis}_link"
        if k < 2:
            ET.SubElement(robot, "link", name=target)
        pin_joint(robot, f"{label}_{axis}", parent, target, origin, axis, (low, high), TORQUE, SPEED)
        parent, origin = target, (0, 0, 0)
