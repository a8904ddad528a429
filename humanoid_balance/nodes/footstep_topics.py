"""Footsteps on a topic: ``balance/footsteps``, where the robot will step."""

from __future__ import annotations

import pinocchio as pin
from geometry_msgs.msg import Pose, PoseArray

from humanoid_balance.nodes.state_topics import WORLD
from humanoid_balance.plants.ros.stamps import to_time
from humanoid_balance.types import Foothold

PLANNED = "balance/footsteps"


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
