"""A robot on serial motor boards as a plant on topics: sensors out, commands in.

Disarmed, the motors are off. Armed, they follow the controller, and brake whenever its commands are missing for 20 ms.
The boards watch over this process in the same way (docs/protocol.md). ``plant/status`` says which of these it is.
"""

from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes import board_parameters, lockstep
from humanoid_balance.nodes.board_check import check
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.claims import PLANT
from humanoid_balance.nodes.lockstep import Lockstep
from humanoid_balance.nodes.motors import ARMING, STOPPED_MEANWHILE, Boards
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND, LATCHED, PUSH
from humanoid_balance.nodes.realtime import TickPace
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.nodes.status_topic import StatusTopic
from humanoid_balance.nodes.waiting import until
from humanoid_balance.plants.ros import commands as ros_commands
from humanoid_balance.plants.ros import push as ros_push
from humanoid_balance.plants.ros.commands import CommandGate
from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.plants.ros.push import PushInput
from humanoid_balance.plants.ros.status import ARMED, PlantStatus
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE
from humanoid_balance.types import SensorFrame, TorqueCommand

ENTRIES = (
    *board_parameters.ENTRIES,
    Entry("rate", 500.0, "samples a second [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the wire; none: the robot's own"),
    *lockstep.ENTRIES,
)


class Hardware(BoxNode):
    """See the module. Opens the ports when it is configured."""

    roles = (PLANT,)

    def __init__(self) -> None:
        super().__init__("hardware", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p, joints = self.parameters, WireJoints(robot, self.parameters["joints"])
        self.period = 1.0 / p["rate"]
        self.lockstep: bool = p["lockstep"]
        self.plant = board_parameters.open_boards(robot, p, self.lockstep)
        self.boards = Boards(self.plant)
        self.sensors = SensorTopics(self, robot, joints)
        patience = p["lockstep_timeout"]
        self.gate = CommandGate(robot, joints, self.refuse, patience if self.lockstep else COMMAND_AGE)
        self.pace = TickPace(self.period)  # in lock-step, of the time in which nobody answers
        self._answer = Lockstep(self.inbox, self.gate, self.pace, self.sensors.publish_all, patience)
        self.pushes = PushInput(self.plant, self.refuse)
        self.status = StatusTopic(self)
        self.armed = False
        self._stops = 0  # that were asked for
        self.frame: SensorFrame | None = None  # that was read last
        self.create_publisher(String, "robot_description", LATCHED).publish(String(data=robot.urdf))
        self.create_service(SetBool, "~/arm", self._on_arm, callback_group=ReentrantCallbackGroup())
        self.create_service(Trigger, "~/check", self._on_check, callback_group=ReentrantCallbackGroup())
        self.create_service(Trigger, "~/estop", self._on_estop)
        self.inbox.subscribe(Float64MultiArray, ros_commands.TOPIC, COMMAND, self.gate.accept)
        if self.plant.simulated:
            self.inbox.subscribe(WrenchStamped, ros_push.TOPIC, PUSH, self.pushes.on_message)

    def teardown(self) -> None:
        self.plant.close()

    def loop(self) -> None:
        last = float("nan")
        try:
            while self.running:
                self.frame = frame = self.plant.read()
                begun = time.perf_counter()
                if frame.stamp != last:  # the same again: the boards are silent, and so are we
                    last = frame.stamp
                    self.sensors.publish_all(frame)
                if self.lockstep:
                    self._wait_for_answer(frame)
                self.inbox.poll()
                self.pushes.update()
                self.plant.write(self._command(frame))
                self._tell()
                took = time.perf_counter() - begun
                self.watch.add(took, took > self.period)
        finally:  # what is off stays off: boards that brake when the port closes are stopped, until a reset
            brake = self.robot.brake if self.armed else np.zeros(self.robot.n)
            self.armed = False
            self.plant.write(TorqueCommand.damp(0.0, brake))

    def _wait_for_answer(self, frame: SensorFrame) -> None:
        """Where nobody drives, simulated boards follow the clock; otherwise they wait for the controller."""
        if self.armed and self.gate.label is not None:
            self._answer.wait(frame, self._waits)
        else:
            self.pace.wait()

    def _waits(self) -> bool:
        self._tell()  # it is not this plant that hangs
        return self.running and self.armed

    def _command(self, frame: SensorFrame) -> TorqueCommand:
        if not self.armed:
            return TorqueCommand.damp(frame.stamp, np.zeros(self.robot.n))
        return self.gate.command(frame.stamp)

    def _tell(self) -> None:
        """To the controller and the log."""
        self.status.update((self.armed, self.boards.sign), self._status)
        self.boards.log(self.log)

    def _status(self) -> PlantStatus:
        return self.boards.status(self.status.node, self.status.process, self.armed)

    # ---- operators ----

    async def _on_arm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data:
            response.message = await self._arm()
        else:
            self.armed = False
        response.success = not response.message
        return response

    async def _arm(self) -> str:
        """Lead all boards to DAMPING; all of them, or none."""
        if not self.running:
            return "the node is not active; next: activate it"
        status = self._status()
        if status.motors in ARMED and self.armed:
            return ""
        if self.plant.gate.latched or self.plant.trouble(armed=False) is not None:
            return status.text if status.trouble is not None else f"{self.plant.trouble(armed=False)}; next: reset"
        self.armed = True
        if await until(lambda: self._status().motors in ARMED, ARMING):
            return ""
        why = self._status().text
        self.armed = False
        return why

    async def _on_check(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = await check(self.plant, lambda: self.frame)
        return response

    def _on_estop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.armed = False
        self._stops += 1
        self.plant.stop("emergency stop by the operator")
        self.log.error("emergency stop by the operator, latched until ~/reset")
        response.success = True
        return response

    async def reset(self) -> str:
        """Afterwards the boards are disarmed."""
        self.armed, stops = False, self._stops
        why = await self.boards.release() or (STOPPED_MEANWHILE if self._stops != stops else "")
        return why or self.plant.reset() or await self.boards.clear()

    def diagnose(self) -> tuple[str, dict[str, object]]:
        status = self._status()
        figures = {"armed": self.armed, "motors": status.motors.value, **self.boards.figures()}
        figures["command age [ms]"] = 1e3 * self.gate.age
        return ("" if status.trouble is None else status.text), figures

    def warnings(self) -> list[str]:
        return self.boards.warnings()
