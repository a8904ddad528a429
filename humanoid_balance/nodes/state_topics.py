"""What the estimator tells everybody: ``odom``, ``com``, ``zmp``, ``dcm``, ``com_velocity`` and ``push_estimate``.

Where tf2_msgs is installed, also the transforms from ``odom`` to ``base_footprint`` and on to the robot's root link.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PointStamped, TransformStamped, Vector3Stamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node

from humanoid_balance.nodes import footprint
from humanoid_balance.nodes.footprint import Footprint
from humanoid_balance.nodes.qos import EACH
from humanoid_balance.plants.ros.stamps import to_time
from humanoid_balance.recording.link_tree import LinkTree
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, RobotState

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

WORLD = "odom"


class StateTopics:
    """One publisher a topic; ``publish(k, state)`` sends the k-th topic alone, so that a loop can take turns.

    A topic to which nobody listens costs nothing.
    """

    def __init__(self, node: Node, robot: Robot) -> None:
        self._base = LinkTree(robot).root
        points: list[tuple[str, type, Callable[[RobotState], Any]]] = [
            ("odom", Odometry, _odometry),
            ("com", PointStamped, lambda s: _point(s.com)),
            ("zmp", PointStamped, lambda s: _point(s.zmp)),
            ("dcm", PointStamped, lambda s: _point(s.dcm)),
            ("com_velocity", Vector3Stamped, _com_velocity),
            ("push_estimate", WrenchStamped, _push),
        ]
        if TFMessage is not None:
            points.append(("/tf", TFMessage, self._transform))
        self._topics = [(node.create_publisher(kind, name, EACH), make) for name, kind, make in points]
        self.count = len(self._topics)

    def publish(self, k: int, state: RobotState) -> None:
        publisher, make = self._topics[k]
        if not publisher.get_subscription_count():
            return
        message = make(state)
        if hasattr(message, "header"):
            message.header.stamp, message.header.frame_id = to_time(state.stamp), WORLD
        publisher.publish(message)

    def publish_all(self, state: RobotState) -> None:
        for k in range(self.count):
            self.publish(k, state)

    def _transform(self, state: RobotState) -> Any:
        return TFMessage(transforms=transforms(state, self._base))


def transforms(state: RobotState, base: str) -> list[TransformStamped]:
    """``odom`` -> ``base_footprint`` -> the root link."""
    under, placed = Footprint.of(state), []
    level = (*under.position, 0.0, 0.0, math.sin(under.yaw / 2), math.cos(under.yaw / 2))
    for parent, child, pose in ((WORLD, footprint.NAME, level), (footprint.NAME, base, under.base(state))):
        place = TransformStamped(child_frame_id=child)
        place.header.stamp, place.header.frame_id = to_time(state.stamp), parent
        where, turn = place.transform.translation, place.transform.rotation
        where.x, where.y, where.z, turn.x, turn.y, turn.z, turn.w = pose
        placed.append(place)
    return placed


def _odometry(state: RobotState) -> Odometry:
    """Of ``base_footprint`` in ``odom``; the twist in its own axes, as REP 105 and the message want it."""
    under, message = Footprint.of(state), Odometry(child_frame_id=footprint.NAME)
    at, turn, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
    at.x, at.y, at.z = under.position
    turn.z, turn.w = math.sin(under.yaw / 2), math.cos(under.yaw / 2)
    twist.linear.x, twist.linear.y, twist.linear.z = under.velocity
    twist.angular.z = under.turn
    return message


def _point(where: Array) -> PointStamped:
    message = PointStamped()
    message.point.x, message.point.y, message.point.z = where.tolist()
    return message


def _com_velocity(state: RobotState) -> Vector3Stamped:
    message = Vector3Stamped()
    message.vector.x, message.vector.y, message.vector.z = state.com_velocity.tolist()
    return message


def _push(state: RobotState) -> WrenchStamped:
    message = WrenchStamped()
    force = message.wrench.force
    force.x, force.y, force.z = state.push.force.tolist()
    return message
