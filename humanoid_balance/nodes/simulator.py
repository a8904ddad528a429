"""The embedded simulator on topics: sensors out, effort commands and pushes in.

It runs in real time, or in lock-step: then it waits for the command that answers its stamp, and a run over topics is
the same as a run in one process, at any speed. Before the first command a harness holds the robot; when commands stop,
the joints are braked.
"""

from __future__ import annotations

import time

from std_msgs.msg import Float64MultiArray

from humanoid_balance.nodes import lockstep, world_parameters
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.claims import PLANT
from humanoid_balance.nodes.lockstep import Lockstep
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND
from humanoid_balance.nodes.realtime import Stopwatch
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.nodes.simulated import Simulated
from humanoid_balance.nodes.status_topic import StatusTopic
from humanoid_balance.plants.ros import commands as ros_commands
from humanoid_balance.plants.ros.commands import CommandGate
from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.plants.ros.stamps import nanoseconds
from humanoid_balance.plants.ros.status import Motors, PlantStatus
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE
from humanoid_balance.types import SensorFrame

LATE = 3_500_000  # a command that takes longer from its frame counts as late [ns]
REMEMBERED = 1000  # frames whose answer is waited for

ENTRIES = (
    *world_parameters.ENTRIES,
    Entry("rate", 500.0, "sensor frames a second of simulated time [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the wire; none: the robot's own"),
    *lockstep.ENTRIES,
)


class SimulatorNode(BoxNode):
    """See the module."""

    roles = (PLANT,)

    def __init__(self) -> None:
        super().__init__("simulator", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p, joints = self.parameters, WireJoints(robot, self.parameters["joints"])
        self.lockstep: bool = p["lockstep"]
        self.simulated = Simulated(self, robot, p)
        self.sensors = SensorTopics(self, robot, joints)
        self.gate = CommandGate(robot, joints, self.refuse, p["lockstep_timeout"] if self.lockstep else COMMAND_AGE)
        self.status = StatusTopic(self)
        self._damped = False
        self.pace = self.simulated.pace
        self._answer = Lockstep(self.inbox, self.gate, self.pace, self._publish, p["lockstep_timeout"])
        self._driver: str | None = None
        self.latency = Stopwatch()  # from a frame to the arrival of its command
        self._published: dict[int, int] = {}  # stamp of a frame [ns] -> when it was sent, system clock [ns]
        self.inbox.subscribe(Float64MultiArray, ros_commands.TOPIC, COMMAND, self._on_command, timed=True)

    def teardown(self) -> None:
        self.simulated.close()

    def _on_command(self, message: Float64MultiArray, arrived: int, number: int | None) -> None:
        if self.gate.accept(message) and self.gate.label is not None:
            sent = self._published.pop(self.gate.label.answers, None)
            if sent is not None:
                self.latency.add(1e-9 * (arrived - sent), late=arrived - sent > LATE)

    def _publish(self, frame: SensorFrame) -> None:
        if len(self._published) >= REMEMBERED:
            self._published.clear()
        self._published[nanoseconds(frame.stamp)] = time.time_ns()
        self.sensors.publish_all(frame)

    def loop(self) -> None:
        plant, clock = self.simulated.plant, time.perf_counter
        self.simulated.wait_for_recorder()
        while self.running:
            begun = clock()
            if self.simulated.before_tick():
                self.gate.forget()
                self._damped, self._answer.alone = False, True  # time passes until somebody takes over
            frame = plant.read()
            self._publish(frame)
            self.status.update((self._damped, self.simulated.plant.held), self._status)
            published = clock()
            in_time = self._answer.wait(frame, self._waits) if self.lockstep else self.pace.wait()
            answered = clock()
            self.inbox.poll()
            plant.write(self.gate.command(frame.stamp))
            self._tell_driver()
            self.simulated.after_tick()
            self.watch.add(published - begun + clock() - answered, not in_time)

    def _waits(self) -> bool:
        return self.running and not self.simulated.waits_for_reset

    def _tell_driver(self) -> None:
        """Once when somebody takes over, and when the joints are braked."""
        gate, label = self.gate, self.gate.label
        if label is None or self.simulated.plant.held:
            return
        damped = label.damped or not gate.fresh
        if label.source != self._driver and not damped:
            self._driver = label.source
            self.log.info(f"driven by '{label.source or 'unknown'}'")
        if damped and not self._damped:
            why = "the controller asks for it" if gate.fresh else f"no command for {1e3 * gate.age:.0f} ms"
            self.log.warning(f"damping: {why}")
        self._damped = damped

    def _status(self) -> PlantStatus:
        """Nobody has to arm a simulation, and its joints run stiffness and damping themselves."""
        still = self._damped or self.simulated.plant.held
        motors = Motors.BRAKING if still else Motors.FOLLOWING
        return PlantStatus(self.status.node, self.status.process, armable=False, motors=motors)

    async def reset(self) -> str:
        """The robot stands in the harness again, time goes on."""
        self.simulated.ask_to_reset()
        return ""

    def diagnose(self) -> tuple[str, dict[str, object]]:
        figures = self.simulated.figures()
        if not self.simulated.plant.held:
            figures |= {
                "damping": self._damped,
                "command age [ms]": 1e3 * self.gate.age,
                "sensor to command median [us]": self.latency.percentile(50),
                "sensor to command p99 [us]": self.latency.percentile(99),
                "commands": self.latency.ticks,
                "late commands": self.latency.overruns,
            }
        return ("damping" if self._damped else ""), figures

    def warnings(self) -> list[str]:
        return [] if self.lockstep else self.simulated.warnings()
