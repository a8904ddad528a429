"""Robots as their makers write them: what MuJoCo or Pinocchio would refuse is repaired, and the user is told."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import trimesh
from robot.biped import BIPED, BIPED_YAML

from humanoid_balance.errors import ConfigError
from humanoid_balance.experiments.push import run
from humanoid_balance.plants.mujoco import model as simulated
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import World
from humanoid_balance.robot import inertia, meshes, registry
from humanoid_balance.stack import RunSettings

SIMPLE = """
urdf: example-robot-data:simple_humanoid_description/urdf/simple_humanoid.urdf
torso: torso
imu: torso
feet:
  left: {frame: l_ankle, x: [-0.16, 0.10], y: [-0.07, 0.07], z: -0.1}
  right: {frame: r_ankle, x: [-0.16, 0.10], y: [-0.07, 0.07], z: -0.1}
posture: {"*LEG_HIP_P": -0.2, "*LEG_KNEE": 0.1, "*LEG_ANKLE_P": 0.1, "*ARM_SHOULDER_R": 0.2, "*_ELBOW": -0.3}
locked: ["*WRIST*"]
joints: {"*": {armature: 0.01, damping: 0.2}, "*LEG*": {torque: 300}, "WAIST*": {torque: 200}, CHEST: {torque: 100}}
"""
ROMEO = """
urdf: example-robot-data:romeo_description/urdf/romeo.urdf
torso: torso
imu: torso
feet:
  left: {frame: l_sole, x: [-0.08, 0.15], y: [-0.05, 0.05]}
  right: {frame: r_sole, x: [-0.08, 0.15], y: [-0.05, 0.05]}
posture: {"*HipPitch": -0.3, "*KneePitch": 0.6, "*AnklePitch": -0.3}
locked: ["*Hand"]
"""
ICUB = """
urdf: example-robot-data:icub_description/robots/icub.urdf
torso: chest
imu: imu_frame
feet:
  left: {frame: l_sole, x: [-0.06, 0.13], y: [-0.04, 0.04]}
  right: {frame: r_sole, x: [-0.06, 0.13], y: [-0.04, 0.04]}
posture: {"*_hip_pitch": 0.3, "*_knee": -0.6, "*_ankle_pitch": -0.3, "*_elbow": 0.5, "*_shoulder_roll": 0.2}
joints: {"*": {velocity: 10, armature: 0.01, damping: 0.2}}
"""
FOREIGN = {"simple_humanoid": SIMPLE, "romeo": ROMEO, "icub": ICUB}


@pytest.fixture(scope="module", params=[*FOREIGN, "biped"])
def foreign(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "biped.xml").write_text(BIPED)
    file = folder / f"{request.param}.yaml"
    file.write_text(FOREIGN.get(request.param, BIPED_YAML))
    assert len(file.read_text().split("\n")) - 2 <= 15
    return str(file)


def pushed(file: str, directions: list[int], dv: float = 0.3, time: float | None = None) -> list[int]:
    """Directions from which a change of velocity [m/s] at 1 s is not recovered."""
    mass = registry.load(file).mass
    settings = RunSettings(robot=file, time=time)
    runs = {d: run(settings, [PushProfile(dv * mass / 0.1, 0.1, d, 1.0)]).result for d in directions}
    return [d for d, result in runs.items() if result["fell"] or result["recovery_time"] is None]


def test_both_libraries_see_the_same_body(foreign):
    robot = registry.load(foreign)
    model = simulated.build(robot, World())
    data = mujoco.MjData(model)
    x, y, z, w = robot.q_nominal[3:7]
    data.qpos[:7] = [*robot.q_nominal[:3], w, x, y, z]
    for name, angle in zip(robot.joint_names, robot.posture, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    gravity = pin.computeGeneralizedGravity(robot.model, robot.data, robot.q_nominal)[6:]
    dofs = [model.joint(name).dofadr[0] for name in robot.joint_names]
    assert np.abs(data.qfrc_bias[dofs] - gravity).max() < 1e-6 * robot.weight
    assert np.abs(data.subtree_com[1] - robot.com_nominal).max() < 1e-6


def test_a_foreign_robot_stands_and_holds_a_push_to_its_front_left(foreign):
    assert pushed(foreign, [45], time=3.0) == []


@pytest.mark.slow
def test_a_foreign_robot_stands_for_ten_seconds_and_holds_pushes_from_eight_sides(foreign):
    standing = run(RunSettings(robot=foreign, time=10.0), []).result
    assert not standing["fell"] and standing["steps"] == 0
    assert pushed(foreign, list(range(0, 360, 45))) == []


# ---- URDF ----

BROKEN = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.05"/>'


@pytest.fixture
def maker(tmp_path):
    """Writes the biped as a URDF, with something replaced, and its YAML; gives the YAML's path."""
    (tmp_path / "biped.xml").write_text(BIPED)
    (tmp_path / "biped.yaml").write_text(BIPED_YAML)
    urdf = registry.load(str(tmp_path / "biped.yaml")).urdf

    def write(change, extra: str = "") -> str:
        (tmp_path / "maker.urdf").write_text(change(urdf))
        file = tmp_path / "maker.yaml"
        file.write_text(BIPED_YAML.replace("mjcf: biped.xml", "urdf: maker.urdf") + extra)
        return str(file)

    return write


def with_inertia(urdf: str, link: str, tensor: str) -> str:
    before, _, after = urdf.partition(f'<link name="{link}">')
    head, _, rest = after.partition("<inertia ")
    return f'{before}<link name="{link}">{head}{tensor}{rest.partition("/>")[2]}'


def test_an_impossible_inertia_is_moved_to_the_nearest_possible_one_and_the_user_is_told(maker, capfd):
    file = maker(lambda urdf: with_inertia(urdf, "pelvis", BROKEN))
    simulated.build(registry.load(file), World())
    said = [line for line in capfd.readouterr().err.splitlines() if "inertia" in line]
    assert len(said) == 1 and "link 'pelvis'" in said[0] and "moved by" in said[0]


def test_a_strict_robot_refuses_what_would_have_to_be_repaired(maker):
    file = maker(lambda urdf: with_inertia(urdf, "pelvis", BROKEN), "strict: true\n")
    with pytest.raises(ConfigError, match=r"strict.*pelvis"):
        registry.load(file)


def test_a_strict_robot_that_needs_no_repair_is_loaded(maker):
    assert registry.load(maker(lambda urdf: urdf, "strict: true\n")).n == 12


def test_the_makers_own_mujoco_block_does_not_disturb(maker):
    block = '<mujoco><compiler meshdir="meshes" balanceinertia="true"/><option gravity="0 0 9"/></mujoco></robot>'
    model = simulated.build(registry.load(maker(lambda urdf: urdf.replace("</robot>", block))), World())
    assert model.opt.gravity[2] == -9.81


def test_a_joint_that_mimics_another_is_locked_where_its_leader_stands(maker, capfd):
    finger = """
      <link name="finger"><inertial><mass value="0.1"/>
        <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
      <joint name="finger" type="revolute"><parent link="pelvis"/><child link="finger"/><axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="left_knee" multiplier="0.5" offset="0.1"/>
      </joint></robot>"""
    robot = registry.load(maker(lambda urdf: urdf.replace("</robot>", finger)))
    assert "finger" in robot.locked and robot.n == 12
    assert robot.config.posture_of("finger") == pytest.approx(0.5 * 0.6 + 0.1)
    assert "1 joints that mimic others are locked: finger" in capfd.readouterr().err
    assert simulated.build(robot, World()).neq == 0


def test_an_ascii_stl_is_read_as_the_same_shape(tmp_path):
    box = trimesh.creation.box([0.1, 0.2, 0.3])
    file = tmp_path / "box.stl"
    file.write_text(box.export(file_type="stl_ascii"))
    assert not meshes.is_binary_stl(file)
    converted = meshes.readable(file)
    assert converted is not None and meshes.is_binary_stl(converted)
    assert trimesh.load(converted).volume == pytest.approx(0.006, rel=1e-5)
    assert meshes.readable(converted) == converted


def test_a_mesh_in_an_unknown_format_is_left_out(tmp_path):
    file = tmp_path / "shape.step"
    file.write_text("ISO-10303-21;")
    assert meshes.readable(file) is None


# ---- the nearest possible inertia ----


def test_the_repaired_inertia_is_possible_and_none_is_nearer():
    rng = np.random.default_rng(1)
    for _ in range(50):
        given = rng.normal(size=(3, 3)) * 0.01
        given += given.T
        mended = inertia.nearest(given, 1.0)
        assert inertia.is_possible(mended)
        distance = np.linalg.norm(mended - given)
        for _ in range(50):
            axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            second = rng.exponential(0.01, 3) + 1e-6
            other = axes @ np.diag(second.sum() - second) @ axes.T
            assert np.linalg.norm(other - given) >= distance - 1e-12


def test_a_possible_inertia_stays_as_it_is():
    rng = np.random.default_rng(2)
    for _ in range(50):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        second = rng.uniform(0.001, 0.01, 3)
        given = axes @ np.diag(second.sum() - second) @ axes.T
        assert inertia.is_possible(given)
        assert inertia.nearest(given, 1.0) == pytest.approx(given, abs=1e-12)
