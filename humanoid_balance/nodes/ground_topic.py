"""The topic ``height_map``: what somebody with eyes knows of the ground, for the controller."""

from __future__ import annotations

from sensor_msgs.msg import PointCloud2

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.control import Control
from humanoid_balance.nodes.qos import LATCHED
from humanoid_balance.plants.ros import height_map


class GroundTopic:
    """Gives each map to the controller; one that cannot be read is refused, and the last one stays."""

    def __init__(self, node: BoxNode, control: Control) -> None:
        self._node, self._control = node, control
        node.inbox.subscribe(PointCloud2, height_map.TOPIC, LATCHED, self._hear)

    def _hear(self, message: PointCloud2) -> None:
        found = height_map.read(message)
        if isinstance(found, str):
            self._node.unwell(found)
        else:
            self._control.know(found)
