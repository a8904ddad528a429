"""Knocked over, the topic ``skill`` brings a robot back onto its feet; an emergency stop ends a skill at once."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from nodes.graph import Graph
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED, PUSH

HARD = 250.0  # takes g1 off its feet [N]
SINKING = 1.0  # limbs under the brakes sink slower than this; a skill moves them at several rad/s [rad/s]


class Knocked:
    """A g1 that lies on the ground, and its operator."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.modes = graph.listen(String, "balance/mode", LATCHED)
        self.joints = graph.listen(JointState, "joint_states", 10)
        self.odometry = graph.listen(Odometry, "odom", 10)
        self.process = graph.start("balance_stack", autostart=True, auto_arm=True, robot="g1", rate=1000)
        assert graph.wait(lambda: self.mode == "stable", 60), graph.told()
        graph.spin(2.0)
        push = graph.node.create_publisher(WrenchStamped, "push", PUSH)
        message = WrenchStamped()
        message.header.frame_id, message.wrench.force.x = "odom", HARD
        assert graph.wait(lambda: push.get_subscription_count() > 0)
        assert graph.wait(lambda: self.pushed(push, message), 60), graph.told()  # however slow the simulation is
        self.wish = graph.node.create_publisher(String, "skill", 10)
        assert graph.wait(lambda: self.mode == "lying", 90), graph.told()

    def pushed(self, push: Publisher, message: WrenchStamped) -> bool:
        """Falls; a push ends when nobody repeats it."""
        push.publish(message)
        self.graph.spin(0.02)
        return self.mode in ("falling", "lying")

    @property
    def mode(self) -> str:
        return str(self.modes[-1].data) if self.modes else ""

    def ask(self, skill: str, until: str, seconds: float) -> bool:
        """Say it ten times a second, until the mode is entered."""

        def said() -> bool:
            self.wish.publish(String(data=skill))
            self.graph.spin(0.05)
            return self.mode == until

        return self.graph.wait(said, seconds)

    def fastest(self) -> float:
        return float(np.abs(self.joints[-1].velocity).max())


@pytest.mark.slow
def test_a_robot_that_was_knocked_over_recovers_when_it_is_asked(graph: Graph) -> None:
    robot = Knocked(graph)
    graph.spin(3.0)
    assert robot.mode == "lying", "by default nothing moves by itself"
    assert robot.ask("recover", "skill", 20), graph.told()
    assert graph.wait(lambda: robot.mode == "stable", 180), graph.told()
    names = [message.data for message in robot.modes]
    assert names.index("falling") < names.index("lying") < names.index("skill") < names.index("rising"), names


@pytest.mark.slow
def test_an_emergency_stop_ends_a_skill_at_once_and_nothing_moves_until_reset_and_arm(graph: Graph) -> None:
    robot = Knocked(graph)
    assert robot.ask("recover", "skill", 20), graph.told()
    graph.spin(1.0)
    assert robot.mode == "skill", graph.told()
    assert graph.call(Trigger, "balance_stack/estop", Trigger.Request()).success
    assert graph.wait(lambda: robot.mode == "tripped", 5), graph.told()
    assert graph.wait(lambda: robot.fastest() < SINKING, 60), "the brakes do not hold"
    assert not robot.ask("recover", "skill", 3), "a skill was begun after an emergency stop"
    assert robot.fastest() < SINKING
    assert not graph.call(SetBool, "balance_stack/arm", SetBool.Request(data=True)).success
    assert graph.call(Trigger, "balance_stack/reset", Trigger.Request()).success
    assert not robot.ask("recover", "skill", 2), "a skill was begun by a disarmed robot"
    assert graph.call(SetBool, "balance_stack/arm", SetBool.Request(data=True)).success, graph.told()
    # A reset also puts a simulated robot back on its feet.
    assert graph.wait(lambda: robot.mode == "stable", 60), graph.told()
