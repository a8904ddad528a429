"""Publisher of ``plant/status``: at every change, and often enough that silence means something."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from humanoid_balance.nodes.qos import LATCHED
from humanoid_balance.plants.ros.status import BEAT, TOPIC, PlantStatus


class StatusTopic:
    """Sent by the thread of the loop: a loop that hangs is silent."""

    def __init__(self, node: Node) -> None:
        self.node = node.get_fully_qualified_name()
        self.process = uuid.uuid4().hex[:8]
        self._publisher = node.create_publisher(DiagnosticStatus, TOPIC, LATCHED)
        self._sign: object = None
        self._next = 0.0  # [s]

    def update(self, sign: object, make: Callable[[], PlantStatus]) -> PlantStatus | None:
        """Send what ``make`` gives when ``sign`` is another one than before, or it is time; what was sent."""
        now = time.monotonic()
        if sign == self._sign and now < self._next:
            return None
        self._sign, self._next = sign, now + BEAT
        status = make()
        self._publisher.publish(status.message())
        return status
