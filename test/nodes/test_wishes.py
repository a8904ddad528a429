"""A robot goes where ``cmd_vel`` sends it, and stops when nobody sends any more."""

from __future__ import annotations

import math

import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from nodes.graph import Graph
from std_msgs.msg import String

from humanoid_balance.nodes.qos import LATCHED


def send(graph: Graph, velocity: float, seconds: float) -> None:
    """10 Hz, as a person at a stick."""
    publisher = graph.node.create_publisher(Twist, "cmd_vel", 10)
    message = Twist()
    message.linear.x = velocity
    for _ in range(round(10 * seconds)):
        publisher.publish(message)
        graph.spin(0.1)
    graph.node.destroy_publisher(publisher)


@pytest.mark.parametrize("robot", ["g1"])
def test_it_walks_while_cmd_vel_is_repeated_and_stands_when_it_falls_silent(graph: Graph, robot: str) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    odometry = graph.listen(Odometry, "odom")
    graph.start("balance_stack", autostart=True, auto_arm=True, robot=robot)
    assert graph.wait(lambda: bool(modes) and modes[-1].data == "stable", 60), graph.told()
    send(graph, 0.3, 5.0)
    assert modes[-1].data == "walking", graph.told()
    assert graph.wait(lambda: modes[-1].data == "stable", 30), graph.told()
    assert "falling" not in [mode.data for mode in modes]
    assert odometry[-1].pose.pose.position.x > 0.3


def test_a_velocity_that_is_not_a_number_moves_nothing_and_is_reported(graph: Graph) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    process = graph.start("balance_stack", autostart=True, auto_arm=True, robot="g1")
    assert graph.wait(lambda: bool(modes) and modes[-1].data == "stable", 60), graph.told()
    send(graph, math.nan, 1.0)
    assert modes[-1].data == "stable"
    assert "is not three numbers" in process.text
