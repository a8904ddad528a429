"""Robots in MuJoCo's own format: read, guessed, refused."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robot.biped import BIPED, BIPED_YAML, JOINTS, leg

from humanoid_balance.errors import ConfigError
from humanoid_balance.robot import registry
from humanoid_balance.robot.guess import guess


def test_an_mjcf_becomes_the_model_that_pinocchio_and_mujoco_read_from_it(tmp_path):
    (tmp_path / "biped.xml").write_text(BIPED)
    (tmp_path / "biped.yaml").write_text(BIPED_YAML)
    ours = registry.load(str(tmp_path / "biped.yaml"))
    theirs = pin.buildModelFromMJCF(str(tmp_path / "biped.xml"))
    assert sorted(ours.joint_names) == sorted(f"{s}_{j}" for s in ("left", "right") for j in JOINTS)
    assert ours.mass == pytest.approx(43.0)
    assert ours.mass == pytest.approx(pin.computeTotalMass(theirs))
    assert (ours.torque_limit == 150.0).all()
    assert (ours.armature == 0.02).all() and (ours.damping == 0.3).all() and (ours.friction == 0.1).all()
    original = mujoco.MjModel.from_xml_string(BIPED)
    data = mujoco.MjData(original)
    rng = np.random.default_rng(0)
    q = pin.neutral(ours.model)
    for i, name in enumerate(ours.joint_names):
        q[7 + i] = data.qpos[original.joint(name).qposadr[0]] = rng.uniform(-0.5, 0.5)
    data.qpos[:7] = [0, 0, 0, 1, 0, 0, 0]
    mujoco.mj_forward(original, data)
    pin.framesForwardKinematics(ours.model, ours.data, q)
    for link in ("left_foot", "right_shank"):
        place = ours.data.oMf[ours.model.getFrameId(link)]
        assert place.translation == pytest.approx(data.body(link).xpos, abs=1e-9)
        assert place.rotation.ravel() == pytest.approx(data.body(link).xmat, abs=1e-9)
    imu = ours.data.oMf[ours.imu_frame]
    assert imu.translation == pytest.approx([0.02, 0.0, 0.1])


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("<freejoint/>", '<freejoint/><inertial mass="-1" pos="0 0 0" diaginertia="1 1 1"/>', "mass"),
        (
            '<joint name="left_knee" axis="0 1 0" range="-0.1 2.2"/>',
            '<joint name="left_knee" type="ball"/>',
            "left_knee",
        ),
        (
            "</actuator>",
            '</actuator><equality><connect body1="left_foot" body2="right_foot" anchor="0 0 0"/></equality>',
            "loop",
        ),
        ("</mujoco>", "", "MuJoCo can compile"),
    ],
)
def test_an_mjcf_that_cannot_be_used_is_refused_in_one_line(tmp_path, old, new, named):
    (tmp_path / "biped.xml").write_text(BIPED.replace(old, new))
    (tmp_path / "biped.yaml").write_text(BIPED_YAML)
    with pytest.raises(ConfigError, match=named) as error:
        registry.load(str(tmp_path / "biped.yaml"))
    assert "\n" not in str(error.value) and "biped.xml" in str(error.value)


def test_a_line_of_the_yaml_changes_of_an_mjcf_only_what_it_names(tmp_path):
    (tmp_path / "biped.xml").write_text(BIPED)
    yaml = BIPED_YAML.replace(
        "{velocity: 15}}", "{velocity: 15}, left_knee: {velocity: 20}, right_knee: {armature: 0.5}}"
    )
    (tmp_path / "biped.yaml").write_text(yaml)
    robot = registry.load(str(tmp_path / "biped.yaml"))
    left, right = (robot.joint_names.index(f"{side}_knee") for side in ("left", "right"))
    assert robot.velocity_limit[left] == 20.0 and robot.velocity_limit[right] == 15.0
    assert robot.armature[left] == 0.02 and robot.armature[right] == 0.5
    assert (robot.damping == 0.3).all() and (robot.friction == 0.1).all()


def test_an_mjcf_is_guessed_as_well_as_a_urdf(tmp_path):
    (tmp_path / "biped.xml").write_text(BIPED)
    text = guess(tmp_path / "biped.xml", tmp_path / "guessed.yaml")
    (tmp_path / "guessed.yaml").write_text(text)
    robot = registry.load(str(tmp_path / "guessed.yaml"))
    assert text.splitlines()[2] == "mjcf: biped.xml" and "armature" not in text  # it has that of the rotors
    assert [foot.frame for foot in robot.config.feet] == ["left_foot", "right_foot"] and robot.config.imu == "imu"
    assert np.ptp(robot.soles[0], axis=0)[:2] == pytest.approx([0.2, 0.1], abs=1e-3)
    assert (robot.armature == 0.02).all() and (robot.velocity_limit == 10.0).all()
    assert len(robot.groups["legs"]) == 12


def test_a_waist_that_both_legs_hang_from_belongs_to_the_trunk(tmp_path):
    waist = """<body name="hips"><joint name="waist" axis="0 0 1" range="-1 1" actuatorfrcrange="-90 90"/>
      <geom type="sphere" size="0.05" mass="3"/>"""
    legs = f"{leg('left', 1)}{leg('right', -1)}"
    (tmp_path / "biped.xml").write_text(BIPED.replace(legs, f"{waist}{legs}</body>"))
    (tmp_path / "guessed.yaml").write_text(guess(tmp_path / "biped.xml", tmp_path / "guessed.yaml"))
    robot = registry.load(str(tmp_path / "guessed.yaml"))
    assert [robot.joint_names[k] for k in robot.groups["torso"]] == ["waist"] and len(robot.groups["legs"]) == 12


def test_a_yaml_names_one_description(tmp_path):
    (tmp_path / "biped.yaml").write_text(BIPED_YAML + "urdf: biped.urdf\n")
    with pytest.raises(ConfigError, match="one of urdf and mjcf"):
        registry.load(str(tmp_path / "biped.yaml"))
