"""Robots by name, by path and with options; what is wrong is named."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.robot import registry

ICUB = """
urdf: example-robot-data:icub_description/robots/icub.urdf
torso: chest
imu: imu_frame
feet:
  left: {frame: l_sole, x: [-0.06, 0.13], y: [-0.04, 0.04]}
  right: {frame: r_sole, x: [-0.06, 0.13], y: [-0.04, 0.04]}
posture: {"*_hip_pitch": 0.3, "*_knee": -0.6, "*_ankle_pitch": -0.3, "*_elbow": 0.5, "*_shoulder_roll": 0.2}
groups: {legs: ["*_hip_*", "*_knee", "*_ankle_*"], arms: ["*_shoulder_*", "*_elbow"]}
joints: {"*": {velocity: 10}}
"""
ROMEO = """
urdf: example-robot-data:romeo_description/urdf/romeo_small.urdf
torso: torso
imu: torso
feet:
  left: {frame: l_sole, x: [-0.08, 0.15], y: [-0.05, 0.05]}
  right: {frame: r_sole, x: [-0.08, 0.15], y: [-0.05, 0.05]}
posture: {"*HipPitch": -0.3, "*KneePitch": 0.6, "*AnklePitch": -0.3}
"""


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_a_robot_stands_flat_with_its_com_over_the_middle_of_its_soles(name):
    robot = registry.load(name)
    model, data, q = robot.model, robot.model.createData(), robot.q_nominal
    pin.framesForwardKinematics(model, data, q)
    corners = np.concatenate(
        [[data.oMf[f].act(c) for c in s] for f, s in zip(robot.sole_frames, robot.soles, strict=True)]
    )
    assert np.abs(corners[:, 2]).max() < 1e-6
    com = pin.centerOfMass(model, data, q)
    assert np.abs(com[:2] - corners.mean(axis=0)[:2]).max() < 2e-3
    assert (q[7:] >= robot.lower - 1e-9).all() and (q[7:] <= robot.upper + 1e-9).all()


@pytest.mark.parametrize(("text", "joints"), [(ICUB, 32), (ROMEO, 31)], ids=["icub", "romeo"])
def test_another_robot_needs_only_a_yaml(tmp_path, text, joints):
    file = tmp_path / "other.yaml"
    file.write_text(text)
    robot = registry.load(str(file))
    assert robot.n == joints
    assert robot.com_height > 0.3
    assert np.isfinite(robot.standing_torque(robot.q_nominal)).all()


def test_the_mass_of_a_urdf_robot_can_be_scaled():
    plain, heavy = registry.load("talos"), registry.load("talos:mass=99")
    assert heavy.mass == pytest.approx(99.0, rel=1e-9)
    assert heavy.com_height == pytest.approx(plain.com_height, abs=1e-6)


@pytest.mark.parametrize("slope", [-20.0, -10.0, 10.0, 20.0])
@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_a_stance_on_a_slope_keeps_the_soles_on_the_ground(name, slope):
    robot = registry.load(name)
    angle = np.radians(slope)
    q = robot.stance(angle)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    for frame, corners in zip(robot.sole_frames, robot.soles, strict=True):
        for corner in corners:
            x, _, z = data.oMf[frame].act(corner)
            assert z == pytest.approx(x * np.tan(angle), abs=1e-4)


@pytest.mark.parametrize("spec", ["", "nobody", "human:", "human:mass", "human:mass=fat", "human:mass=nan", "g1:arm=2"])
def test_a_wrong_specification_is_refused_in_one_line(spec):
    with pytest.raises(InputError) as error:
        registry.load(spec)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("torso: chest", "torso: belly", "torso"),
        ("torso: chest", "", "torso"),
        ("frame: l_sole,", "frame: nowhere,", "feet.left.frame"),
        ("x: [-0.06, 0.13]", "x: [0.13, -0.06]", "feet.left.x"),
        ("x: [-0.06, 0.13]", "x: wide", "feet.left.x"),
        ('"*_knee": -0.6', '"*_tail": -0.6', "posture"),
        ('"*_knee": -0.6', '"*_knee": .nan', "posture.*_knee"),
        ("velocity: 10", "velocity: -1", "joints.*.velocity"),
        ("velocity: 10", "speed: 10", "joints.*.speed"),
        ("arms:", "wings:", "groups.wings"),
        ("icub.urdf", "icub2.urdf", "urdf"),
        ("example-robot-data:", "elsewhere:", "urdf"),
    ],
)
def test_a_wrong_entry_names_file_key_and_what_is_allowed(tmp_path, old, new, key):
    file = tmp_path / "broken.yaml"
    assert old in ICUB
    file.write_text(ICUB.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        registry.load(str(file))
    message = str(error.value)
    assert str(file) in message and f"'{key}'" in message and "allowed" in message and "\n" not in message


@pytest.mark.parametrize("text", ["", "just words", "a: [1", "- 1\n- 2"])
def test_a_file_that_is_no_configuration_is_refused(tmp_path, text):
    file = tmp_path / "broken.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match="broken"):
        registry.load(str(file))


@pytest.mark.parametrize("spec", ["human:mass=90,drives=impedance", "talos:drives=impedance"])
def test_every_robot_can_be_given_impedance_drives(spec: str) -> None:
    robot = registry.load(spec)
    assert (robot.drive_stiffness == 10.0).all()
    assert (robot.drive_damping == 1.0).all()
    assert (registry.load("r2d:drives=torque").drive_stiffness == 0.0).all()


def test_unknown_drives_are_refused() -> None:
    with pytest.raises(InputError, match=r"option 'drives' is magic; allowed: torque, impedance"):
        registry.load("human:drives=magic")
