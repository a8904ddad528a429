"""The executables. A signal that comes while a node is being loaded ends it as quietly as one that comes later."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from humanoid_balance.nodes.box_node import BoxNode

from humanoid_balance.nodes import rank
from humanoid_balance.nodes.middleware import avoid_shared_memory

NODES = {
    "balance_controller": "BalanceController",
    "balance_stack": "BalanceStack",
    "hardware": "Hardware",
    "push_teleop": "PushTeleop",
    "recorder": "Recorder",
    "simulator": "SimulatorNode",
    "state_estimator": "StateEstimator",
}
# Topics that people look at are sent by a thread of the middleware, not in the tick; Fast DDS knows this variable.
SENT_LATER = {"balance_stack": {"RMW_FASTRTPS_PUBLICATION_MODE": "ASYNCHRONOUS"}}
REST = 0.1  # a signal is noticed within this time [s]
LAST = 15  # a node that was asked to end gets so long [s]

PARENT = "HUMANOID_BALANCE_PARENT"  # process that started this node, and with which it ends
PR_SET_PDEATHSIG = 1  # sys/prctl.h


def end_with_parent() -> None:
    """SIGTERM when the parent dies, however it dies; only where the parent asks for it in the environment."""
    parent = os.environ.get(PARENT, "")
    if parent.isdecimal():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != int(parent):  # it is dead already
            raise SystemExit(0)


class Signals:
    """Remembers that the process was asked to end."""

    def __init__(self) -> None:
        self.received = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = True


def start(name: str) -> NoReturn:
    """Load a node, then run it until its end."""
    rank.put_off()
    signals = Signals()
    end_with_parent()
    avoid_shared_memory()
    for key, value in SENT_LATER.get(name, {}).items():
        os.environ.setdefault(key, value)
    node = getattr(import_module(f"humanoid_balance.nodes.{name}"), NODES[name])
    raise SystemExit(run(node, signals))


def run(make: Callable[[], BoxNode], signals: Signals) -> int:
    """Spin a node until a signal comes or it is finished; it ends well on SIGINT and SIGTERM alike.

    The exit code is 0, 1 where its work ended with a fault, 2 where it could not start with its parameters.
    """
    import rclpy  # takes a second: not before signals are received
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

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
            node.breaks.end()
        return 1 if node.finished and node.fault else 0
    finally:
        signal.alarm(LAST)  # kills, also a process that hangs in the middleware with nobody left to kill it
        node.close()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()


balance_controller = partial(start, "balance_controller")
balance_stack = partial(start, "balance_stack")
hardware = partial(start, "hardware")
push_teleop = partial(start, "push_teleop")
recorder = partial(start, "recorder")
simulator = partial(start, "simulator")
state_estimator = partial(start, "state_estimator")
