"""The generated human has the masses, inertias and joint ranges of the specification (K1)."""

import math
import xml.etree.ElementTree as ET

import pinocchio as pin
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.robot import human, registry

# Typed from the specification, not from the code.
PERCENT = {
    "head": 7.0, "chest": 25.8, "loins": 17.2, "upper_arm": 3.6, "forearm": 2.2, "hand": 0.7, "thigh": 11.4,
    "shank": 5.3, "foot": 1.8,
}  # fmt: skip
RANGES_LEFT = {
    "l_shoulder_pitch": (-180, 180), "l_shoulder_roll": (0, 180), "l_elbow": (-150, 0), "waist_pitch": (-45, 30),
    "waist_yaw": (-45, 45), "waist_roll": (-45, 45), "l_hip_pitch": (-90, 45), "l_hip_yaw": (-15, 30),
    "l_hip_roll": (0, 45), "l_knee": (0, 150), "l_ankle_pitch": (-60, 60), "l_ankle_roll": (-30, 45),
}  # fmt: skip
TORQUES = {
    "l_hip_pitch": 200, "r_hip_roll": 200, "l_knee": 200, "r_ankle_pitch": 180, "l_ankle_roll": 60, "waist_yaw": 200,
    "r_shoulder_pitch": 80, "l_elbow": 60,
}  # fmt: skip


def links(urdf: str) -> dict[str, ET.Element]:
    return {e.attrib["name"]: e for e in ET.fromstring(urdf).findall("link") if e.find("inertial") is not None}


def joints(urdf: str) -> dict[str, ET.Element]:
    return {e.attrib["name"]: e for e in ET.fromstring(urdf).findall("joint") if e.attrib["type"] == "revolute"}


def mass_of(link: ET.Element) -> float:
    return float(link.find("inertial/mass").attrib["value"])


def test_fifteen_links_and_thirty_four_joints():
    urdf = human.generate()
    assert len(links(urdf)) == 15
    assert len(joints(urdf)) == 34


@pytest.mark.parametrize(("mass", "height"), [(71.0, 1.70), (95.0, 1.72), (59.0, 1.69), (90.0, 1.81)])
def test_mass_fractions_and_total_mass_are_exact(mass, height):
    found = links(human.generate(mass=mass, height=height))
    for name, link in found.items():
        segment = name.removeprefix("l_").removeprefix("r_")
        assert mass_of(link) == pytest.approx(mass * PERCENT[segment] / 100, rel=1e-12)
    assert sum(mass_of(link) for link in found.values()) == pytest.approx(mass, rel=1e-12)


def test_inertias_are_those_of_water_cylinders():
    for name, link in links(human.generate()).items():
        segment = name.removeprefix("l_").removeprefix("r_")
        mass, length = mass_of(link), 1.70 * human.LENGTH_FRACTION[segment]
        radius = math.sqrt(mass / (1000.0 * math.pi * length))
        axial, perpendicular = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
        inertia = {k: float(v) for k, v in link.find("inertial/inertia").attrib.items()}
        along = "ixx" if segment == "foot" else "izz"  # a foot lies along x
        for key in ("ixx", "iyy", "izz"):
            assert inertia[key] == pytest.approx(axial if key == along else perpendicular, rel=1e-9)


@pytest.mark.parametrize(("joint", "degrees"), RANGES_LEFT.items())
def test_the_thesis_s_joint_ranges_are_those_of_the_specification(joint, degrees):
    found = joints(human.generate(ranges="kudoh"))
    limit = found[joint].find("limit").attrib
    assert math.degrees(float(limit["lower"])) == pytest.approx(degrees[0], abs=1e-9)
    assert math.degrees(float(limit["upper"])) == pytest.approx(degrees[1], abs=1e-9)
    if joint.startswith("l_"):
        mirrored = found["r_" + joint[2:]].find("limit").attrib
        low, high = degrees if "pitch" in joint or "elbow" in joint or "knee" in joint else (-degrees[1], -degrees[0])
        assert math.degrees(float(mirrored["lower"])) == pytest.approx(low, abs=1e-9)
        assert math.degrees(float(mirrored["upper"])) == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize(("joint", "torque"), TORQUES.items())
def test_peak_torques_are_human(joint, torque):
    assert float(joints(human.generate())[joint].find("limit").attrib["effort"]) == torque


def test_height_is_the_height_of_the_upright_body():
    robot = registry.load("human:height=1.80")
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    head = data.oMf[robot.model.getFrameId("head")].translation[2] + 1.80 * human.LENGTH_FRACTION["head"]
    sole = data.oMf[robot.model.getFrameId("l_sole")].translation[2]
    assert head - sole == pytest.approx(1.80, abs=1e-3)


def test_a_longer_shank_and_a_lighter_body_are_one_option_each():
    assert human.segments(shank=1.06)["shank"].length == pytest.approx(1.06 * human.segments()["shank"].length)
    assert human.segments(shank=1.06)["thigh"] == human.segments()["thigh"]
    assert registry.load("human:mass=67.45").mass == pytest.approx(67.45, rel=1e-12)
    assert human.segments(hand_mass=2.0)["hand"].mass == pytest.approx(2 * human.segments()["hand"].mass)


@pytest.mark.parametrize("spec", ["human:mass=-3", "human:tail=1", "human:height=9", "human:shank=0"])
def test_an_impossible_body_is_refused_by_name(spec):
    option = spec.split(":")[1].split("=")[0]
    with pytest.raises(InputError, match=f"'{option}'"):
        registry.load(spec)


def test_the_hip_adducts_but_not_with_the_thesis_s_ranges() -> None:
    tables = {"kudoh": 0.0, "anatomical": -25.0}
    for option, low in (({}, -25.0), *(({"ranges": name}, low) for name, low in tables.items())):
        found = joints(human.generate(**option))
        assert float(found["l_hip_roll"].find("limit").attrib["lower"]) == pytest.approx(math.radians(low))
        assert float(found["r_hip_roll"].find("limit").attrib["upper"]) == pytest.approx(-math.radians(low))


def test_the_anatomical_body_stands_like_the_other() -> None:
    anatomical, kudoh = registry.load("human"), registry.load("human:ranges=kudoh")
    assert anatomical.com_height == pytest.approx(kudoh.com_height, abs=1e-3)
    assert anatomical.joint_names == kudoh.joint_names


def test_words_that_are_no_table_of_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="'ranges' is giraffe; allowed: anatomical, kudoh"):
        human.generate(ranges="giraffe")
    with pytest.raises(InputError, match="'mass' is heavy; allowed: 20 to 250"):
        human.generate(mass="heavy")
