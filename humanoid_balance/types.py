"""The data on the arrows of the loop, Plant -> Estimator -> Balance -> WholeBody -> Safety -> Plant, and the Command.

Conventions: SI units, radians, x forward, y left, z up. Feet and soles are indexed left = 0, right = 1. Joint vectors
follow ``Robot.joint_names``. A wrench is [force; moment]. "World" is gravity aligned, its origin is on the ground
between the feet where the estimator was started.

``Annotated[Array, 2, 3]`` declares a shape; messages, logs and records are laid out from these declarations (see
``layout.py``), so a field that is added here travels with all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Joints:
    """A dimension: one entry per joint, and ``more`` before them."""

    more: int = 0


@dataclass(frozen=True)
class UpTo:
    """A dimension of changing size."""

    most: int


PerJoint = Annotated[Array, Joints()]
Vector = Annotated[Array, 3]

LEFT, RIGHT = 0, 1
SOLES = ("l_sole", "r_sole")  # the names of the two soles wherever a contact is named: footholds, messages, logs
GRAVITY = 9.81  # [m/s²]
MIN_LOAD = 0.04  # smallest normal force of a sole that pushes, as a share of the weight: one without load slips away


@dataclass(frozen=True, slots=True)
class SensorFrame:
    """What the real robot has: encoders, motor torques, one IMU, two soles. A missing sample is NaN."""

    stamp: float  # time of the sample [s]
    position: PerJoint  # joint encoders [rad]
    velocity: PerJoint  # [rad/s]
    torque: PerJoint  # measured at the joint [N m]
    gyro: Vector  # angular velocity in the IMU frame [rad/s]
    acceleration: Vector  # specific force in the IMU frame [m/s²]; at rest it points up with 9.81
    wrench: Annotated[Array, 2, 6]  # of the ground on each foot, in and about the sole frame [N, N m]


@dataclass(frozen=True, slots=True)
class Push:
    """An external wrench on the body as the push observer sees it."""

    active: bool
    force: Vector  # present estimate, world [N]
    onset: float  # stamp at which the last push began [s]; NaN before the first
    direction: float  # horizontal direction of the impulse so far, about +z from +x [rad]
    impulse: float  # horizontal impulse since the onset [N s]
    height: float  # where it acts, above the ground [m]; NaN while unknown


@dataclass(frozen=True, slots=True)
class RobotState:
    """What the controller knows, from sensors alone."""

    stamp: float
    valid: bool  # False: no usable sample for too long, the safety box goes to damping
    faults: tuple[str, ...]  # named sensor faults that are present now
    q: Annotated[Array, Joints(7)]  # Pinocchio configuration: base position, base quaternion x y z w, joints
    v: Annotated[Array, Joints(6)]  # Pinocchio velocity: base linear and angular in the base frame, joints
    com: Vector  # world [m]
    com_velocity: Vector  # [m/s]
    com_acceleration: Vector  # [m/s²]
    angular_momentum: Vector  # about the CoM [kg m²/s]
    angular_momentum_rate: Vector  # [N m]
    dcm: Vector  # divergent component of motion, com + com_velocity / omega [m]
    omega: float  # pendulum frequency sqrt(g / height of the CoM above the ground) [1/s]
    sole_position: Annotated[Array, 2, 3]  # sole frames, world [m]
    sole_rotation: Annotated[Array, 2, 3, 3]
    sole_velocity: Annotated[Array, 2, 6]  # linear, angular, world axes
    contact: Annotated[Flags, 2]  # debounced
    contact_probability: Annotated[Array, 2]  # 0..1
    wrench: Annotated[Array, 2, 6]  # measured, in and about the sole frame
    cop: Annotated[Array, 2, 3]  # centre of pressure of each foot, world; NaN without contact
    zmp: Vector  # measured by the soles, world; NaN in flight
    zmp_model: Vector  # from accelerations and the model, no push
    zmp_push: Vector  # from the model with the push wrench
    fri: Vector  # foot-rotation indicator; equals the ZMP while the feet are still
    support: Annotated[Array, UpTo(8), 2]  # vertices of the support polygon, counter-clockwise, world x y
    ground_normal: Vector  # of the supporting soles
    ground_height: float  # of the plane through the soles below the CoM [m]
    push: Push


@dataclass(frozen=True, slots=True)
class Foothold:
    """Where a contact surface is set down, and when."""

    contact: str  # name of the surface: ``SOLES``, or another of the robot's contacts
    position: Array  # of its frame, world (3,) [m]
    rotation: Array  # (3, 3)
    stamp: float  # when it is down [s]


@dataclass(frozen=True, slots=True)
class Command:
    """What the operator or a planner wants now. The loop obeys it only while it is fresh, see ``loop.heeded``."""

    stamp: float  # in the time of the sensor frames [s]
    velocity: Array = field(default_factory=lambda: np.zeros(3))  # forward, left [m/s], turn [rad/s] (3,), heading axes
    gait: str = ""  # name of the gait to go with; empty: the usual one
    skill: str = ""  # name of a skill to begin; empty: none
    stance: str = ""  # name of the stance to stand in; empty: the nominal one
    footsteps: tuple[Foothold, ...] = ()  # to take instead of a velocity, the next first

    @property
    def still(self) -> bool:
        """Nothing is asked for but to stand where it stands."""
        return not (self.gait or self.skill or self.stance or self.footsteps or self.velocity.any())


STILL = Command(-math.inf)  # the default: stand where you stand


@dataclass(frozen=True, slots=True)
class FootReference:
    """Where a swinging sole should be: pose, twist and acceleration, world axes."""

    position: Vector  # [m]
    rotation: Annotated[Array, 3, 3]
    velocity: Annotated[Array, 6]  # linear, angular
    acceleration: Annotated[Array, 6]  # linear, angular


@dataclass(frozen=True, slots=True)
class HeelReference:
    """How far the heel of a standing sole is up, turned about the sole's front edge."""

    angle: float  # toes down against the ground [rad]
    rate: float  # [rad/s]
    acceleration: float  # [rad/s²]


@dataclass(frozen=True, slots=True)
class PlannedContact:
    """A surface beside the soles that may push on something: a hand on a rail, a knee on the ground."""

    name: str  # in ``robot.contacts``
    position: Array  # where the middle of the surface rests, world (3,) [m]
    normal: Array  # of what is touched, out of it and into the body, world unit vector (3,)
    load: tuple[float, float]  # smallest and largest normal force, as shares of the weight
    friction: float | None = None  # None: the surface's own
    flat: bool = False  # lies flat and takes moments, along its own z; otherwise a point that takes forces only


@dataclass(frozen=True, slots=True)
class TouchWrench:
    """What the planned contacts beside the soles do to the body, by the plan: nothing measures it."""

    wrench: Array  # force and moment about ``position``, world axes (k, 6) [N, N m]
    position: Array  # world (k, 3) [m]


@dataclass(frozen=True, slots=True)
class Stack:
    """Task names by level, first level strongest; a level acts in the null space of the ones before it.

    Known tasks: ``com`` (accelerations of the axes with weight), ``height`` (the vertical one alone), ``momentum``
    (rate of angular momentum about the CoM), ``torso`` (orientation), ``feet`` (swinging soles), ``posture`` (all
    joints), ``poise`` (the same with arms that leave it less easily), ``kudoh`` (A_theta-weighted joint accelerations,
    stay tall, symmetry). Torque and force regularisation is always part of the last level.
    """

    name: str
    levels: tuple[tuple[str, ...], ...]
    soft: bool = False  # where inequalities bind, all levels but the first give way together, not from the last one on


@dataclass(frozen=True, slots=True)
class BodyReference:
    """What a mode wants of the body as a whole; the whole-body QP finds the torques."""

    stamp: float
    mode: str
    stack: Stack
    contact: Annotated[Flags, 2]  # soles that may push on the ground
    load_max: Annotated[Array, 2]  # largest normal force of each sole as a share of the weight; ramps load on and off
    com_acceleration: Vector  # feedback included, world [m/s²]
    com_weight: Vector  # weight of each axis inside its level; 0 leaves the axis free
    angular_momentum_rate: Vector  # wanted about the CoM, world [N m]
    momentum_weight: Vector
    torso_rotation: Annotated[Array, 3, 3]  # wanted
    torso_velocity: Vector  # wanted angular velocity, world [rad/s]
    feet: tuple[FootReference | None, FootReference | None]
    posture: PerJoint  # wanted joint positions [rad]
    posture_velocity: PerJoint  # [rad/s]
    posture_acceleration: PerJoint  # feed-forward [rad/s²]
    zmp_margin: float  # the support polygon is shrunk by this [m]
    height_weight: float = 1.0  # weight of com_acceleration[2] in the task ``height``
    footholds: tuple[Foothold, ...] = ()  # planned, the next first
    touches: tuple[PlannedContact, ...] = ()  # planned contacts beside the soles, made and held now
    heels: tuple[HeelReference | None, HeelReference | None] = (None, None)  # of soles that roll over their front edge


@dataclass(frozen=True, slots=True)
class JointReference:
    """What a mode wants of each joint: tau = torque + M q_dd + stiffness (position - q) + damping (velocity - q_d).

    For controllers that are joint feedback by nature: finite-state gaits, optimised skills, motion tracking. The drives
    execute the feedback where they have one of their own; M is the mass matrix of the joints with the base held.
    """

    stamp: float
    mode: str
    position: PerJoint  # [rad]
    velocity: PerJoint  # [rad/s]
    acceleration: PerJoint  # feed-forward [rad/s²]
    stiffness: PerJoint  # [N m/rad]
    damping: PerJoint  # [N m s/rad]
    torque: PerJoint  # feed-forward [N m]
    footholds: tuple[Foothold, ...] = ()  # planned, the next first
    yielding: bool = False  # a planned fall: joints give way, the ground may throw them about


Reference = BodyReference | JointReference


@dataclass(frozen=True, slots=True)
class TorqueCommand:
    """What a drive executes: torque + stiffness (position - q) + damping (velocity - qd), then its own limit.

    Pure torque drives get zero stiffness and damping.
    """

    stamp: float  # stamp of the sensor frame this answers [s]
    torque: PerJoint  # [N m]
    position: PerJoint  # [rad]
    velocity: PerJoint  # [rad/s]
    stiffness: PerJoint  # [N m/rad]
    damping: PerJoint  # [N m s/rad]
    damped: bool = field(default=False)  # True: this is the safety box's damping, not a controller's wish
    yielding: bool = False  # True: a planned fall; a joint that the ground throws about is braked and is not a fault

    @staticmethod
    def damp(stamp: float, damping: Array) -> TorqueCommand:
        """The command that brakes every joint: zero torque, zero velocity wanted."""
        zero = np.zeros(damping.shape)
        return TorqueCommand(stamp, zero, zero, zero, zero, damping, True)
