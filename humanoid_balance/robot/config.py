"""The YAML of a robot: what a URDF does not say. Every entry is checked when it is read.

An error names the file, the key, the value and what is allowed. The keys are explained in ``docs/robots.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
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
class ContactConfig:
    """A surface beside the soles that may push on something: a rectangle on a link [m].

    Its frame is the URDF frame moved by ``xyz`` and turned by ``rpy``: x and y along the surface, z into the body.
    """

    frame: str
    x: tuple[float, float]
    y: tuple[float, float]
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    friction: float = 0.4


@dataclass(frozen=True)
class MotorConfig:
    """The motor of a joint, behind its gear; see ``actuation/motor.py``."""

    no_load: float  # speed at which it has no torque left [rad/s]
    torque: float | None = None  # peak, driving [N m]; None: the joint's torque limit
    braking: float | None = None  # peak, braking [N m]; None: as driving
    corner: float = 0.0  # speed up to which it has its peak torque [rad/s]
    friction: float = 0.0  # Coulomb, of rotor and gear [N m]
    damping: float = 0.0  # viscous, of rotor and gear [N m s/rad]


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
    motor: MotorConfig | None = None


# Kinds of drives that an option asks for instead of the file's. The gains of impedance drives come with each command;
# these hold the joint when none comes.
DRIVES = {
    "torque": JointConfig(stiffness=0.0, drive_damping=0.0),
    "impedance": JointConfig(stiffness=10.0, drive_damping=1.0),
}


@dataclass(frozen=True)
class StanceConfig:
    """The nominal stance: distance between the soles and where the CoM stands over them, from their centre [m]."""

    width: float | None = None  # [m]; None keeps the posture's own
    com: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class GainRange:
    """What a gain is, and between which values it does what it is for."""

    low: float
    high: float
    about: str  # with its unit in brackets


# Omega is 3 to 4 rad/s for bodies of 1.7 to 1.2 m. The velocity of the CoM is known with a bandwidth of 60 rad/s and a
# lag of a tick or two; feedback on it beyond some 40 rad/s, 10 omega, amplifies what it has caused itself. Joints and
# soles are known by encoders: 30 omega, 100 rad/s, is a thirtieth of what a loop of 500 Hz samples.
SEEN, ENCODED = 10.0, 30.0
RINGING, CREEPING = 0.2, 3.0  # damping ratios: half of an error comes back as overshoot; six times slower than it could


def _gain(default: float, low: float, high: float, about: str) -> float:
    declared: float = field(default=default, metadata={"range": GainRange(low, high, about)})
    return declared


def _damping(default: float, of: str) -> float:
    return _gain(default, RINGING, CREEPING, f"damping ratio of {of} [1]")


@dataclass(frozen=True)
class Gains:
    """Feedback in units of the body's pendulum, omega = sqrt(g / CoM height): one set fits every size of robot.

    A stiffness k means an acceleration of (k omega)² per unit of error, a damping ratio z means 2 z k omega. YAML, ROS
    parameters and docs have the ranges from here.
    """

    # Below half an omega the legs give way faster than they are straightened.
    height: float = _gain(3.0, 0.5, SEEN, "stiffness of the CoM height [omega]")
    height_damping: float = _damping(1.0, "the CoM height")
    torso: float = _gain(5.0, 0.0, ENCODED, "stiffness of the torso's orientation [omega]")  # 0: turns as it likes
    torso_damping: float = _damping(0.8, "the torso's orientation")
    # Without any posture the joints that no task holds drift; one as slow as the pendulum just keeps up with a sway.
    posture: float = _gain(4.0, 0.5, ENCODED, "stiffness of the posture of all joints [omega]")
    posture_damping: float = _damping(0.8, "the posture")
    foot: float = _gain(10.0, 1.0, ENCODED, "stiffness of a swinging sole [omega]")  # a swing takes 1.4 / omega at most
    foot_damping: float = _damping(1.0, "a swinging sole")
    # The DCM comes back with gain times omega; with none it stays where it is.
    dcm: float = _gain(1.5, 0.1, SEEN, "centre of pressure per DCM error [m/m]")
    # 0: the body is never turned. Up to 1 the caught DCM stays outside; at 5 a centimetre asks for all the reach.
    flywheel: float = _gain(1.6, 0.0, 5.0, "spin per distance of the caught DCM beyond the feet [m/m]")
    # Slower than the pendulum the spin is still there when the DCM is back.
    spin: float = _gain(6.0, 1.0, 20.0, "how fast the spin follows its wish [omega]")
    # 0: never turned. A ground force from beyond one CoM height would need a friction of 1.
    turn_reach: float = _gain(0.3, 0.0, 1.0, "largest distance between CMP and CoP [CoM heights]")
    # 0: stays bent. At 5 a lean of 3 deg asks for all the reach.
    upright: float = _gain(1.5, 0.0, 5.0, "how fast a turned body comes upright again [omega]")

    @staticmethod
    def ranges() -> dict[str, GainRange]:
        """By name of the gain."""
        return {f.name: f.metadata["range"] for f in fields(Gains)}


@dataclass(frozen=True)
class Steps:
    """How far, high and fast a leg steps: lengths in CoM heights h, times in sqrt(h / g), speeds in sqrt(g h)."""

    forward: float = 0.75  # furthest foothold ahead of the standing foot
    backward: float = 0.60  # and behind it: hips bend less that way
    aside: float = 0.85  # and beside it
    clearance: float = 0.045  # of a swinging sole; more where the ground is rough
    shortest: float = 0.5  # swing; the motors of hip and knee decide
    longest: float = 1.4  # swing; later the body has fallen too far
    walk: float = 0.2  # fastest walk that is obeyed, in sqrt(g h): what was tried; faster commands are clamped to it


@dataclass(frozen=True)
class Estimation:
    """How the state is estimated."""

    foot_sensors: bool = True  # False: contact and wrench from joint torques by a momentum observer


@dataclass(frozen=True)
class RobotConfig:
    """All of ``config/robots/R.yaml``."""

    file: Path
    urdf: str  # empty if the robot is described in MJCF
    torso: str
    imu: str
    feet: tuple[FootConfig, FootConfig]
    posture: Mapping[str, float]
    groups: Mapping[str, tuple[str, ...]]
    joints: Mapping[str, JointConfig]
    symmetry: tuple[tuple[str, str], ...] = ()
    locked: tuple[str, ...] = ()
    stance: StanceConfig = field(default_factory=StanceConfig)
    gains: Gains = field(default_factory=Gains)
    steps: Steps = field(default_factory=Steps)
    estimation: Estimation = field(default_factory=Estimation)
    friction: float = 0.4  # assumed between sole and ground
    contacts: Mapping[str, ContactConfig] = field(default_factory=dict)  # beside the soles
    actuation: str = "ideal"  # one of ACTUATIONS
    mjcf: str = ""
    strict: bool = False  # refuse a description that has to be repaired

    @property
    def source(self) -> tuple[str, str]:
        """Key and value that name the description of the body, for messages."""
        return ("mjcf", self.mjcf) if self.mjcf else ("urdf", self.urdf)

    def posture_of(self, joint: str) -> float:
        """Angle of a joint in the nominal posture; the last pattern that matches wins [rad]."""
        value = 0.0
        for pattern, angle in self.posture.items():
            if fnmatchcase(joint, pattern):
                value = angle
        return value


ACTUATIONS = ("ideal", "motor")
GROUPS = ("legs", "torso", "arms", "head", "hands")
URDF_FORMS = "'generate:human', 'generate:r2d', 'example-robot-data:PATH' or a path beside this file"


def _three(reader: Reader, key: str, what: str) -> tuple[float, float, float]:
    values = reader.take(key, [0.0, 0.0, 0.0])
    if not isinstance(values, list) or len(values) != 3:
        raise reader.bad(key, values, what)
    a, b, c = (reader.check_number(key, value) for value in values)
    return a, b, c


def _foot(reader: Reader) -> FootConfig:
    rpy = _three(reader, "rpy", "[roll, pitch, yaw]")
    z = reader.number("z", 0.0, -0.5, 0.5)
    foot = FootConfig(reader.text("frame"), reader.pair("x", None), reader.pair("y", None), z, rpy)
    if (foot.x is None) != (foot.y is None):
        raise reader.bad("x" if foot.x is None else "y", None, "both x and y, or neither")
    reader.done(names_of(FootConfig))
    return foot


def _contact(reader: Reader) -> ContactConfig:
    contact = ContactConfig(
        frame=reader.text("frame"),
        x=reader.pair("x"),
        y=reader.pair("y"),
        xyz=_three(reader, "xyz", "[x, y, z]"),
        rpy=_three(reader, "rpy", "[roll, pitch, yaw]"),
        friction=reader.number("friction", 0.4, 0.05, 2.0),
    )
    reader.done(names_of(ContactConfig))
    return contact


def _motor(reader: Reader) -> MotorConfig:
    corner = reader.number("corner", 0.0, 0.0, 1e3)
    no_load = reader.number("no_load", ..., 0.1, 1e3)
    if no_load <= corner:
        raise reader.bad("no_load", no_load, f"a speed above the corner's, {corner:g}")
    motor = MotorConfig(
        no_load=no_load,
        torque=reader.number("torque", None, 1e-3, 2000.0),
        braking=reader.number("braking", None, 1e-3, 2000.0),
        corner=corner,
        friction=reader.number("friction", 0.0, 0.0, 100.0),
        damping=reader.number("damping", 0.0, 0.0, 100.0),
    )
    reader.done(names_of(MotorConfig))
    return motor


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
        motor=_motor(reader.section("motor")) if "motor" in reader.data else None,
    )
    reader.done(names_of(JointConfig))
    return entry


def _steps(reader: Reader) -> Steps:
    ranges = {"clearance": (0.005, 0.3), "shortest": (0.2, 3.0), "longest": (0.3, 5.0), "walk": (0.01, 1.0)}
    values = {f.name: reader.number(f.name, f.default, *ranges.get(f.name, (0.1, 1.5))) for f in fields(Steps)}
    reader.done(names_of(Steps))
    if values["longest"] <= values["shortest"]:
        raise reader.bad("longest", values["longest"], f"more than shortest, {values['shortest']:g}")
    return Steps(**values)


def _gains(reader: Reader) -> Gains:
    ranges = Gains.ranges()
    values = {f.name: reader.number(f.name, f.default, ranges[f.name].low, ranges[f.name].high) for f in fields(Gains)}
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
    contacts = reader.section("contacts", {})
    estimation = reader.section("estimation", {})
    actuation = reader.text("actuation", "ideal")
    if actuation not in ACTUATIONS:
        raise reader.bad("actuation", actuation, ", ".join(ACTUATIONS))
    symmetry = reader.take("symmetry", [])
    for pair in symmetry if isinstance(symmetry, list) else [symmetry]:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(p, str) for p in pair):
            raise reader.bad("symmetry", pair, "a list of [left joint, right joint]")
    urdf, mjcf = reader.text("urdf", ""), reader.text("mjcf", "")
    if bool(urdf) == bool(mjcf):
        raise reader.bad("urdf", urdf or None, f"one of urdf and mjcf: {URDF_FORMS}")
    config = RobotConfig(
        file=file,
        urdf=urdf,
        mjcf=mjcf,
        strict=reader.flag("strict", False),
        torso=reader.text("torso"),
        imu=reader.text("imu"),
        feet=(left, right),
        posture={k: posture.check_number(k, v, -2 * math.pi, 2 * math.pi) for k, v in posture.data.items()},
        groups={k: groups.names(k) for k in list(groups.data) if k in GROUPS},
        joints={k: _joint(joints.section(k)) for k in list(joints.data)},
        symmetry=tuple((a, b) for a, b in symmetry),
        locked=reader.names("locked"),
        stance=StanceConfig(stance.number("width", None, 0.0, 2.0), stance.pair("com", (0.0, 0.0), ordered=False)),
        gains=_gains(reader.section("gains", {})),
        steps=_steps(reader.section("steps", {})),
        estimation=Estimation(estimation.flag("foot_sensors", True)),
        friction=reader.number("friction", 0.4, 0.05, 2.0),
        contacts={str(k): _contact(contacts.section(k)) for k in list(contacts.data)},
        actuation=actuation,
    )
    groups.done(", ".join(GROUPS))
    stance.done(names_of(StanceConfig))
    estimation.done(names_of(Estimation))
    reader.done(names_of(RobotConfig, ("file",)))
    return config
