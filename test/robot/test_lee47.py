"""Lee's body has the masses, lengths and inertias of the specification's table (A0), and its variants."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.robot import lee47, registry

# Typed from the specification: mass, length, Ix (lateral), Iy, Iz (along the segment).
TABLE = {
    "head": (3, 0.180, 0.012, 0.012, 0.008), "upper_arm": (2, 0.238, 0.011, 0.011, 0.003),
    "lower_arm": (1, 0.200, 0.004, 0.004, 0.001), "torso": (8, 0.230, 0.052, 0.068, 0.049),
    "pelvis": (6, 0.180, 0.025, 0.047, 0.040), "thigh": (5, 0.400, 0.072, 0.072, 0.010),
    "shin": (5, 0.380, 0.065, 0.065, 0.011), "foot": (2, 0.225, 0.010, 0.010, 0.003),
}  # fmt: skip
HEAVY = {
    "torso": 29.27, "pelvis": 16.61, "head": 5.89, "thigh": 8.35, "shin": 4.16, "foot": 1.34, "upper_arm": 2.79,
    "lower_arm": 1.76,
}  # fmt: skip


def links(urdf: str) -> dict[str, tuple[float, float, float, float]]:
    """Mass and moments about x, y, z by name."""
    out = {}
    for link in ET.fromstring(urdf).findall("link"):
        part = link.find("inertial")
        if part is not None:
            mass, moments = part.find("mass"), part.find("inertia")
            assert mass is not None and moments is not None
            x, y, z = (float(moments.attrib[key]) for key in ("ixx", "iyy", "izz"))
            out[link.attrib["name"]] = (float(mass.attrib["value"]), x, y, z)
    return out


def segment(name: str) -> str:
    return name.removeprefix("l_").removeprefix("r_")


def test_thirteen_bodies_have_the_masses_and_inertias_of_the_table() -> None:
    found = links(lee47.generate())
    assert len(found) == 13
    assert sum(mass for mass, *_ in found.values()) == pytest.approx(47.0, abs=1e-12)
    for name, (mass, x, y, z) in found.items():
        kilograms, _, lateral, frontal, axial = TABLE[segment(name)]
        along = (axial, lateral, frontal) if segment(name) == "foot" else (frontal, lateral, axial)
        assert (mass, x, y, z) == pytest.approx((kilograms, *along), abs=1e-12)


def test_forty_two_degrees_of_freedom_and_boxes_of_nine_tenths_of_the_way_from_joint_to_joint() -> None:
    robot = registry.load("lee47")
    assert robot.model.nv == 42 and robot.mass == pytest.approx(47.0)
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))

    def apart(a: str, b: str) -> float:
        return float(np.linalg.norm(np.subtract(*(data.oMi[model.getJointId(n)].translation for n in (a, b)))))

    for a, b, name in (
        ("l_hip_yaw", "l_knee_yaw", "thigh"),
        ("r_knee_yaw", "r_ankle_pitch", "shin"),
        ("l_shoulder_roll", "l_elbow_yaw", "upper_arm"),
        ("waist_yaw", "neck_yaw", "torso"),
    ):
        assert apart(a, b) == pytest.approx(TABLE[name][1] / 0.9, abs=1e-9)


def test_the_tables_inertias_are_those_of_boxes_of_water() -> None:
    for name, (mass, length, *_) in TABLE.items():
        box = lee47.TABLE[name]
        assert box.wide * box.deep * length * 1000.0 == pytest.approx(mass, rel=0.21 if name == "lower_arm" else 0.08)


def test_the_heavy_body_of_the_push_trials_has_its_masses() -> None:
    found = links(lee47.generate(masses="simbicon"))
    assert sum(mass for mass, *_ in found.values()) == pytest.approx(88.57, abs=1e-9)
    for name, (mass, *_) in found.items():
        assert mass == pytest.approx(HEAVY[segment(name)], abs=1e-12)


def test_a_changed_segment_is_a_box_of_water_and_the_others_stay() -> None:
    long, usual = lee47.segments(leg=1.5), lee47.segments()
    for name in ("thigh", "shin"):
        box = long[name]
        assert box.length == pytest.approx(1.5 * TABLE[name][1]) and box.mass == TABLE[name][0]
        assert box.wide * box.deep * box.length * 1000.0 == pytest.approx(box.mass)
    assert all(long[name] == usual[name] for name in TABLE if name not in ("thigh", "shin"))
    assert lee47.segments(leg=0.5, mass=0.6 * 47)["torso"].mass == pytest.approx(0.6 * 8)


def test_one_leg_can_be_shorter_than_the_other() -> None:
    sizes = lee47.segments(left_leg=0.97)
    assert sizes["left_thigh"].length == pytest.approx(0.97 * 0.4) and sizes["thigh"].length == 0.4
    assert registry.load("lee47:left_leg=0.954").mass == pytest.approx(47.0)


def test_a_leg_can_carry_a_load() -> None:
    usual, loaded = lee47.segments()["left_shin"], lee47.segments(left_shin_mass=4.0)["left_shin"]
    assert (loaded.mass, loaded.lateral, loaded.length) == pytest.approx((20.0, 4 * usual.lateral, usual.length))
    assert registry.load("lee47:left_shin_mass=4").mass == pytest.approx(47.0 + 15.0)


def test_no_pose_within_the_ranges_is_singular() -> None:
    """The three axes of a ball joint span space in every corner of its ranges: |det| = cos of the middle pin."""
    robot = registry.load("lee47")
    for first in range(0, robot.n, 3):
        pins = [robot.model.joints[2 + first + k] for k in range(3)]
        data = robot.model.createData()
        for corner in itertools.product(*((robot.lower[first + k], 0.0, robot.upper[first + k]) for k in range(3))):
            q = pin.neutral(robot.model)
            q[7 + first : 10 + first] = corner
            J = pin.computeJointJacobians(robot.model, data, q)
            axes = J[3:, [p.idx_v for p in pins]]
            assert abs(np.linalg.det(axes)) > 0.15, robot.joint_names[first]


@pytest.mark.parametrize("spec", ["leg=9", "masses=none", "mass=1", "left_leg=0.5", "arm=1"])
def test_a_bad_option_is_refused_in_one_line(spec: str) -> None:
    with pytest.raises(InputError, match=r"^lee47: .*allowed: [^\n]*$"):
        registry.load(f"lee47:{spec}")
