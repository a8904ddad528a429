"""Sensors in, state out: the estimator on topics."""

from __future__ import annotations

import math
import time

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

from humanoid_balance.estimation import Estimator, EstimatorSettings
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.nodes import quick, state_message, touch_topic
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.claims import ESTIMATOR
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import EACH, SENSOR
from humanoid_balance.nodes.state_message import StateMessage
from humanoid_balance.nodes.state_topics import StateTopics
from humanoid_balance.nodes.touch_topic import TouchReceiver
from humanoid_balance.plants.ros.frames import FrameReader
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import RobotState

IDLE = 0.1  # the loop looks up this often when nothing comes [s]

ENTRIES = (
    Entry("rate", 500.0, "nominal rate of the sensors [Hz]", 50.0, 2000.0),
    Entry("sync_wait", 0.001, "a joint sample waits so long for IMU and feet with its stamp [s]", 0.0, 3600.0),
    Entry("publish_rate", 100.0, "of odom, com, zmp, dcm, com_velocity and push_estimate [Hz]", 1.0, 2000.0),
)


class StateEstimator(BoxNode):
    """A frame in, a state out, as soon as the frame is complete."""

    roles = (ESTIMATOR,)

    def __init__(self) -> None:
        super().__init__("state_estimator", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p = self.parameters
        self.period = 1.0 / p["rate"]
        settings = EstimatorSettings(guard=GuardSettings(period=self.period))
        self.estimator = Estimator(robot, settings)
        self.reader = FrameReader(robot, self.period, p["sync_wait"], self.refuse)
        self.wire = StateMessage(robot, self.refuse)
        self.topics = StateTopics(self, robot)
        self.state: RobotState | None = None
        self._asked_to_reset = False
        self._state_out = self.create_publisher(Float64MultiArray, state_message.TOPIC, EACH)
        subscribe, reader = self.inbox.subscribe, self.reader
        subscribe(Imu, "imu", SENSOR, reader.on_imu)
        for side, name in enumerate(("left", "right")):
            subscribe(WrenchStamped, f"{name}_foot/wrench", SENSOR, reader.on_wrench(side))
        subscribe(JointState, "joint_states", SENSOR, reader.on_joints)
        self.touches = TouchReceiver(self.refuse)
        subscribe(Float64MultiArray, touch_topic.TOPIC, SENSOR, self.touches.on_message)

    def loop(self) -> None:
        self.estimator.reset()
        publish_every, next_publish = 1.0 / self.parameters["publish_rate"], -math.inf
        message = b""  # that was sent last
        while self.running:
            self.inbox.wait(min(IDLE, self.reader.incomplete_for))
            self.inbox.poll()
            begun = time.perf_counter()
            frame = self.reader.take()
            if frame is None:
                if self.reader.repeated and self.state is not None:
                    self.reader.repeated = False
                    self._state_out.publish(message)
                continue
            if self._asked_to_reset:
                self._asked_to_reset = False
                self.estimator.reset()
            self.state = state = self.estimator.update(frame, self.touches.at(frame.stamp))
            message = quick.encode(self.wire.write(frame, state))
            self._state_out.publish(message)
            if not next_publish - 1.0 < state.stamp < next_publish:  # the clock of a simulation may be set back
                next_publish = state.stamp + publish_every - self.period / 2
                self.topics.publish_all(state)
            took = time.perf_counter() - begun
            self.watch.add(took, took > self.period)

    async def reset(self) -> str:
        """The estimate starts anew with the next frame, as after a robot was lifted and put down elsewhere."""
        self._asked_to_reset = True
        return ""

    def diagnose(self) -> tuple[str, dict[str, object]]:
        state = self.state
        if state is None:
            return "no sensors yet", {}
        faults = ", ".join(state.faults)
        contact = " ".join(name for name, on in zip(("left", "right"), state.contact, strict=True) if on)
        figures = {"stamp [s]": state.stamp, "valid": state.valid, "faults": faults, "contacts": contact or "none"}
        return (faults or "state not valid") if not state.valid else "", figures
