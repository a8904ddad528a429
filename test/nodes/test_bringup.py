"""Separate processes from nothing to standing, pushed, and down again."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from geometry_msgs.msg import PointStamped, WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nodes.graph import Graph, Process
from rclpy.publisher import Publisher
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED, PUSH
from humanoid_balance.plants.ros.stamps import from_time, to_time

# Lock-step: what is tested here does not depend on how busy the machine is.
SIMULATOR = {"lockstep": True, "lockstep_timeout": 60}
ESTIMATOR = {"sync_wait": 3600}
CONTROLLER = {"sensor_timeout": 60}


def push_at(start: float, newtons: float, duration: float) -> list[WrenchStamped]:
    """A forward push as messages that carry their times; each holds for 0.1 s."""
    messages = []
    for k in range(round(duration / 0.1)):
        message = WrenchStamped()
        message.header.stamp = to_time(start + 0.1 * k)
        message.wrench.force.x = newtons
        messages.append(message)
    return messages


def transition(graph: Graph, node: str, number: int) -> bool:
    answer = graph.call(ChangeState, f"{node}/change_state", ChangeState.Request(transition=Transition(id=number)))
    return bool(answer.success)


class Standing:
    """Three processes, and what can be seen of them."""

    def __init__(
        self, graph: Graph, joints: list[str] | None = None, rate: float = 500.0, **controller: object
    ) -> None:
        """``joints`` is their order on the wire, ``controller`` more parameters of the controller."""
        order = {} if joints is None else {"joints": joints}
        self.graph = graph
        self.com: list[PointStamped] = graph.listen(PointStamped, "com")
        self.modes: list[String] = graph.listen(String, "balance/mode", LATCHED)
        self.fell: list[Bool] = graph.listen(Bool, "simulator/fell", LATCHED)
        self.pushes = graph.node.create_publisher(WrenchStamped, "push", PUSH)
        self.simulator = graph.start("simulator", autostart=True, rate=rate, **SIMULATOR, **order)
        self.estimator = graph.start("state_estimator", autostart=True, rate=rate, **ESTIMATOR)
        self.controller = graph.start("balance_controller", rate=rate, **CONTROLLER, **order, **controller)

    @property
    def processes(self) -> tuple[Process, Process, Process]:
        return self.simulator, self.estimator, self.controller

    @property
    def time(self) -> float:
        return from_time(self.com[-1].header.stamp) if self.com else -1.0

    @property
    def mode(self) -> str:
        return self.modes[-1].data if self.modes else ""

    def push(self, start: float, newtons: float, duration: float) -> None:
        """Announce a push ahead of its time."""
        self.reached(self.pushes)
        for message in push_at(start, newtons, duration):
            self.pushes.publish(message)

    def reached(self, *publishers: Publisher) -> None:
        """Wait until the nodes have found these publishers, and we them: simulated time may run fast."""
        assert self.graph.wait(
            lambda: all(p.get_subscription_count() > 0 for p in publishers) and bool(self.modes and self.com)
        ), self.graph.told()

    def until(self, time: float) -> None:
        """Also until a mode was heard: simulated time may run faster than topics are found."""
        assert self.graph.wait(lambda: (self.time >= time and bool(self.modes)) or self.lying, 180), self.graph.told()

    @property
    def lying(self) -> bool:
        return bool(self.fell and self.fell[-1].data)


def ended_well(process: Process, number: int) -> None:
    assert process.end(number) == 0, process.text
    assert "Traceback" not in process.text


def test_from_unconfigured_to_standing_pushed_and_down(graph: Graph) -> None:
    """The lifecycle by hand, 10 s of standing, a push by topic that needs the body to turn, SIGINT and SIGTERM."""
    robot = Standing(graph, strategy="in-place", delay=0.2)
    controller = "balance_controller"
    assert transition(graph, controller, Transition.TRANSITION_CONFIGURE), graph.told()
    assert transition(graph, controller, Transition.TRANSITION_ACTIVATE), graph.told()
    refused: Any = None

    def armed() -> bool:
        nonlocal refused
        refused = graph.call(SetBool, f"{controller}/arm", SetBool.Request(data=True))
        return bool(refused.success)

    assert graph.wait(armed), refused.message
    robot.push(10.0, 300.0, 0.1)
    robot.until(9.9)
    assert [m.data for m in robot.modes] in (["disarmed", "stable"], ["stable"]) and not robot.lying
    robot.until(13.5)
    assert [m.data for m in robot.modes][-3:] == ["stable", "in place", "stable"], graph.told()
    assert not robot.lying
    assert max(m.point.x for m in robot.com) - robot.com[0].point.x > 0.03, "the push was not felt"

    assert graph.call(Trigger, f"{controller}/estop", Trigger.Request()).success
    assert graph.wait(lambda: robot.mode == "tripped")
    assert robot.controller.says("emergency stop")
    assert robot.simulator.says("damping: the controller asks for it")
    for process, number in zip(robot.processes, (signal.SIGINT, signal.SIGTERM, signal.SIGINT), strict=True):
        ended_well(process, number)


def test_a_push_over_four_tenths_of_a_second_is_answered_with_steps(graph: Graph) -> None:
    """KE6 at 80 %, by topic."""
    robot = Standing(graph, autostart=True, auto_arm=True)
    robot.reached(robot.pushes)
    start = robot.time + 1.0
    robot.push(start, 240.0, 0.4)
    robot.until(start + 3.0)
    assert not robot.lying
    assert "stepping" in [m.data for m in robot.modes]


def test_deactivated_controller_ends_in_damping_and_starts_again_only_from_a_safe_posture(graph: Graph) -> None:
    robot = Standing(graph, autostart=True, auto_arm=True)
    robot.until(0.3)
    assert transition(graph, "balance_controller", Transition.TRANSITION_DEACTIVATE)
    assert robot.simulator.says("damping: the controller asks for it")
    assert graph.wait(lambda: robot.mode == "disarmed")
    assert transition(graph, "balance_controller", Transition.TRANSITION_ACTIVATE)
    graph.call(Trigger, "simulator/reset", Trigger.Request())
    graph.call(Trigger, "state_estimator/reset", Trigger.Request())  # the robot was lifted back
    graph.spin(1.0)
    answer: Any = None

    def armed() -> bool:
        nonlocal answer
        answer = graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True))
        return bool(answer.success)

    assert graph.wait(armed), answer.message
    graph.wait(lambda: robot.mode == "stable")
    start = robot.time
    robot.until(start + 1.0)
    assert robot.mode == "stable" and not robot.lying, graph.told()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_stack_stands_and_ends_with_0(graph: Graph, number: int) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    com = graph.listen(PointStamped, "com")
    stack = graph.start("balance_stack", autostart=True, auto_arm=True)
    assert graph.wait(lambda: len(com) > 100), graph.told()
    assert modes[-1].data == "stable"
    ended_well(stack, number)
    assert "mode: disarmed" in stack.text


def test_a_robot_is_brought_up_in_stages_each_on_request(graph: Graph) -> None:
    """As on a real robot: brake, move into the stance and hold it, balance."""
    robot = Standing(graph, rate=500.0, autostart=True, staged=True)  # a stiff posture as efforts needs the rate

    def ask(stage: str) -> Trigger.Response:
        return graph.call(Trigger, f"balance_controller/{stage}", Trigger.Request())

    assert graph.wait(lambda: robot.mode == "disarmed"), graph.told()
    assert graph.wait(lambda: "allowed: from armed only" in ask("stand").message), graph.told()
    assert graph.wait(lambda: graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True)).success)
    assert graph.wait(lambda: robot.mode == "armed")
    assert ask("stand").success, graph.told()
    assert graph.wait(lambda: robot.mode == "stand")
    assert "the ramp is at" in ask("balance").message
    answer = Trigger.Response()

    def balances() -> bool:
        nonlocal answer
        answer = ask("balance")
        graph.spin(0.2)
        return bool(answer.success)

    assert graph.wait(balances, 120), answer.message
    assert graph.wait(lambda: robot.mode == "stable"), graph.told()
    robot.push(robot.time + 0.5, 200.0, 0.1)
    robot.until(robot.time + 2.5)
    assert not robot.lying and robot.mode == "stable", graph.told()
