"""Publishers of a plant's sensors."""

from __future__ import annotations

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState

from humanoid_balance.nodes import quick
from humanoid_balance.nodes.qos import EACH
from humanoid_balance.plants.ros.frames import SensorMessages
from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SensorFrame


class SensorTopics:
    """``imu``, ``left_foot/wrench``, ``right_foot/wrench``, ``joint_states``; the last one completes the frame."""

    def __init__(self, node: Node, robot: Robot, joints: WireJoints) -> None:
        self._messages = messages = SensorMessages(robot, joints)
        self._ordered = (messages.imu, *messages.wrenches, messages.joints)
        names = ("imu", "left_foot/wrench", "right_foot/wrench", "joint_states")
        kinds = (Imu, WrenchStamped, WrenchStamped, JointState)
        self._publishers = [node.create_publisher(kind, name, EACH) for kind, name in zip(kinds, names, strict=True)]
        self.count = len(names)

    def publish_all(self, frame: SensorFrame) -> None:
        self._messages.fill(frame)
        for publisher, message in zip(self._publishers, self._ordered, strict=True):
            publisher.publish(quick.encode(message))

    def publish(self, k: int, frame: SensorFrame) -> None:
        """One of the topics alone, if anybody listens."""
        if self._publishers[k].get_subscription_count():
            self._messages.fill(frame)
            self._publishers[k].publish(quick.encode(self._ordered[k]))
