"""The process around a node: it ends well on SIGINT and SIGTERM alike."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from humanoid_balance.nodes.box_node import BoxNode

REST = 0.1  # a signal is noticed within this time [s]


class Signals:
    """Remembers that the process was asked to end."""

    def __init__(self) -> None:
        self.received = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = True


def run(make: Callable[[], BoxNode], arguments: Sequence[str] | None = None) -> int:
    """Spin a node until a signal comes: 0, or 2 where it could not start with its parameters."""
    signals = Signals()
    rclpy.init(args=None if arguments is None else list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    node = make()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        if not node.starts_by_itself():
            return 2
        while not signals.received:
            executor.spin_once(timeout_sec=REST)
        return 0
    finally:
        node.halt()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()
