"""Processes that die, and messages that should not be: the plant brakes, the controller latches, the robot stands."""

from __future__ import annotations

import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from geometry_msgs.msg import WrenchStamped
from nodes.graph import Graph, wait_until
from nodes.test_bringup import Standing
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED
from humanoid_balance.robot import registry

SENSOR = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def test_killed_controller_leaves_the_plant_in_damping_within_50_ms(prompt_graph: Graph) -> None:
    """Real time, every one of five kills; the simulator tells the age of the last command when the brakes come on.

    20 ms of watchdog and a tick are 22 ms; the rest is for a machine with other work. The distribution of 200 kills of
    any process, boards included, is in ``test_killed.py``.
    """
    graph, ages = prompt_graph, []
    simulator = graph.start("simulator", autostart=True, rate=500)
    graph.start("state_estimator", autostart=True, rate=500)
    for k in range(5):
        controller = graph.start("balance_controller", autostart=True, rate=500, auto_arm=True, sensor_timeout=30)
        assert wait_until(lambda k=k: simulator.text.count("driven by '/balance_controller#") == k + 1), graph.told()
        time.sleep(0.3)
        controller.end(signal.SIGKILL)
        assert wait_until(lambda k=k: simulator.text.count("no command for") == k + 1, 5), graph.told()
        ages.append(float(re.findall(r"no command for (\d+) ms", simulator.text)[-1]))
        graph.call(Trigger, "simulator/reset", Trigger.Request())
        graph.call(Trigger, "state_estimator/reset", Trigger.Request())
    assert max(ages) <= 50.0, ages


def test_stopped_simulator_makes_the_controller_latch_a_fault(graph: Graph) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    simulator = graph.start("simulator", autostart=True, rate=500)
    graph.start("state_estimator", autostart=True, rate=500)
    # The plant's own heartbeat stops as well, and would be the first to be missed.
    timeouts = {"sensor_timeout": 0.2, "plant_timeout": 5.0}
    controller = graph.start("balance_controller", autostart=True, rate=500, auto_arm=True, **timeouts)
    assert controller.says("mode: stable"), graph.told()
    graph.spin(0.5)
    simulator.popen.send_signal(signal.SIGSTOP)
    assert graph.wait(lambda: bool(modes) and modes[-1].data == "tripped", 20), graph.told()
    assert controller.says("no sensors [s] at robot_state"), controller.text
    silence = float(re.findall(r"no sensors \[s\] at robot_state: ([\d.]+), limit 0\.2", controller.text)[0])
    assert silence < 0.4, "the frozen process froze the controller, too"
    simulator.popen.send_signal(signal.SIGCONT)
    answer = graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True))
    assert not answer.success and "tripped" in answer.message and "next: reset" in answer.message
    assert modes[-1].data == "tripped"
    assert graph.call(Trigger, "balance_controller/reset", Trigger.Request()).success
    assert graph.wait(lambda: modes[-1].data == "disarmed", 20)


# ---- messages that should not be ----

HUMAN = registry.load("human")


@contextmanager
def flood(send: Callable[[], None], rate: float) -> Iterator[list[int]]:
    """Send from a thread, ``rate`` times a second or as near as the machine comes; counts what was sent."""
    sent, stop = [0], threading.Event()

    def work() -> None:
        begun = time.monotonic()
        while not stop.is_set():
            while sent[0] < rate * (time.monotonic() - begun) and not stop.is_set():
                send()
                sent[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield sent
    finally:
        stop.set()
        thread.join()


def joint_states(names: list[str], count: int, value: float, stamp: int) -> JointState:
    values = [value] * count
    message = JointState(name=names, position=values, velocity=values, effort=values)
    message.header.stamp.sec = stamp
    return message


def command(count: int, value: float, label: str = "") -> Float64MultiArray:
    message = Float64MultiArray(data=[value] * count)
    if label:
        message.layout.dim = [MultiArrayDimension(label=label, size=count, stride=count)]
    return message


NAMES = list(HUMAN.joint_names)
WRONG_SENSORS = {
    "joint_states refused: wrong length": joint_states(NAMES, 5, 0.0, 0),
    "joint_states refused: a joint is missing": joint_states(NAMES[1:], HUMAN.n - 1, 0.0, 0),
    "joint_states refused: stamp far ahead": joint_states(NAMES, HUMAN.n, math.nan, 2_000_000_000),
}
WRONG_COMMANDS = {
    "is in charge, not 'unknown'": command(HUMAN.n, 50.0),
    "is in charge, not '/somebody#1'": command(HUMAN.n, 50.0, "/somebody#1 99.000000000"),
}
WRONG_PUSHES = {"push refused: force": math.nan, "push refused: frame": 10.0, "push refused: it has a torque": 20.0}


def test_malformed_messages_are_named_and_the_robot_keeps_standing(graph: Graph) -> None:
    robot = Standing(graph, autostart=True, auto_arm=True)
    robot.until(0.2)
    sensors = graph.node.create_publisher(JointState, "joint_states", SENSOR)
    commands = graph.node.create_publisher(Float64MultiArray, "effort_controller/commands", 10)
    states = graph.node.create_publisher(Float64MultiArray, "robot_state", SENSOR)
    robot.reached(sensors, commands, states, robot.pushes)
    end = robot.time + 2.0
    while robot.time < end:
        for message in WRONG_SENSORS.values():
            sensors.publish(message)
        for message in WRONG_COMMANDS.values():
            commands.publish(message)
        states.publish(command(7, 1.0))
        for refused, newtons in WRONG_PUSHES.items():
            push = WrenchStamped()
            push.wrench.force.x = newtons
            push.header.frame_id = "moon" if "frame" in refused else ""
            push.wrench.torque.z = 1.0 if "torque" in refused else 0.0
            robot.pushes.publish(push)
        graph.spin(0.02)
    for words in WRONG_SENSORS:
        assert words in robot.estimator.text, words
    for words in (*WRONG_COMMANDS, *WRONG_PUSHES):
        assert words in robot.simulator.text, words
    assert "robot_state refused" in robot.controller.text
    for process in robot.processes:  # throttled
        assert len(process.text.splitlines()) < 60, process.text
    assert robot.mode == "stable" and not robot.lying


@pytest.mark.parametrize("topic", ["joint_states", "effort_controller/commands"])
def test_a_flood_at_10_khz_is_refused_and_the_robot_keeps_standing(graph: Graph, topic: str) -> None:
    robot = Standing(graph, autostart=True, auto_arm=True)
    robot.until(0.2)
    if topic == "joint_states":
        publisher, message = graph.node.create_publisher(JointState, topic, SENSOR), joint_states(NAMES, 5, 0.0, 0)
    else:
        publisher, message = graph.node.create_publisher(Float64MultiArray, topic, 10), command(HUMAN.n, 80.0)
    robot.reached(publisher)
    with flood(lambda: publisher.publish(message), 10_000.0) as sent:
        begun = time.monotonic()
        robot.until(robot.time + 1.5)
        assert graph.wait(lambda: sent[0] > 2000, 30)
        rate = sent[0] / (time.monotonic() - begun)
    assert rate > 1000.0, "the machine was too slow for a flood"
    assert robot.mode == "stable" and not robot.lying, graph.told()
    assert "refused" in (robot.estimator if topic == "joint_states" else robot.simulator).text


def test_joints_in_another_order_and_with_strangers_among_them(graph: Graph) -> None:
    """The plant has its own order and joints the controller does not know; commands go by the parameter ``joints``."""
    order = ["gripper_a", *sorted(NAMES, key=lambda name: name[::-1]), "gripper_b"]
    assert order[1:-1] != NAMES
    joints = graph.listen(JointState, "joint_states", SENSOR)
    robot = Standing(graph, joints=order, autostart=True, auto_arm=True)
    robot.until(2.0)
    assert robot.mode == "stable" and not robot.lying, graph.told()
    assert graph.wait(lambda: bool(joints))
    assert list(joints[-1].name) == order and len(joints[-1].position) == len(order)
