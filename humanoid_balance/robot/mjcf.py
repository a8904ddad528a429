"""A robot in MJCF, MuJoCo's own format, as a URDF.

MuJoCo compiles the file, with its defaults, includes and meshes, and the compiled bodies, joints, sites and geoms are
written down as links. So every room sees the same robot as if its maker had given a URDF. What a URDF cannot say, rotor
inertia and friction of the joints, goes into the robot's settings, where the YAML may change it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import trimesh

from humanoid_balance.errors import ConfigError
from humanoid_balance.robot import meshes
from humanoid_balance.robot.config import JointConfig, RobotConfig
from humanoid_balance.robot.repair import AXES, placed, words
from humanoid_balance.types import Array

FREE, HINGE, SLIDE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("FREE", "HINGE", "SLIDE"))
BOX, SPHERE, CYLINDER, CAPSULE, ELLIPSOID, MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"))
    for kind in ("BOX", "SPHERE", "CYLINDER", "CAPSULE", "ELLIPSOID", "MESH")
)
UNLIMITED = 2 * np.pi  # range of a joint without limits [rad]


def convert(path: Path, config: RobotConfig) -> tuple[str, RobotConfig]:
    """The URDF of the robot in an MJCF file, and the settings with the file's rotor inertias and friction."""
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        what = " ".join(str(error).split())
        raise ConfigError(config.file, *config.source, f"an MJCF that MuJoCo can compile ({what})") from None
    writer = _Writer(model, config)
    writer.write()
    return ET.tostring(writer.robot, encoding="unicode"), writer.settings()


class _Writer:
    def __init__(self, model: mujoco.MjModel, config: RobotConfig) -> None:
        self.model, self.config = model, config
        self.robot = ET.Element("robot", name=config.file.stem)
        self.names: set[str] = set()
        self.joints: dict[str, JointConfig] = {}
        self.root = self._root()
        self.bodies = [b for b in range(model.nbody) if model.body_rootid[b] == self.root]

    def _root(self) -> int:
        """The body with the free joint; without one the first that hangs in the world."""
        model = self.model
        for j in range(model.njnt):
            if model.jnt_type[j] == FREE:
                return int(model.jnt_bodyid[j])
        if model.nbody < 2:
            raise ConfigError(self.config.file, *self.config.source, "a robot; the file has no body")
        return 1

    def write(self) -> None:
        links = {body: self._name(mujoco.mjtObj.mjOBJ_BODY, body) for body in self.bodies}
        self.names = set(links.values())
        for body, link in links.items():
            if body != self.root:
                self._joints(body, links[int(self.model.body_parentid[body])], link)
            self._link(body, link)
        for site in range(self.model.nsite):
            body = int(self.model.site_bodyid[site])
            if body in links and self.model.site(site).name:
                self._site(site, links[body])
        self._mimics()

    def _name(self, kind: mujoco.mjtObj, number: int) -> str:
        return mujoco.mj_id2name(self.model, kind, number) or f"{kind.name[6:].lower()}_{number}"

    # ---- links ----

    def _link(self, body: int, name: str) -> None:
        model = self.model
        link = ET.SubElement(self.robot, "link", name=name)
        mass = float(model.body_mass[body])
        if mass > 0.0:
            inertial = ET.SubElement(link, "inertial")
            principal = _place(model.body_ipos[body], model.body_iquat[body])
            placed(inertial, pin.SE3(np.eye(3), principal.translation))
            ET.SubElement(inertial, "mass", value=repr(mass))
            tensor = principal.rotation @ np.diag(model.body_inertia[body]) @ principal.rotation.T
            ET.SubElement(inertial, "inertia", {key: repr(float(tensor[i, j])) for i, j, key in AXES})
        first = model.body_geomadr[body]
        for geom in range(first, first + model.body_geomnum[body]):
            self._geom(link, geom)

    def _geom(self, link: ET.Element, geom: int) -> None:
        """A geom that can touch becomes a collision shape, any other a visual one."""
        model = self.model
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        place = _place(model.geom_pos[geom], model.geom_quat[geom])
        size, kind = model.geom_size[geom], model.geom_type[geom]
        shapes: list[tuple[pin.SE3, str, dict[str, str]]] = []
        if kind in (BOX, ELLIPSOID):
            shapes = [(place, "box", {"size": words(2 * size)})]
        elif kind == SPHERE:
            shapes = [(place, "sphere", {"radius": words(size[:1])})]
        elif kind in (CYLINDER, CAPSULE):
            shapes = [(place, "cylinder", {"radius": words(size[:1]), "length": words(2 * size[1:2])})]
            if kind == CAPSULE:
                ends = (pin.SE3(np.eye(3), np.array([0.0, 0.0, s * size[1]])) for s in (-1, 1))
                shapes += [(place * end, "sphere", {"radius": words(size[:1])}) for end in ends]
        elif kind == MESH:
            shapes = [(place, "mesh", {"filename": str(self._mesh(int(model.geom_dataid[geom])))})]
        for at, shape, attributes in shapes:
            part = placed(ET.SubElement(link, "collision" if touches else "visual"), at)
            ET.SubElement(ET.SubElement(part, "geometry"), shape, attributes)
            if not touches:
                material = model.geom_matid[geom]
                rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
                ET.SubElement(ET.SubElement(part, "material", name=f"geom_{geom}"), "color", rgba=words(rgba))

    def _mesh(self, mesh: int) -> Path:
        model = self.model
        vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
        faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
        return meshes.keep(trimesh.Trimesh(vertices, faces, process=False))

    def _site(self, site: int, parent: str) -> None:
        """A frame of that name, such as the one of an IMU."""
        name = self.model.site(site).name
        name = name if name not in self.names else f"{name}_site"
        self.names.add(name)
        ET.SubElement(self.robot, "link", name=name)
        self._join(
            f"{name}_fixed", "fixed", parent, name, _place(self.model.site_pos[site], self.model.site_quat[site])
        )

    # ---- joints ----

    def _join(self, name: str, kind: str, parent: str, child: str, place: pin.SE3) -> ET.Element:
        joint = placed(ET.SubElement(self.robot, "joint", name=name, type=kind), place)
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=child)
        return joint

    def _joints(self, body: int, parent: str, link: str) -> None:
        """Joints of a body turn one after the other, each about its own anchor."""
        model = self.model
        place = _place(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for j in range(first, first + count):
            name = self._name(mujoco.mjtObj.mjOBJ_JOINT, j)
            if model.jnt_type[j] not in (HINGE, SLIDE):
                raise ConfigError(self.config.file, *self.config.source, f"hinges and slides only; '{name}' is neither")
            anchor = pin.SE3(np.eye(3), model.jnt_pos[j].copy())
            last = j == first + count - 1 and not model.jnt_pos[j].any()
            child = link if last else f"{name}_frame"
            if not last:
                ET.SubElement(self.robot, "link", name=child)
            kind = "revolute" if model.jnt_type[j] == HINGE else "prismatic"
            joint = self._join(name, kind, parent, child, place * anchor)
            ET.SubElement(joint, "axis", xyz=words(model.jnt_axis[j]))
            self._limits(joint, j, name)
            parent, place = child, anchor.inverse()
        if parent != link:
            self._join(f"{link}_fixed", "fixed", parent, link, place)

    def _limits(self, joint: ET.Element, j: int, name: str) -> None:
        model = self.model
        zero = model.qpos0[model.jnt_qposadr[j]]  # what MuJoCo calls ref: a URDF counts from the drawn position
        low, high = model.jnt_range[j] - zero if model.jnt_limited[j] else (-UNLIMITED, UNLIMITED)
        ET.SubElement(
            joint, "limit", lower=repr(float(low)), upper=repr(float(high)), effort=repr(self._effort(j)), velocity="0"
        )
        dof = model.jnt_dofadr[j]
        armature, damping, friction = (
            float(np.ravel(values[dof])[0])
            for values in (model.dof_armature, model.dof_damping, model.dof_frictionloss)
        )
        self.joints[name] = JointConfig(armature=armature, damping=damping, friction=friction)

    def _effort(self, j: int) -> float:
        """Largest torque of a joint by its own limit, or by that of its motor; 0 if the file gives none [N m]."""
        model = self.model
        if model.jnt_actfrclimited[j]:
            return float(model.jnt_actfrcrange[j, 1])
        for a in range(model.nu):
            if model.actuator_trntype[a] == int(mujoco.mjtTrn.mjTRN_JOINT) and model.actuator_trnid[a, 0] == j:
                gear = abs(float(model.actuator_gear[a, 0]))
                if model.actuator_forcelimited[a]:
                    return gear * float(model.actuator_forcerange[a, 1])
                if model.actuator_ctrllimited[a] and model.actuator_biastype[a] == int(mujoco.mjtBias.mjBIAS_NONE):
                    return gear * float(model.actuator_ctrlrange[a, 1] * model.actuator_gainprm[a, 0])
        return 0.0

    def _mimics(self) -> None:
        """Joints coupled to others become mimic joints; loops of bodies cannot be written as a tree."""
        model = self.model
        for e in range(model.neq):
            if not model.eq_active0[e]:
                continue
            if model.eq_type[e] != int(mujoco.mjtEq.mjEQ_JOINT):
                raise ConfigError(
                    self.config.file, *self.config.source, "a tree of bodies; the file closes a loop with an equality"
                )
            follower, leader = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            name = self._name(mujoco.mjtObj.mjOBJ_JOINT, follower)
            joint = self.robot.find(f"./joint[@name='{name}']")
            if joint is not None and leader >= 0:
                offset, multiplier = (repr(float(c)) for c in model.eq_data[e, :2])
                of = self._name(mujoco.mjtObj.mjOBJ_JOINT, leader)
                ET.SubElement(joint, "mimic", joint=of, multiplier=multiplier, offset=offset)

    def settings(self) -> RobotConfig:
        """The YAML has the last word on every joint."""
        given = {_exactly(name): joint for name, joint in self.joints.items()}
        return replace(self.config, joints={**given, **self.config.joints})


def _exactly(name: str) -> str:
    """A pattern for one joint that no YAML writes: under its plain name the YAML's line would take the file's place."""
    return f"[{name[0]}]{name[1:]}"


def _place(position: Array, quaternion: Array) -> pin.SE3:
    w, x, y, z = (float(c) for c in quaternion)
    return pin.SE3(pin.Quaternion(w, x, y, z).normalized().toRotationMatrix(), np.array(position, dtype=float))
