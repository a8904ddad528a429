"""Plant, estimator and controller in one process and one thread, at the full rate.

The topics are those of the separate nodes, for people to look at: one of them is sent each tick, in turn, if anybody
listens. With ``full_rate`` sensors and commands are sent in every tick, for recordings that can be replayed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import Float64MultiArray

from humanoid_balance.estimation import Estimator, EstimatorSettings
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.loop import Tick
from humanoid_balance.nodes import operator, world_parameters
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.control import Control
from humanoid_balance.nodes.operator import Operator
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND, PUSH
from humanoid_balance.nodes.realtime import Pace
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.nodes.simulated import Simulated
from humanoid_balance.nodes.state_topics import StateTopics
from humanoid_balance.plants import ros_commands, ros_push
from humanoid_balance.plants.ros_commands import CommandWriter, effort
from humanoid_balance.plants.ros_joints import WireJoints
from humanoid_balance.robot.model import Robot

ENTRIES = (
    *operator.ENTRIES,
    *world_parameters.ENTRIES,
    Entry("rate", 1000.0, "control periods a second of simulated time [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the topics; none: the robot's own"),
    Entry("full_rate", False, "send sensors and commands every tick, for recordings; otherwise all topics in turn"),
)


class BalanceStack(BoxNode):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("balance_stack", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p, joints = self.parameters, WireJoints(robot, self.parameters["joints"])
        self.simulated = Simulated(self, robot, p)
        self.estimator = Estimator(robot, EstimatorSettings(guard=GuardSettings(period=1.0 / p["rate"])))
        self.own_gains = robot.config.gains
        settings = operator.balance_settings(p)
        self.control = Control(robot, self.simulated.plant, self.estimator, settings, p["auto_arm"], p["staged"])
        operator.apply_gains(p, self.control)
        self.control.rehearse()
        self.operator = Operator(self, self.control)
        self.sensors, self.topics = SensorTopics(self, robot, joints), StateTopics(self, robot)
        self.writer = CommandWriter(joints, self.get_fully_qualified_name())
        self._commands = self.create_publisher(Float64MultiArray, ros_commands.TOPIC, COMMAND)
        self.full_rate: bool = p["full_rate"]
        self._turns = [self._show_state(k) for k in range(self.topics.count)]
        if not self.full_rate:
            self._turns += [self._show_command, *(self._show_sensor(k) for k in range(self.sensors.count))]
        self.inbox.subscribe(WrenchStamped, ros_push.TOPIC, PUSH, self.simulated.pushes.on_message)

    def teardown(self) -> None:
        self.simulated.close()

    def loop(self) -> None:
        self.estimator.reset()
        pace, period, count = Pace(self.simulated.period, self.breaks), self.simulated.period, 0
        try:
            with self.breaks:
                while self.running:
                    begun = time.perf_counter()
                    count += 1
                    self._tick(count)
                    took = time.perf_counter() - begun
                    pace.wait()
                    self.watch.add(took, took > period)
        finally:
            self.control.disarm()
            self.operator.tell_mode()

    def _tick(self, count: int) -> None:
        self.inbox.poll()
        if self.simulated.before_tick():
            self.estimator.reset()  # the robot was lifted back to where it started
        tick = self.control.tick()
        self.control.loop.timing.clear()
        self.simulated.after_tick()
        self.operator.tell_mode()
        self._turns[count % len(self._turns)](tick)
        if self.full_rate:
            self.sensors.publish_all(tick.frame)
            self._show_command(tick)

    # ---- topics, one a tick ----

    def _show_command(self, tick: Tick) -> None:
        if not self._commands.get_subscription_count():
            return
        efforts = effort(tick.sent, tick.frame)
        self._commands.publish(self.writer.fill(tick.frame.stamp, efforts, tick.sent.damped))

    def _show_sensor(self, k: int) -> Callable[[Tick], None]:
        return lambda tick: self.sensors.publish(k, tick.frame)

    def _show_state(self, k: int) -> Callable[[Tick], None]:
        return lambda tick: self.topics.publish(k, tick.state)

    # ---- operators ----

    def reset(self) -> str:
        """Also the robot stands again, in its harness."""
        self.control.reset()
        self.simulated.ask_to_reset()
        return ""

    def on_live_change(self, name: str, value: Any) -> None:
        operator.live_gain(self.control, self.own_gains, name, value)

    def diagnose(self) -> tuple[str, dict[str, object]]:
        wrong, figures = operator.diagnose(self.control)
        return wrong, {**figures, **self.simulated.figures()}
