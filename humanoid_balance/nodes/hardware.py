"""A robot on serial motor boards as a plant on topics: sensors out, effort commands in.

Disarmed, the motors are off. Armed, they follow the controller, and brake whenever its commands are missing for 20 ms.
The boards watch over this process in the same way (docs/protocol.md).
"""

from __future__ import annotations

import time

import numpy as np
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND, LATCHED
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.plants import ros_commands
from humanoid_balance.plants.ros_commands import CommandGate
from humanoid_balance.plants.ros_joints import WireJoints
from humanoid_balance.plants.serial.plant import SerialPlant
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SensorFrame, TorqueCommand

ENTRIES = (
    Entry("ports", [], "serial ports of the motor boards, all joints together"),
    Entry("rate", 500.0, "samples a second [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the wire; none: the robot's own"),
    Entry("connect_timeout", 5.0, "the boards get so long to introduce themselves [s]", 0.5, 60.0),
)


class Hardware(BoxNode):
    """See the module. Opens the ports when it is configured."""

    def __init__(self) -> None:
        super().__init__("hardware", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p, joints = self.parameters, WireJoints(robot, self.parameters["joints"])
        self.period = 1.0 / p["rate"]
        self.plant = SerialPlant(robot, p["ports"], self.period, timeout=p["connect_timeout"])
        self.sensors = SensorTopics(self, robot, joints)
        self.gate = CommandGate(robot, joints, self.refuse)
        self.armed = False
        self.create_publisher(String, "robot_description", LATCHED).publish(String(data=robot.urdf))
        self.create_service(SetBool, "~/arm", self._on_arm)
        self.create_service(Trigger, "~/estop", self._on_estop)
        self.inbox.subscribe(Float64MultiArray, ros_commands.TOPIC, COMMAND, self.gate.accept)

    def teardown(self) -> None:
        self.plant.close()

    def loop(self) -> None:
        last = float("nan")
        try:
            while self.running:
                frame = self.plant.read()
                begun = time.perf_counter()
                if frame.stamp != last:  # the same again: the boards are silent, and so are we
                    last = frame.stamp
                    self.sensors.publish_all(frame)
                self.inbox.poll()
                self.plant.write(self._command(frame))
                took = time.perf_counter() - begun
                self.watch.add(took, took > self.period)
        finally:
            self.armed = False
            self.plant.write(TorqueCommand.damp(0.0, self.robot.brake))

    def _command(self, frame: SensorFrame) -> TorqueCommand:
        if not self.armed:
            return TorqueCommand.damp(frame.stamp, np.zeros(self.robot.n))
        return self.gate.command(frame.stamp)

    # ---- operators ----

    def _on_arm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data and self.plant.gate.stopped:
            response.message = f"stopped: {self.plant.gate.reason}; call ~/reset first"
        elif request.data and not self.running:
            response.message = "the node is not active"
        elif request.data and self.plant.gate.latched:
            response.message = f"the boards have to be disarmed first: {self.plant.gate.reason}"
        else:
            self.armed = request.data
            response.success = True
        return response

    def _on_estop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.armed = False
        self.plant.stop("emergency stop by the operator")
        self.log.error("emergency stop by the operator, latched until ~/reset")
        response.success = True
        return response

    def reset(self) -> str:
        self.armed = False
        return self.plant.reset() or ""

    def diagnose(self) -> tuple[str, dict[str, object]]:
        gate = self.plant.gate
        modes = ", ".join(mode.name for mode in self.plant.modes)
        figures = {"armed": self.armed, "boards": modes, "command age [ms]": 1e3 * self.gate.age}
        return (gate.reason if gate.stopped or (self.armed and gate.latched) else ""), figures
