"""The data on the arrows of the loop, Plant -> Estimator -> Balance -> WholeBody -> Safety -> Plant.

Conventions: SI units, radians, x forward, y left, z up. Feet and soles are indexed left = 0, right = 1. Joint vectors
follow ``Robot.joint_names``. A wrench is [force; moment]. "World" is gravity aligned, its origin is on the ground
between the feet where the estimator was started.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEFT, RIGHT = 0, 1
GRAVITY = 9.81  # [m/s²]


@dataclass(frozen=True, slots=True)
class SensorFrame:
    """What the real robot has: encoders, motor torques, one IMU, two soles. A missing sample is NaN."""

    stamp: float  # time of the sample [s]
    position: Array  # joint encoders (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    torque: Array  # measured at the joint (n,) [N m]
    gyro: Array  # angular velocity in the IMU frame (3,) [rad/s]
    acceleration: Array  # specific force in the IMU frame (3,) [m/s²]; at rest it points up with 9.81
    wrench: Array  # of the ground on each foot, in and about the sole frame (2, 6) [N, N m]


@dataclass(frozen=True, slots=True)
class Push:
    """An external wrench on the body as the push observer sees it."""

    active: bool
    force: Array  # present estimate, world (3,) [N]
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
    q: Array  # Pinocchio configuration: base position, base quaternion x y z w, joints (7 + n,)
    v: Array  # Pinocchio velocity: base linear and angular in the base frame, joints (6 + n,)
    com: Array  # world (3,) [m]
    com_velocity: Array  # (3,) [m/s]
    com_acceleration: Array  # (3,) [m/s²]
    angular_momentum: Array  # about the CoM (3,) [kg m²/s]
    angular_momentum_rate: Array  # (3,) [N m]
    dcm: Array  # divergent component of motion, com + com_velocity / omega (3,) [m]
    omega: float  # pendulum frequency sqrt(g / height of the CoM above the ground) [1/s]
    sole_position: Array  # sole frames, world (2, 3) [m]
    sole_rotation: Array  # (2, 3, 3)
    sole_velocity: Array  # linear, angular, world axes (2, 6)
    contact: Flags  # debounced (2,)
    contact_probability: Array  # (2,) 0..1
    wrench: Array  # measured, in and about the sole frame (2, 6)
    cop: Array  # centre of pressure of each foot, world (2, 3); NaN without contact
    zmp: Array  # measured by the soles, world (3,); NaN in flight
    zmp_model: Array  # from accelerations and the model, no push (3,)
    zmp_push: Array  # from the model with the push wrench (3,)
    fri: Array  # foot-rotation indicator (3,); equals the ZMP while the feet are still
    support: Array  # vertices of the support polygon, counter-clockwise, world x y (k, 2)
    ground_normal: Array  # of the supporting soles (3,)
    ground_height: float  # of the plane through the soles below the CoM [m]
    push: Push


@dataclass(frozen=True, slots=True)
class FootReference:
    """Where a swinging sole should be: pose, twist and acceleration, world axes."""

    position: Array  # (3,) [m]
    rotation: Array  # (3, 3)
    velocity: Array  # linear, angular (6,)
    acceleration: Array  # linear, angular (6,)


@dataclass(frozen=True, slots=True)
class Stack:
    """Task names by level, first level strongest; a level acts in the null space of the ones before it.

    Known tasks: ``com`` (accelerations of the axes with weight), ``height`` (the vertical one alone), ``momentum``
    (rate of angular momentum about the CoM), ``torso`` (orientation), ``feet`` (swinging soles), ``posture`` (all
    joints), ``kudoh`` (A_theta-weighted joint accelerations, stay tall, symmetry). Torque and force regularisation is
    always part of the last level.
    """

    name: str
    levels: tuple[tuple[str, ...], ...]
    soft: bool = False  # where inequalities bind, all levels but the first give way together, not from the last one on


@dataclass(frozen=True, slots=True)
class Reference:
    """What a balance mode wants; the whole-body controller finds the torques."""

    stamp: float
    mode: str
    stack: Stack
    contact: Flags  # soles that may push on the ground (2,)
    load_max: Array  # largest normal force of each sole as a share of the weight (2,); ramps load on and off a foot
    com_acceleration: Array  # feedback included, world (3,) [m/s²]
    com_weight: Array  # weight of each axis inside its level (3,); 0 leaves the axis free
    angular_momentum_rate: Array  # wanted about the CoM, world (3,) [N m]
    momentum_weight: Array  # (3,)
    torso_rotation: Array  # wanted (3, 3)
    torso_velocity: Array  # wanted angular velocity, world (3,) [rad/s]
    feet: tuple[FootReference | None, FootReference | None]
    posture: Array  # wanted joint positions (n,) [rad]
    posture_velocity: Array  # (n,) [rad/s]
    zmp_margin: float  # the support polygon is shrunk by this [m]
    height_weight: float = 1.0  # weight of com_acceleration[2] in the task ``height``


@dataclass(frozen=True, slots=True)
class TorqueCommand:
    """What a drive executes: torque + stiffness (position - q) + damping (velocity - qd), then its own limit.

    Pure torque drives get zero stiffness and damping.
    """

    stamp: float  # stamp of the sensor frame this answers [s]
    torque: Array  # (n,) [N m]
    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    stiffness: Array  # (n,) [N m/rad]
    damping: Array  # (n,) [N m s/rad]
    damped: bool = field(default=False)  # True: this is the safety box's damping, not a controller's wish

    @staticmethod
    def damp(stamp: float, damping: Array) -> TorqueCommand:
        """The command that brakes every joint: zero torque, zero velocity wanted."""
        zero = np.zeros(damping.shape)
        return TorqueCommand(stamp, zero, zero, zero, zero, damping, True)
