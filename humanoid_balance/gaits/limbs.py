"""Which joint is hip, knee and ankle, read off the kinematics, and how a gait's angles map to the robot's joints."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

PARALLEL = 0.7  # cosine from which on a joint counts as turning about an axis
X, Y, Z = range(3)


@dataclass(frozen=True)
class Hinge:
    """A joint of one axis: angle of the table = ``zero`` + ``sign`` x joint position."""

    index: int  # in joint vectors
    sign: float
    zero: float  # [rad]

    def position(self, angle: float) -> float:
        """Of the joint at an angle of the table [rad]."""
        return (angle - self.zero) / self.sign


@dataclass(frozen=True)
class Limb:
    """One leg. The hip is all joints between trunk and thigh, which turn about axes through one point."""

    hip: tuple[int, ...]  # indices in joint vectors, from the trunk down
    hip_joints: tuple[int, ...]  # the same as joints of the model
    axes: tuple[Array, ...]  # of the hip joints, each in its own frame (3,)
    pitch: int  # the one of them that swings the leg forward
    lengths: tuple[float, float]  # of thigh and shank, seen from the side [m]
    thigh: int  # joint of the model whose body is the thigh
    upright: Array  # turns the thigh's frame so that it is the world's when the thigh hangs down, facing ahead (3, 3)
    knee: Hinge
    ankle: Hinge
    shank: int  # joint of the model whose body carries the ankle
    ankle_axis: Array  # in the shank's frame (3,)
    ankle_roll: Hinge | None
    ankle_joint: int  # of the model: the stance ankle from which balance is measured
    foot: int  # joint of the model whose body is the foot
    sole: pin.SE3  # in the foot's frame
    rest: tuple[int, ...]  # other joints below the knee: they keep their posture
    axis_of: dict[int, Array]  # of all joints, by joint of the model, each in its own frame (3,)


class JointedBody:
    """A robot as a gait sees it: a trunk that carries two legs, and the rest, which keeps its posture."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        model, data = robot.model, robot.model.createData()
        pin.computeJointJacobians(model, data, robot.q_nominal)
        pin.updateFramePlacements(model, data)
        self.level: Array = data.oMi[1].rotation.T.copy()  # trunk in the world = base's rotation times this (3, 3)
        left, right = (_limb(robot, model, data, side) for side in range(2))
        self.limbs = (left, right)
        self.hips: Array = sum(model.jointPlacements[limb.hip_joints[0]].translation for limb in self.limbs) / 2  # base
        legs = {j for limb in self.limbs for j in (*limb.hip, limb.knee.index, limb.ankle.index)}
        self.others = np.array([j for j in range(robot.n) if j not in legs], dtype=int)
        # Inertia that a joint's motor feels when the body is free: 1 / (M^-1)_jj [kg m²].
        inverse = pin.computeMinverse(model, data, robot.q_nominal)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        self.inertia: Array = 1.0 / np.diag(inverse)[6:]
        self.between = robot.groups.get("torso", np.array([], dtype=int))  # waist


def _limb(robot: Robot, model: pin.Model, data: pin.Data, side: int) -> Limb:
    chain: list[int] = []
    joint = model.frames[robot.sole_frames[side]].parentJoint
    while joint > 1:
        chain.insert(0, joint)
        joint = model.parents[joint]
    turn = {j: data.J[3:, model.idx_vs[j]] for j in chain}  # axes in the world, nominal stance
    pitch = [j for j in chain if abs(turn[j][Y]) > PARALLEL]
    if len(pitch) != 3:
        names = ", ".join(model.names[j] for j in pitch) or "none"
        which = ("left", "right")[side]
        raise InputError(
            f"robot '{robot.spec}': its {which} leg has no hip, knee and ankle to find: pitch joints {names}"
        )
    hip, knee, ankle = pitch
    at = chain.index(knee)
    above, below = chain[:at], chain[at + 1 :]
    place = {j: data.oMi[j].translation for j in pitch}
    ways = place[knee] - place[hip], place[ankle] - place[knee]
    thigh, shank = map(_forward, ways)
    rolls = [j for j in below if abs(turn[j][X]) > PARALLEL]
    nominal = robot.q_nominal

    def hinge(joint: int, angle: float, axis: int, plus: float) -> Hinge:
        index = model.idx_vs[joint] - 6
        sign = plus * math.copysign(1.0, turn[joint][axis])
        return Hinge(index, sign, angle - sign * nominal[7 + index])

    rest = [model.idx_vs[j] - 6 for j in below if j not in (ankle, *rolls[:1])]
    return Limb(
        hip=tuple(model.idx_vs[j] - 6 for j in above),
        hip_joints=tuple(above),
        pitch=hip,
        lengths=(math.hypot(ways[0][X], ways[0][Z]), math.hypot(ways[1][X], ways[1][Z])),
        axes=tuple(data.oMi[j].rotation.T @ turn[j] for j in above),
        thigh=above[-1],
        upright=data.oMi[above[-1]].rotation.T @ pin.utils.rotate("y", -thigh),
        knee=hinge(knee, shank - thigh, Y, -1.0),
        ankle=hinge(ankle, -shank, Y, -1.0),
        shank=model.parents[ankle],
        ankle_axis=data.oMi[model.parents[ankle]].rotation.T @ turn[ankle],
        ankle_roll=hinge(rolls[0], 0.0, X, 1.0) if rolls else None,
        ankle_joint=ankle,
        foot=model.frames[robot.sole_frames[side]].parentJoint,
        sole=model.frames[robot.sole_frames[side]].placement,
        rest=tuple(rest),
        axis_of={j: data.oMi[j].rotation.T @ turn[j] for j in chain},
    )


def _forward(way: Array) -> float:
    """Angle of a segment against straight down, + with its lower end ahead [rad]."""
    return math.atan2(way[X], -way[Z])
