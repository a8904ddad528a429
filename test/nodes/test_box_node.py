"""A loop that raises: the node latches the reason, deactivates itself, and starts again only after a reset."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import State
from nodes.graph import Graph
from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger

from humanoid_balance.nodes.box_node import FEW, BoxNode
from humanoid_balance.nodes.qos import SHOWN
from humanoid_balance.robot.model import Robot


class Fragile(BoxNode):
    """Counts, and breaks when it is asked to."""

    def __init__(self, context: rclpy.Context) -> None:
        super().__init__("fragile", (), context=context)
        self.breaks, self.braked = False, False

    def setup(self, robot: Robot) -> None:
        self.inbox.subscribe(DiagnosticArray, "nothing", SHOWN, lambda _: None)

    def loop(self) -> None:
        try:
            while self.running:
                self.inbox.wait(0.01)
                if self.breaks:
                    raise ZeroDivisionError("the matrix was singular")
        finally:
            self.braked = True


@pytest.fixture
def node(graph: Graph) -> Iterator[Fragile]:
    made = Fragile(graph.context)
    graph.executor.add_node(made)
    yield made
    made.halt()
    graph.executor.remove_node(made)


def state(node: BoxNode) -> int:
    return int(node._state_machine.current_state[0])


def test_an_exception_ends_in_damping_and_a_latched_fault(graph: Graph, node: Fragile) -> None:
    heard: list[DiagnosticArray] = graph.listen(DiagnosticArray, "/diagnostics")
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    node.breaks = True
    assert graph.wait(lambda: state(node) == State.PRIMARY_STATE_INACTIVE, 10)
    assert node.braked and node.fault == "ZeroDivisionError: the matrix was singular"
    assert graph.wait(lambda: bool(heard) and heard[-1].status[0].level == DiagnosticStatus.ERROR, 10)
    assert "singular" in heard[-1].status[0].message
    node.breaks = False
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE, "the fault is latched"
    assert graph.call(Trigger, "fragile/reset", Trigger.Request()).success
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS, "and it can be set up once more"


def test_a_loop_that_is_often_late_warns_and_is_well_again_when_it_is_not(graph: Graph, node: Fragile) -> None:
    heard: list[DiagnosticArray] = graph.listen(DiagnosticArray, "/diagnostics")
    node.trigger_configure()
    node.trigger_activate()

    def ticks(late: int) -> None:
        for k in range(FEW):
            node.watch.add(1e-3, k < late)

    ticks(late=FEW // 10)
    assert graph.wait(lambda: bool(heard) and heard[-1].status[0].level == DiagnosticStatus.WARN, 10)
    assert heard[-1].status[0].message == "10% of the ticks are late"
    ticks(late=0)
    assert graph.wait(lambda: heard[-1].status[0].level == DiagnosticStatus.OK, 10), heard[-1].status[0].message
