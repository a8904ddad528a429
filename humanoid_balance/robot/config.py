"""The YAML of a robot: what a URDF does not say. Every entry is checked when it is read.

An error names the file, the key, the value and what is allowed. The keys are explained in ``docs/robots.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from humanoid_balance.yaml_file import Reader, names_of, read


@dataclass(frozen=True)
class FootConfig:
    """A sole: a frame of the URDF, the sole plane in it, and the sole's rectangle on that plane [m].

    The sole frame is the URDF frame turned by ``rpy`` and lowered by ``z``: x forward, z up out of the ground. Without
    a rectangle the collision box of the frame's link is taken.
    """

    frame: str
    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    z: float = 0.0
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class JointConfig:
    """Properties of the joints that match a pattern; ``None`` keeps the URDF's value or the default."""

    torque: float | None = None  # [N m]
    velocity: float | None = None  # [rad/s]
    acceleration: float | None = None  # [rad/s²]
    range: tuple[float, float] | None = None  # [rad], inside the URDF's; self-collision safe
    armature: float | None = None  # rotor inertia seen at the joint [kg m²]
    damping: float | None = None  # viscous [N m s/rad]
    friction: float | None = None  # Coulomb [N m]
    weight: float | None = None  # A_theta of K3, dimensionless
    posture: float | None = None  # how dearly the joint leaves its posture, 1 = as all others
    stiffness: float | None = None  # on-board PD of an impedance drive [N m/rad]; 0 = pure torque drive
    drive_damping: float | None = None  # [N m s/rad]


@dataclass(frozen=True)
class Stance:
    """The nominal stance: distance between the soles and where the CoM stands over them, from their centre [m]."""

    width: float | None = None  # [m]; None keeps the posture's own
    com: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Gains:
    """Feedback in units of the body's pendulum, omega = sqrt(g / CoM height): one set fits every size of robot.

    A stiffness k means an acceleration of (k omega)² per unit of error, a damping ratio z means 2 z k omega.
    """

    height: float = 3.0  # CoM height
    height_damping: float = 1.0
    torso: float = 5.0
    torso_damping: float = 0.8
    posture: float = 4.0
    posture_damping: float = 0.8
    foot: float = 10.0  # swinging sole
    foot_damping: float = 1.0
    dcm: float = 1.5  # centre of pressure per DCM error
    flywheel: float = 1.6  # spin per metre that the caught DCM is outside the feet
    spin: float = 6.0  # how fast the spin follows, in omega
    turn_reach: float = 0.3  # largest turn, in CoM heights
    upright: float = 1.5  # how fast a turned body comes upright again, in omega


@dataclass(frozen=True)
class Estimation:
    """How the state is estimated."""

    foot_sensors: bool = True  # False: contact and wrench from joint torques by a momentum observer


@dataclass(frozen=True)
class RobotConfig:
    """All of ``config/robots/R.yaml``."""

    file: Path
    urdf: str
    torso: str
    imu: str
    feet: tuple[FootConfig, FootConfig]
    posture: Mapping[str, float]
    groups: Mapping[str, tuple[str, ...]]
    joints: Mapping[str, JointConfig]
    symmetry: tuple[tuple[str, str], ...] = ()
    locked: tuple[str, ...] = ()
    stance: Stance = field(default_factory=Stance)
    gains: Gains = field(default_factory=Gains)
    estimation: Estimation = field(default_factory=Estimation)
    friction: float = 0.4  # assumed between sole and ground


GROUPS = ("legs", "torso", "arms", "head", "hands")
URDF_FORMS = "'generate:human', 'example-robot-data:PATH' or a path beside this file"


def _foot(reader: Reader) -> FootConfig:
    rpy = reader.take("rpy", [0.0, 0.0, 0.0])
    if not isinstance(rpy, list) or len(rpy) != 3:
        raise reader.bad("rpy", rpy, "[roll, pitch, yaw]")
    roll, pitch, yaw = (reader.check_number("rpy", angle) for angle in rpy)
    z = reader.number("z", 0.0, -0.5, 0.5)
    foot = FootConfig(reader.text("frame"), reader.pair("x", None), reader.pair("y", None), z, (roll, pitch, yaw))
    if (foot.x is None) != (foot.y is None):
        raise reader.bad("x" if foot.x is None else "y", None, "both x and y, or neither")
    reader.done(names_of(FootConfig))
    return foot


def _joint(reader: Reader) -> JointConfig:
    entry = JointConfig(
        torque=reader.number("torque", None, 0.0, 2000.0),
        velocity=reader.number("velocity", None, 0.1, 100.0),
        acceleration=reader.number("acceleration", None, 1.0, 1e4),
        range=reader.pair("range", None),
        armature=reader.number("armature", None, 0.0, 10.0),
        damping=reader.number("damping", None, 0.0, 100.0),
        friction=reader.number("friction", None, 0.0, 100.0),
        weight=reader.number("weight", None, 1e-6, 1e3),
        posture=reader.number("posture", None, 1e-3, 1e3),
        stiffness=reader.number("stiffness", None, 0.0, 1e5),
        drive_damping=reader.number("drive_damping", None, 0.0, 1e4),
    )
    reader.done(names_of(JointConfig))
    return entry


def _gains(reader: Reader) -> Gains:
    values = {f.name: reader.number(f.name, f.default, 0.0, 100.0) for f in fields(Gains)}
    reader.done(names_of(Gains))
    return Gains(**values)


def load(file: Path) -> RobotConfig:
    """Read and check a robot's YAML."""
    reader = read(file)
    feet = reader.section("feet")
    left, right = _foot(feet.section("left")), _foot(feet.section("right"))
    feet.done("left, right")
    posture = reader.section("posture", {})
    groups = reader.section("groups", {})
    joints = reader.section("joints", {})
    stance = reader.section("stance", {})
    estimation = reader.section("estimation", {})
    symmetry = reader.take("symmetry", [])
    for pair in symmetry if isinstance(symmetry, list) else [symmetry]:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(p, str) for p in pair):
            raise reader.bad("symmetry", pair, "a list of [left joint, right joint]")
    config = RobotConfig(
        file=file,
        urdf=reader.text("urdf"),
        torso=reader.text("torso"),
        imu=reader.text("imu"),
        feet=(left, right),
        posture={k: posture.check_number(k, v, -2 * math.pi, 2 * math.pi) for k, v in posture.data.items()},
        groups={k: groups.names(k) for k in list(groups.data) if k in GROUPS},
        joints={k: _joint(joints.section(k)) for k in list(joints.data)},
        symmetry=tuple((a, b) for a, b in symmetry),
        locked=reader.names("locked"),
        stance=Stance(stance.number("width", None, 0.0, 2.0), stance.pair("com", (0.0, 0.0), ordered=False)),
        gains=_gains(reader.section("gains", {})),
        estimation=Estimation(estimation.flag("foot_sensors", True)),
        friction=reader.number("friction", 0.4, 0.05, 2.0),
    )
    groups.done(", ".join(GROUPS))
    stance.done(names_of(Stance))
    estimation.done(names_of(Estimation))
    reader.done(names_of(RobotConfig, ("file",)))
    return config
