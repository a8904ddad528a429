"""Footsteps on topics: ``footstep_plan``, what a planner wants; ``balance/footsteps``, where the robot will step."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Pose, PoseArray
from nav_msgs.msg import Path

from humanoid_balance.nodes.footprint import rotation
from humanoid_balance.nodes.state_topics import WORLD
from humanoid_balance.plants.ros.stamps import from_time, to_time
from humanoid_balance.types import Foothold

PLAN, PLANNED = "footstep_plan", "balance/footsteps"
UNIT = 0.1  # a quaternion whose length is further from 1 is none


def read(message: Path) -> tuple[tuple[Foothold, ...], str]:
    """The plan, or why it is none. Its stamp is part of it: the same footsteps with a new one are a new plan."""
    frame = message.header.frame_id
    if frame not in ("", WORLD):
        return (), f"footstep_plan: frame '{frame}'; allowed: {WORLD}, and l_sole or r_sole for each pose"
    stamp = from_time(message.header.stamp)
    return tuple(_foothold(pose.header.frame_id, pose.pose, stamp) for pose in message.poses), ""


def _foothold(contact: str, pose: Pose, stamp: float) -> Foothold:
    """What is not a number stays so: the loop refuses it with the reason."""
    p, q = pose.position, pose.orientation
    size = math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w)
    scale = 1.0 / size if abs(size - 1.0) < UNIT else math.nan
    turned = rotation(scale * q.x, scale * q.y, scale * q.z, scale * q.w)
    return Foothold(contact, np.array((p.x, p.y, p.z)), np.array(turned), stamp)


def planned(footholds: tuple[Foothold, ...], stamp: float) -> PoseArray:
    """The next first."""
    message = PoseArray()
    message.header.stamp, message.header.frame_id = to_time(stamp), WORLD
    for foothold in footholds:
        pose = Pose()
        pose.position.x, pose.position.y, pose.position.z = foothold.position.tolist()
        turn = pose.orientation
        turn.x, turn.y, turn.z, turn.w = pin.Quaternion(foothold.rotation).coeffs().tolist()
        message.poses.append(pose)
    return message
