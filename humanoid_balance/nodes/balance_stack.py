"""Plant, estimator and controller in one process and one thread, at the full rate.

The plant is a simulated robot or, with ``plant:=serial``, motor boards.

The topics are those of the separate nodes, for people to look at: one of them is sent each tick, in turn, if anybody
listens. With ``full_rate`` sensors and commands are sent in every tick, for recordings that can be replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from std_msgs.msg import Float64MultiArray

from humanoid_balance.errors import InputError
from humanoid_balance.estimation import Estimator, EstimatorSettings
from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.loop import Tick
from humanoid_balance.nodes import board_parameters, operator, quick, wishes, world_parameters
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.claims import CONTROLLER, ESTIMATOR, PLANT
from humanoid_balance.nodes.control import Control
from humanoid_balance.nodes.on_boards import OnBoards
from humanoid_balance.nodes.operator import Operator
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import EACH
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.nodes.simulated import Simulated
from humanoid_balance.nodes.state_topics import StateTopics
from humanoid_balance.nodes.wishes import Wishes
from humanoid_balance.plants.ros import commands as ros_commands
from humanoid_balance.plants.ros.commands import CommandWriter
from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import STILL

PLANTS = ("simulation", "serial")

ENTRIES = (
    *operator.ENTRIES,
    *wishes.ENTRIES,
    *world_parameters.ENTRIES,
    *board_parameters.ENTRIES,
    Entry("plant", PLANTS[0], "what is driven: a simulated robot, or motor boards", choices=PLANTS),
    Entry("rate", 1000.0, "control periods a second of simulated time [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the topics; none: the robot's own"),
    Entry("full_rate", False, "send sensors and commands every tick, for recordings; otherwise all topics in turn"),
)


class BalanceStack(BoxNode):
    """See the module."""

    roles = (PLANT, ESTIMATOR, CONTROLLER)

    def __init__(self) -> None:
        super().__init__("balance_stack", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p, joints = self.parameters, WireJoints(robot, self.parameters["joints"])
        serial = p["plant"] == "serial"
        if serial and (p["auto_arm"] or not p["staged"]):
            raise InputError("parameters 'auto_arm' and 'staged': with 'plant' serial allowed: false and true")
        self.plant = OnBoards(self, robot, p) if serial else Simulated(self, robot, p)
        self.robot = robot = self.plant.robot
        self.estimator = Estimator(robot, EstimatorSettings(guard=GuardSettings(period=1.0 / p["rate"])))
        self.own_gains = robot.config.gains
        settings = operator.balance_settings(p)
        self.control = Control(
            robot, self.plant.plant, self.estimator, settings, p["auto_arm"], p["staged"], self.plant.motors
        )
        operator.apply_gains(p, self.control)
        self.control.rehearse()
        self.operator = Operator(self, self.control)
        self.wishes = Wishes(self)
        self.sensors, self.topics = SensorTopics(self, robot, joints), StateTopics(self, robot)
        self.writer = CommandWriter(joints, self.get_fully_qualified_name())
        self._commands = self.create_publisher(Float64MultiArray, ros_commands.TOPIC, EACH)
        self.full_rate: bool = p["full_rate"]
        self._turns = [self._show_state(k) for k in range(self.topics.count)]
        if not self.full_rate:
            self._turns += [self._show_command, *(self._show_sensor(k) for k in range(self.sensors.count))]

    def teardown(self) -> None:
        self.plant.close()

    def loop(self) -> None:
        self.estimator.reset()
        count = 0
        if isinstance(self.plant, Simulated):
            self.plant.wait_for_recorder()
        self.plant.wait()  # the first tick begins now
        try:
            with self.breaks:
                while self.running:
                    count += 1
                    self._tick(count)
                    self.watch.add(*self.plant.wait())
        finally:
            self.control.disarm()
            self.operator.tell_mode()

    def _tick(self, count: int) -> None:
        self.inbox.poll()
        if self.plant.before_tick():
            self.estimator.reset()  # the robot was lifted back to where it started
        last = self.control.last
        tick = self.control.tick(STILL if last is None else self.wishes.command(last.frame.stamp))
        self.wishes.tell(tick.refused)
        self.control.loop.timing.clear()
        self.plant.after_tick()
        self.operator.tell_mode()
        self._turns[count % len(self._turns)](tick)
        if self.full_rate:
            self.sensors.publish_all(tick.frame)
            self._show_command(tick)

    # ---- topics, one a tick ----

    def _show_command(self, tick: Tick) -> None:
        if not self._commands.get_subscription_count():
            return
        self._commands.publish(quick.encode(self.writer.fill(tick.sent, tick.frame, gains=False)))

    def _show_sensor(self, k: int) -> Callable[[Tick], None]:
        return lambda tick: self.sensors.publish(k, tick.frame)

    def _show_state(self, k: int) -> Callable[[Tick], None]:
        return lambda tick: self.topics.publish(k, tick.state)

    # ---- operators ----

    async def reset(self) -> str:
        """Also a simulated robot stands again, in its harness."""
        why = await self.operator.reset()
        if not why:
            self.plant.ask_to_reset()
        return why

    def on_live_change(self, name: str, value: Any) -> None:
        operator.live_gain(self.control, self.own_gains, name, value)

    def diagnose(self) -> tuple[str, dict[str, object]]:
        wrong, figures = operator.diagnose(self.control)
        return wrong, {**figures, **self.plant.figures()}

    def warnings(self) -> list[str]:
        return [*operator.warnings(self.control), *self.plant.warnings()]
