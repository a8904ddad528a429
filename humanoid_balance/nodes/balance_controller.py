"""State in, efforts out: balance, whole-body control and safety on topics."""

from __future__ import annotations

import math
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from humanoid_balance.nodes import operator, quick, state_message, wishes
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.claims import CONTROLLER
from humanoid_balance.nodes.control import Control
from humanoid_balance.nodes.motors import PlantLink
from humanoid_balance.nodes.operator import Operator
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND, LATCHED, SENSOR
from humanoid_balance.nodes.state_message import StateMessage
from humanoid_balance.nodes.waiting import DISCOVERY, ask, until
from humanoid_balance.nodes.wishes import Wishes
from humanoid_balance.plants.ros import commands as ros_commands
from humanoid_balance.plants.ros import status as ros_status
from humanoid_balance.plants.ros.commands import CommandWriter
from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.plants.ros.plant import TopicPlant
from humanoid_balance.plants.ros.status import SILENCE
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Arming, Trip
from humanoid_balance.types import RobotState, SensorFrame, TorqueCommand

GONE = 0.5  # without sensors for longer nothing is armed: it would trip at once [s]
SEVERAL = 2  # states: the first may have waited for a controller that was being loaded, and its sender be gone
LOOK = 0.005  # between two looks at the watchdog [s]

ENTRIES = (
    *operator.ENTRIES,
    *wishes.ENTRIES,
    Entry("rate", 500.0, "nominal rate of the states [Hz]", 50.0, 2000.0),
    Entry("joints", [], "order of the joints in the command; none: the robot's own"),
    Entry(
        "drive_gains",
        "auto",
        "stiffness and damping to plants that report themselves; false: efforts only",
        choices=("auto", "false"),
    ),
    Entry("estimator", "state_estimator", "node whose estimate starts anew with ~/reset; none: nobody is asked"),
    Entry("plant_timeout", SILENCE, "a plant with motors that reports nothing for so long is lost [s]", 0.1, 3600.0),
    Entry("sensor_timeout", 0.02, "no state for so long, on the steady clock: damping, latched [s]", 0.005, 3600.0),
)


class BalanceController(BoxNode):
    """Answers each state with a command."""

    roles = (CONTROLLER,)

    def __init__(self) -> None:
        super().__init__("balance_controller", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p = self.parameters
        self.period = 1.0 / p["rate"]
        writer = CommandWriter(WireJoints(robot, p["joints"]), self.get_fully_qualified_name())
        self._commands = self.create_publisher(Float64MultiArray, ros_commands.TOPIC, COMMAND)
        listeners = self._commands.get_subscription_count
        self.motors = PlantLink(self, robot, p["drive_gains"], p["plant_timeout"], listeners)
        self.plant = TopicPlant(self.period, writer, self._publish, lambda: self.motors.takes_gains)
        self.own_gains = robot.config.gains
        settings = operator.balance_settings(p)
        self.control = Control(
            robot, self.plant, self.plant, settings, p["auto_arm"], p["staged"], self.motors, self._plant_refuses
        )
        operator.apply_gains(p, self.control)
        self.control.rehearse()
        self.operator = Operator(self, self.control)
        self.wishes = Wishes(self)
        self.wire = StateMessage(robot, self.refuse)
        self._newest: tuple[SensorFrame, RobotState] | None = None
        self._arrived = time.monotonic()  # when a state came last [s]
        self._came = 0  # states
        self.inbox.subscribe(Float64MultiArray, state_message.TOPIC, SENSOR, self._on_state)
        self.inbox.subscribe(DiagnosticStatus, ros_status.TOPIC, LATCHED, self.motors.on_status)
        self._restart_estimate = None
        if p["estimator"]:
            name, group = f"{p['estimator']}/reset", ReentrantCallbackGroup()
            self._restart_estimate = self.create_client(Trigger, name, callback_group=group)

    def _publish(self, command: Float64MultiArray) -> None:
        self._commands.publish(quick.encode(command))

    def _plant_refuses(self) -> str:
        """A controller that is not heard yet must not think that it acts."""
        why = self.motors.missing()
        if not why and self._came < SEVERAL:
            why = "no sensors yet; next: look at /diagnostics of the plant and the estimator"
        if not why and (age := time.monotonic() - self._arrived) > GONE:
            why = f"no sensors for {age:.1f} s; next: look at /diagnostics of the plant and the estimator"
        return why

    def _on_state(self, message: Float64MultiArray) -> None:
        self._newest = self.wire.read(message) or self._newest

    def loop(self) -> None:
        control, timeout = self.control, self.parameters["sensor_timeout"]
        answered, self._arrived = math.nan, time.monotonic()
        try:
            while self.running:
                self.inbox.wait(LOOK)
                begun = time.perf_counter()
                self.inbox.poll()
                newest, self._newest = self._newest, None
                if newest is None:
                    self._watch_sensors(time.monotonic() - self._arrived, timeout)
                    continue
                self._arrived, self._came = time.monotonic(), self._came + 1
                if newest[0].stamp == answered:
                    self.plant.repeat()
                    continue
                self.plant.put(*newest)
                self.wishes.tell(control.tick(self.wishes.command(newest[0].stamp)).refused)
                answered = math.nan if self.plant.silent else newest[0].stamp
                control.loop.timing.clear()
                self.operator.tell_mode()
                took = time.perf_counter() - begun
                self.watch.add(took, took > self.period)
        finally:
            self._end()

    def _watch_sensors(self, age: float, timeout: float) -> None:
        """Nothing came: where the robot is driven, brake it and say so, again and again.

        Motors that drop out take the sensors with them, also those of a robot that is armed and only brakes.
        """
        safety = self.control.safety
        if safety.arming in (Arming.ARMED, Arming.ACTIVE) and (trouble := self.motors.trouble(armed=True)) is not None:
            self.control.stop(trouble)
        if age > timeout and safety.arming is Arming.ACTIVE:
            self.control.stop(Trip("no sensors [s]", state_message.TOPIC, age, timeout))
        if age > timeout and safety.arming is Arming.TRIPPED and self.control.last is not None:
            self._brake()
        self.operator.tell_mode()

    def _brake(self) -> None:
        stamp = self.plant.read().stamp
        self.plant.write(TorqueCommand.damp(stamp, self.robot.brake))

    def _end(self) -> None:
        """The last word to the plant is damping."""
        if self.control.safety.arming is not Arming.DISARMED and self.control.last is not None:
            self._brake()
        self.control.disarm()
        self.operator.tell_mode()

    async def reset(self) -> str:
        """Plant and controller are disarmed then, and the estimate starts anew: the robot may have been moved."""
        why, estimator = await self.operator.reset(), self._restart_estimate
        if why or estimator is None or self.control.last is None:
            return why
        if await until(estimator.service_is_ready, DISCOVERY):  # this node, or that one, may have just been started
            return await ask(estimator, Trigger.Request())
        self.log.warning(f"the estimate goes on: no {estimator.srv_name}; see parameter 'estimator'")
        return ""

    def on_live_change(self, name: str, value: Any) -> None:
        operator.live_gain(self.control, self.own_gains, name, value)

    def diagnose(self) -> tuple[str, dict[str, object]]:
        return operator.diagnose(self.control)

    def warnings(self) -> list[str]:
        return operator.warnings(self.control)
