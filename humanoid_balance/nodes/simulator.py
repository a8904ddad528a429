"""The embedded simulator on topics: sensors out, effort commands and pushes in.

It runs in real time, or in lock-step: then it waits for the command that answers its stamp, and a run over topics is
the same as a run in one process, at any speed. Before the first command a harness holds the robot; when commands stop,
the joints are braked.
"""

from __future__ import annotations

import time

from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import Float64MultiArray

from humanoid_balance.nodes import world_parameters
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND, PUSH
from humanoid_balance.nodes.realtime import Pace, Stopwatch
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.nodes.simulated import Simulated
from humanoid_balance.plants import ros_commands, ros_push
from humanoid_balance.plants.ros_commands import CommandGate
from humanoid_balance.plants.ros_joints import WireJoints
from humanoid_balance.plants.ros_stamps import nanoseconds
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE
from humanoid_balance.types import SensorFrame

LATE = 4_000_000  # [ns]
REMEMBERED = 1000  # frames whose answer is waited for
RECENT = 20_000_000  # who answered a frame this young is there again [ns]
FAREWELL = 0.1  # [s]
RESEND = 0.05  # in lock-step a frame is sent again when its answer does not come for so long [s]

ENTRIES = (
    *world_parameters.ENTRIES,
    Entry("rate", 500.0, "sensor frames a second of simulated time [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the wire; none: the robot's own"),
    Entry("lockstep", False, "wait for the command that answers each frame, at no pace of its own"),
    Entry("lockstep_timeout", 2.0, "a controller that does not answer for so long is lost [s]", 0.05, 3600.0),
)


class Simulator(BoxNode):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("simulator", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p, joints = self.parameters, WireJoints(robot, self.parameters["joints"])
        self.lockstep: bool = p["lockstep"]
        self.simulated = Simulated(self, robot, p)
        self.sensors = SensorTopics(self, robot, joints)
        self.gate = CommandGate(robot, joints, self.refuse, p["lockstep_timeout"] if self.lockstep else COMMAND_AGE)
        self._patience, self._damped = p["lockstep_timeout"], False
        self._alone = False  # in lock-step: no controller answers
        self._driver: str | None = None
        self.latency = Stopwatch()  # from a frame to the arrival of its command
        self._published: dict[int, int] = {}  # stamp of a frame [ns] -> when it was sent, system clock [ns]
        self.inbox.subscribe(Float64MultiArray, ros_commands.TOPIC, COMMAND, self._on_command, timed=True)
        self.inbox.subscribe(WrenchStamped, ros_push.TOPIC, PUSH, self.simulated.pushes.on_message)

    def teardown(self) -> None:
        self.simulated.close()

    def _on_command(self, message: Float64MultiArray, arrived: int) -> None:
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
        self.pace = Pace(self.simulated.period)
        while self.running:
            begun = clock()
            if self.simulated.before_tick():
                self.gate.forget()
                self._damped, self._alone = False, True  # time passes until somebody takes over
            frame = plant.read()
            self._publish(frame)
            published = clock()
            in_time = self._wait_for_answer(frame) if self.lockstep else self.pace.wait()
            answered = clock()
            self.inbox.poll()
            plant.write(self.gate.command(frame.stamp))
            self._tell_driver()
            self.simulated.after_tick()
            self.watch.add(published - begun + clock() - answered, not in_time)

    def _wait_for_answer(self, frame: SensorFrame) -> bool:
        """Until a command answers the frame; False while nobody does, then time goes on in real time."""
        wanted, sent = nanoseconds(frame.stamp), time.monotonic()
        while self.running and not self.simulated.waits_for_reset:
            self.inbox.wait(0.0 if self._alone else RESEND)
            self.inbox.poll()
            if self._answered(wanted):
                return True
            if self._alone or self._gone():
                self.pace.wait()
                self.inbox.poll()
                self._alone = not self._answered(wanted - RECENT)
                return False
            if time.monotonic() - sent >= RESEND:
                self._publish(frame)
                sent = time.monotonic()
        return True

    def _answered(self, stamp: int) -> bool:
        """The newest command answers a stamp [ns] or a later one."""
        return self.gate.label is not None and self.gate.label.answers >= stamp

    def _gone(self) -> bool:
        """The controller is silent for too long. One whose last word was damping has probably ended with it."""
        label = self.gate.label
        return label is not None and self.gate.age > (FAREWELL if label.damped else self._patience)

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

    def reset(self) -> str:
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
            }
        return ("damping" if self._damped else ""), figures
