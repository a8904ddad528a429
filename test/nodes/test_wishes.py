"""A robot goes where ``cmd_vel`` sends it, and stops when nobody sends any more."""

from __future__ import annotations

import math
import time

import pytest
from geometry_msgs.msg import PoseArray, Twist, TwistStamped
from nav_msgs.msg import Odometry, Path
from nodes.graph import Graph
from nodes.test_footstep_topics import step
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


@pytest.mark.slow
def test_a_thousand_stamped_commands_a_second_are_obeyed_and_a_commander_that_is_gone_means_stop(graph: Graph) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    process = graph.start("balance_stack", autostart=True, auto_arm=True, robot="g1", stamped_cmd_vel=True)
    assert graph.wait(lambda: bool(modes) and modes[-1].data == "stable", 60), graph.told()
    publisher, message = graph.node.create_publisher(TwistStamped, "cmd_vel", 10), TwistStamped()
    message.twist.linear.x = 0.3
    for _ in range(4000):
        publisher.publish(message)
        time.sleep(0.001)
    assert graph.wait(lambda: modes[-1].data == "walking", 30), graph.told()
    graph.node.destroy_publisher(publisher)
    assert graph.wait(lambda: modes[-1].data == "stable", 30), graph.told()
    assert "falling" not in [mode.data for mode in modes] and "Traceback" not in process.text


@pytest.mark.slow
def test_it_steps_where_a_plan_says_and_tells_why_it_does_not(graph: Graph) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    odometry, ahead = graph.listen(Odometry, "odom"), graph.listen(PoseArray, "balance/footsteps")
    process = graph.start("balance_stack", autostart=True, auto_arm=True, robot="g1")
    assert graph.wait(lambda: bool(modes) and modes[-1].data == "stable", 60), graph.told()
    publisher = graph.node.create_publisher(Path, "footstep_plan", 10)
    plan = Path(poses=[step("l_sole", 0.15, 0.12), step("r_sole", 0.3, -0.12), step("l_sole", 0.3, 0.12)])
    plan.header.frame_id = "odom"
    for _ in range(60):
        publisher.publish(plan)
        graph.spin(0.1)
    assert graph.wait(lambda: modes[-1].data == "stable", 30), graph.told()
    assert [mode.data for mode in modes].count("walking") == 1
    assert odometry[-1].pose.pose.position.x == pytest.approx(0.3, abs=0.02)
    assert max(len(message.poses) for message in ahead) == 3 and not ahead[-1].poses
    for message, why in (
        (Path(poses=[step("l_sole", 5.0, 0.12)]), "footstep 1"),
        (Path(poses=[step("l_sole", math.nan, 0.12)]), "l_sole has a number that is none"),
        (Path(poses=[step("hand", 0.3, 0.12)]), "'hand' is no sole"),
    ):
        for _ in range(200):  # a plan is looked at as soon as the robot stands
            publisher.publish(message)
            graph.spin(0.1)
            if why in process.text:
                break
        assert why in process.text
    assert "falling" not in [mode.data for mode in modes]
