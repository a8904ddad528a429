"""A robot's URDF as a MuJoCo model: floating base, ground, sole boxes, motors and sensors.

MuJoCo parses the URDF itself, so masses and kinematics are checked by two independent libraries.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pinocchio as pin

from humanoid_balance.errors import ConfigError
from humanoid_balance.plants.terrain import Terrain, cart_of, terrain
from humanoid_balance.plants.urdf_shapes import resolve_mesh, rigid_with
from humanoid_balance.plants.world import Fixture, World
from humanoid_balance.robot import meshes
from humanoid_balance.robot.model import SOLE_NAMES, Robot
from humanoid_balance.robot.surface import Surface

MASSLESS = 1e-9  # given to links without mass, which MuJoCo does not accept on moving bodies [kg, kg m²]
SOLE_THICKNESS = 0.01  # [m]
_SLIDE, _HINGE = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
# Name, kind and world axis of the joints that a robot on a boom has instead of a free one.
BOOM = (("boom_x", _SLIDE, (1, 0, 0)), ("boom_z", _SLIDE, (0, 0, 1)), ("boom_pitch", _HINGE, (0, 1, 0)))
# Who touches whom: the ground touches all; the two legs touch each other.
GROUND, LEFT_LEG, RIGHT_LEG, BODY = 1, 2, 4, 8


def build(robot: Robot, world: World) -> mujoco.MjModel:
    """Compile the simulation model of a robot in a world."""
    try:
        return _compile(robot, world)
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        what = " ".join(str(error).split())
        raise ConfigError(robot.config.file, *robot.config.source, f"what MuJoCo can simulate ({what})") from None


def _compile(robot: Robot, world: World) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(_prepared_urdf(robot, world.visual))
    spec.option.timestep = world.step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0  # hard friction: feet that hold do not creep
    spec.compiler.discardvisual = not world.visual
    spec.compiler.fusestatic = False
    _scale_masses(spec, robot)
    _lock_joints(spec, robot)
    _add_base(spec, world.planar)
    _set_joints(spec, robot)
    _set_contacts(spec, robot, world.ground == "springs")
    ground = terrain(world, robot)
    _add_ground(spec, world, ground)
    for fixture in (*ground.boxes, *world.fixtures):
        _add_fixture(spec, fixture)
    if world.ground == "cart":
        _add_cart(spec, robot)
    for side in range(2):
        _add_sole(spec, robot, side, world)
    for surface in robot.contacts[2:]:
        _add_pad(spec, robot, surface)
    if world.payload:
        torso = spec.body(robot.config.torso)
        load = torso.add_body(name="payload", pos=torso.ipos)
        load.mass, load.inertia, load.explicitinertial = world.payload, [1e-3 * world.payload] * 3, True
    _add_sensors(spec, robot)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 720
    return spec.compile()


def _prepared_urdf(robot: Robot, visual: bool) -> str:
    """Drop what MuJoCo does not need and resolve mesh addresses."""
    root = ET.fromstring(robot.urdf)
    feet = set().union(*(rigid_with(root, foot.frame) for foot in robot.config.feet))  # the sole boxes replace these
    for link in root.findall("link"):
        for kind in ("visual", "collision"):
            for k, part in enumerate(link.findall(kind)):
                part.set("name", f"{link.get('name')}_{kind}_{k}")  # MuJoCo 3 warns of every shape without a name
                mesh = part.find("geometry/mesh")
                if (kind == "visual" and not visual) or (kind == "collision" and link.get("name") in feet):
                    link.remove(part)
                elif mesh is not None:
                    file = meshes.readable(resolve_mesh(robot, mesh.attrib["filename"]))
                    if file is not None:
                        mesh.set("filename", str(file))
                    else:
                        link.remove(part)
    for block in root.findall("mujoco"):  # the maker's; the world's physics is ours
        root.remove(block)
    extension = ET.SubElement(root, "mujoco")
    ET.SubElement(extension, "compiler", strippath="false", discardvisual="false", fusestatic="false")
    return ET.tostring(root, encoding="unicode")


def _scale_masses(spec: mujoco.MjSpec, robot: Robot) -> None:
    for body in spec.bodies[1:]:
        body.mass = body.mass * robot.mass_scale
        body.inertia = np.array(body.inertia) * robot.mass_scale
        body.fullinertia = np.array(body.fullinertia) * robot.mass_scale


def _lock_joints(spec: mujoco.MjSpec, robot: Robot) -> None:
    """A locked joint becomes a weld at its posture."""
    for name in robot.locked:
        joint = spec.joint(name)
        if joint is None:
            continue
        body, angle = joint.parent, robot.config.posture_of(name)
        turn = pin.SE3(pin.Quaternion(pin.AngleAxis(angle, np.array(joint.axis)).toRotationMatrix()), np.zeros(3))
        w, x, y, z = body.quat
        rotation = pin.Quaternion(w, x, y, z).toRotationMatrix() @ turn.rotation
        q = pin.Quaternion(rotation)
        body.quat = [q.w, q.x, q.y, q.z]
        if hasattr(spec, "delete"):
            spec.delete(joint)
        else:  # MuJoCo 3.3.0
            joint.delete()


def _add_base(spec: mujoco.MjSpec, planar: bool) -> None:
    """A free joint, or the three joints of a boom, about the pose of the base body in the model."""
    base = spec.worldbody.first_body()
    if planar:
        for name, kind, axis in BOOM:
            base.add_joint(name=name, type=kind, axis=axis)
    else:
        base.add_freejoint(name="base")
    base.pos, base.quat = [0, 0, 0], [1, 0, 0, 0]
    for body in spec.bodies[1:]:
        if body.joints and body.mass < MASSLESS:
            body.mass, body.inertia, body.explicitinertial = MASSLESS, [MASSLESS] * 3, True


def _set_joints(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Motors, rotor inertia and friction, in the order of the controller."""
    for i, name in enumerate(robot.joint_names):
        joint = spec.joint(name)
        joint.armature, joint.frictionloss = robot.armature[i], robot.friction[i]
        joint.damping = robot.damping[i] if np.ndim(joint.damping) == 0 else [robot.damping[i], 0.0, 0.0]  # linear only
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE  # the URDF's effort; the YAML may allow more
        spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)  # a motor of gain 1


def _set_contacts(spec: mujoco.MjSpec, robot: Robot, soft: bool) -> None:
    """Every link touches the ground; a leg also touches the other leg, but for those of a planar body.

    On springs legs pass through each other, as in the thesis that this ground is from: it knows penalty forces of the
    ground and nothing else.
    """
    legs = {LEFT_LEG: _chain(spec, robot, 0), RIGHT_LEG: _chain(spec, robot, 1)}
    for geom in spec.geoms:
        body = geom.parent.name
        shared = body in legs[LEFT_LEG] and body in legs[RIGHT_LEG]
        kind = next((k for k, names in legs.items() if body in names and not shared), BODY)
        if geom.contype or geom.conaffinity:
            apart = kind == RIGHT_LEG and not robot.planar and not soft
            geom.contype, geom.conaffinity = kind, GROUND | (LEFT_LEG if apart else 0)
            geom.condim = 3


def _chain(spec: mujoco.MjSpec, robot: Robot, side: int) -> set[str]:
    """Links from a foot up to the base."""
    names, body = set(), spec.body(robot.config.feet[side].frame)
    while body is not None and body.name != "world":
        names.add(body.name)
        body = body.parent
    return names


def _add_ground(spec: mujoco.MjSpec, world: World, ground: Terrain) -> None:
    half = -ground.slope / 2  # turning about -y lifts the ground in front
    spec.worldbody.add_geom(
        name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20, 20, 0.1], pos=[0, 0, ground.floor],
        quat=[math.cos(half), 0, math.sin(half), 0], contype=GROUND, conaffinity=0, condim=3,
        friction=[world.friction, 0.005, 0.0001], priority=1,
        solref=[0.01, 1.0], solimp=[0.95, 0.99, 0.001, 0.5, 2], material="ground",
    )  # fmt: skip
    spec.add_texture(
        name="grid",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.86, 0.88, 0.90],
        rgb2=[0.78, 0.80, 0.83],
        width=256,
        height=256,
    )
    textures = [""] * mujoco.mjtTextureRole.mjNTEXROLE
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "grid"
    spec.add_material(name="ground", textures=textures, texrepeat=[20, 20], reflectance=0.05)
    spec.worldbody.add_light(pos=[1, 2, 4], dir=[-0.25, -0.5, -1], diffuse=[0.7, 0.7, 0.7], castshadow=True)


def _add_fixture(spec: mujoco.MjSpec, fixture: Fixture) -> None:
    q = pin.Quaternion(pin.rpy.rpyToMatrix(*fixture.rpy))
    spec.worldbody.add_geom(
        name=fixture.name, type=mujoco.mjtGeom.mjGEOM_BOX, pos=fixture.position, size=[s / 2 for s in fixture.size],
        quat=[q.w, q.x, q.y, q.z], contype=GROUND, conaffinity=0, condim=3,
        friction=[fixture.friction, 0.005, 0.0001], priority=1,
        solref=[0.01, 1.0], solimp=[0.95, 0.99, 0.001, 0.5, 2], rgba=[0.5, 0.45, 0.4, 1],
    )  # fmt: skip


def _add_cart(spec: mujoco.MjSpec, robot: Robot) -> None:
    """On four castors without friction; it touches the ground and the body."""
    cart = cart_of(robot)
    body = spec.worldbody.add_body(name="cart", pos=[cart.ahead, 0, 0])
    body.add_freejoint(name="cart")
    body.mass, body.inertia, body.explicitinertial = cart.mass, cart.inertia, True
    body.ipos = [0, 0, cart.height / 2]
    (length, width, high), kinds = cart.box, mujoco.mjtGeom
    touches = LEFT_LEG | RIGHT_LEG | BODY
    body.add_geom(
        name="cart", type=kinds.mjGEOM_BOX, pos=[0, 0, cart.height / 2 + cart.castor], mass=0.0, condim=3,
        size=[length / 2, width / 2, high / 2], contype=GROUND, conaffinity=touches, friction=[0.5, 0.005, 0.0001],
        rgba=[0.55, 0.5, 0.42, 1],
    )  # fmt: skip
    for k, (x, y) in enumerate(cart.castors):
        body.add_geom(
            name=f"castor_{k}", type=kinds.mjGEOM_SPHERE, pos=[x, y, cart.castor], size=[cart.castor, 0, 0], mass=0.0,
            condim=1, contype=0, conaffinity=GROUND, priority=2, solref=[0.01, 1.0], rgba=[0.2, 0.2, 0.2, 1],
        )  # fmt: skip


def _add_sole(spec: mujoco.MjSpec, robot: Robot, side: int, world: World) -> None:
    """A massless child of the foot with the contact box: the force sensor between them reads the ground's wrench.

    On springs the box touches nothing: the plant pushes.
    """
    foot = robot.config.feet[side]
    q = pin.Quaternion(pin.rpy.rpyToMatrix(*foot.rpy))
    name, other_leg = SOLE_NAMES[side], LEFT_LEG if side and not robot.planar else 0
    touches = 0 if world.ground == "springs" else GROUND | other_leg
    sole = spec.body(foot.frame).add_body(name=name, pos=[0, 0, foot.z], quat=[q.w, q.x, q.y, q.z])
    low, high = robot.soles[side].min(axis=0), robot.soles[side].max(axis=0)
    centre, size = (low + high) / 2, (high - low) / 2
    sole.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[size[0], size[1], SOLE_THICKNESS / 2],
        pos=[centre[0], centre[1], SOLE_THICKNESS / 2], mass=0.0, condim=3,
        contype=(LEFT_LEG, RIGHT_LEG)[side], conaffinity=touches, rgba=[0.25, 0.25, 0.28, 1],
    )  # fmt: skip
    sole.add_site(name=name)


def _add_pad(spec: mujoco.MjSpec, robot: Robot, surface: Surface) -> None:
    """The shape of a contact beside the soles: a thin box on its link, without mass and without sensor."""
    link = robot.config.contacts[surface.name].frame
    place = robot.model.frames[robot.model.getFrameId(link)].placement.actInv(surface.placement)
    q, (x, y, _) = pin.Quaternion(place.rotation), np.ptp(surface.corners, axis=0) / 2
    centre = place.act(np.array([0.0, 0.0, SOLE_THICKNESS / 2]))
    spec.body(link).add_geom(
        name=surface.name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[x, y, SOLE_THICKNESS / 2], pos=centre,
        quat=[q.w, q.x, q.y, q.z], mass=0.0, condim=3, contype=BODY, conaffinity=GROUND, rgba=[0.25, 0.25, 0.28, 1],
    )  # fmt: skip


def _add_sensors(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Order: encoders, joint speeds, motor torques, gyro, accelerometer, left and right sole wrench, then truth."""
    kinds, objects = mujoco.mjtSensor, mujoco.mjtObj
    for kind, of in (
        (kinds.mjSENS_JOINTPOS, objects.mjOBJ_JOINT),
        (kinds.mjSENS_JOINTVEL, objects.mjOBJ_JOINT),
        (kinds.mjSENS_ACTUATORFRC, objects.mjOBJ_ACTUATOR),
    ):
        for name in robot.joint_names:
            spec.add_sensor(type=kind, objtype=of, objname=name)
    imu = robot.model.frames[robot.imu_frame]
    holder = spec.body(robot.config.imu)
    if holder is None:
        raise ConfigError(robot.config.file, "imu", robot.config.imu, f"a link of the URDF, like {imu.name}")
    holder.add_site(name="imu")
    for kind in (kinds.mjSENS_GYRO, kinds.mjSENS_ACCELEROMETER):
        spec.add_sensor(type=kind, objtype=objects.mjOBJ_SITE, objname="imu")
    for name in SOLE_NAMES:
        for kind in (kinds.mjSENS_FORCE, kinds.mjSENS_TORQUE):
            spec.add_sensor(type=kind, objtype=objects.mjOBJ_SITE, objname=name)
    root = spec.worldbody.first_body().name
    for kind in (kinds.mjSENS_SUBTREELINVEL, kinds.mjSENS_SUBTREEANGMOM):
        spec.add_sensor(type=kind, objtype=objects.mjOBJ_BODY, objname=root)
