"""The process around a node: it ends well on SIGINT and SIGTERM alike."""

from __future__ import annotations

from collections.abc import Callable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.executables import Signals

REST = 0.1  # a signal is noticed within this time [s]


def run(make: Callable[[], BoxNode], signals: Signals) -> int:
    """Spin a node until a signal comes or it is finished.

    The exit code is 0, 1 where its work ended with a fault, 2 where it could not start with its parameters.
    """
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = make()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        if not signals.received and not node.starts_by_itself():
            return 2
        while not signals.received and not node.finished:
            if node.breaks.held:
                node.breaks.wait(REST)
            executor.spin_once(timeout_sec=0.0 if node.breaks.held else REST)
        return 1 if node.finished and node.fault else 0
    finally:
        node.close()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()
