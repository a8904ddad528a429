"""How well a robot's motion fits what was wanted: slip, penetration, limits, directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_balance.motions.feet import runs
from humanoid_balance.motions.footing import SoleTrack
from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.motions.posing import THICK, PoseWish
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

AT_STOP = 2e-3  # a joint this near to its stop is at it [rad]


def measure(
    q: Array, wishes: Sequence[PoseWish], tracks: tuple[SoleTrack, SoleTrack], limbs: RobotLimbs
) -> dict[str, Any]:
    """``slip_max``: of the edge or sole that stands, from where it stood first in this support [m];
    ``penetration_max``: of sole corners, knees, hips, shoulders, elbows and wrists [m]; ``limit_hits``: joints at a
    stop, all frames; ``joint_error_rms``: between wanted and actual directions of arms, pelvis and chest [rad].
    """
    robot, model = limbs.robot, limbs.robot.model
    data = model.createData()
    count = len(q)
    soles, turned = np.empty((2, count, 3)), np.empty((2, count, 3, 3))
    clear = np.empty(count)
    angles = np.empty((count, 6))
    joints = [(j, t * limbs.leg) for name, t in THICK.items() for j in getattr(limbs, name)]
    for k, (pose, wish) in enumerate(zip(q, wishes, strict=True)):
        pin.framesForwardKinematics(model, data, pose)
        for side, frame in enumerate(robot.sole_frames):
            soles[side, k], turned[side, k] = data.oMf[frame].translation, data.oMf[frame].rotation
        clear[k] = min(data.oMi[j].translation[2] - thick for j, thick in joints)
        angles[k] = _angles(data, wish, limbs)
    slip, deep = 0.0, max(0.0, -float(clear.min()))
    for side, sole in enumerate(tracks):
        corners = (turned[side] @ robot.soles[side].T)[:, 2] + soles[side, :, 2:]
        deep = max(deep, float((sole.level - corners.min(axis=1)).max()))
        slip = max(slip, _slip(soles[side], turned[side], sole))
    return {
        "slip_max": slip,
        "penetration_max": deep,
        "limit_hits": limit_hits(q, robot),
        "joint_error_rms": float(np.sqrt(np.mean(angles**2))),
    }


def limit_hits(q: Array, robot: Robot) -> int:
    """Joints at a stop, all frames."""
    return int(((q[:, 7:] < robot.lower + AT_STOP) | (q[:, 7:] > robot.upper - AT_STOP)).sum())


def _slip(position: Array, rotation: Array, sole: SoleTrack) -> float:
    """Each edge has its own place in a support; both are followed while they touch."""
    worst = 0.0
    for begin, end in runs(sole.support):
        for edge in {float(x) for x in sole.edge[begin:end]}:
            rows = begin + np.flatnonzero(sole.edge[begin:end] == edge)
            point = position[rows] + rotation[rows] @ np.array([edge, 0.0, 0.0])
            worst = max(worst, float(np.linalg.norm(point - point[0], axis=1).max()))
    return worst


def _angles(data: pin.Data, wish: PoseWish, limbs: RobotLimbs) -> list[float]:
    out = []
    for side in range(2):
        a, b = (data.oMi[j[side]].translation for j in (limbs.shoulders, limbs.elbows))
        c = data.oMi[limbs.wrists[side]].act(limbs.wrist_places[side])
        for way, wanted in ((b - a, wish.bones[2 * side]), (c - b, wish.bones[2 * side + 1])):
            out.append(float(np.arccos(np.clip(way @ wanted / np.linalg.norm(way), -1.0, 1.0))))
    torso = data.oMf[limbs.robot.torso_frame].rotation
    for wanted, actual in ((wish.pelvis, data.oMi[1].rotation), (wish.chest, torso)):
        out.append(float(np.linalg.norm(pin.log3(wanted.T @ actual))))
    return out
