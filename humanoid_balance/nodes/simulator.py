"""The embedded simulator on topics: sensors out, effort commands and pushes in.

It runs in real time, or in lock-step: then it waits for the command that answers its stamp, and a run over topics is
the same as a run in one process, at any speed. Before the first command a harness holds the robot; when commands stop,
the joints are braked.
"""

from __future__ import annotations

import time

from geometry_msgs.msg import WrenchStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool, Float64MultiArray, String

from humanoid_balance.nodes import world_parameters
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND, LATCHED, PUSH, SENSOR
from humanoid_balance.nodes.realtime import Pace
from humanoid_balance.nodes.run import run
from humanoid_balance.plants import ros_commands, ros_push
from humanoid_balance.plants.ros_commands import CommandGate
from humanoid_balance.plants.ros_frames import SensorMessages
from humanoid_balance.plants.ros_joints import WireJoints
from humanoid_balance.plants.ros_push import PushInput
from humanoid_balance.plants.ros_stamps import nanoseconds, to_time
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE
from humanoid_balance.types import SensorFrame, TorqueCommand

RESEND = 0.05  # in lock-step a frame is sent again when its answer does not come for so long [s]
LOOK = 0.05  # between two looks whether the robot fell [s]

ENTRIES = (
    *world_parameters.ENTRIES,
    Entry("rate", 500.0, "sensor frames a second of simulated time [Hz]", 50.0, 1000.0),
    Entry("joints", [], "order of the joints on the wire; none: the robot's own"),
    Entry("speed", 1.0, "simulated over real time; in lock-step there is no pace", 0.01, 100.0),
    Entry("lockstep", False, "wait for the command that answers each frame"),
    Entry("lockstep_timeout", 2.0, "a controller that does not answer for so long is lost [s]", 0.05, 3600.0),
    Entry("harness", True, "hold the robot until the first command"),
    Entry("publish_clock", False, "publish /clock"),
)


class Simulator(BoxNode):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("simulator", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p = self.parameters
        joints = WireJoints(robot, p["joints"])
        self.lockstep: bool = p["lockstep"]
        self.plant = world_parameters.make_plant(robot, p, p["rate"])
        timeout = p["lockstep_timeout"] if self.lockstep else COMMAND_AGE
        self.gate = CommandGate(robot, joints, self.refuse, timeout)
        self.pushes = PushInput(self.plant, self.refuse)
        self.messages = SensorMessages(robot, joints)
        self.period = 1.0 / (p["rate"] * p["speed"])
        self.harness: bool = p["harness"]
        self._asked_to_reset, self._fallen, self._damped = False, False, False
        create = self.create_publisher
        self._outputs = [create(Imu, "imu", SENSOR)]
        self._outputs += [create(WrenchStamped, f"{side}_foot/wrench", SENSOR) for side in ("left", "right")]
        self._outputs.append(create(JointState, "joint_states", SENSOR))  # last: it completes the frame
        self._time = create(Clock, "/clock", SENSOR) if p["publish_clock"] else None
        self._fell = create(Bool, "~/fell", LATCHED)
        self._description = create(String, "robot_description", LATCHED)
        self._description.publish(String(data=robot.urdf))
        self._fell.publish(Bool(data=False))
        self.inbox.subscribe(Float64MultiArray, ros_commands.TOPIC, COMMAND, self.gate.accept)
        self.inbox.subscribe(WrenchStamped, ros_push.TOPIC, PUSH, self.pushes.on_message)

    def teardown(self) -> None:
        for publisher in (*self._outputs, self._fell, self._description):
            self.destroy_publisher(publisher)
        if self._time is not None:
            self.destroy_publisher(self._time)

    def loop(self) -> None:
        self.plant.reset(self.plant.time)
        self.gate.forget()
        self.pace = Pace(self.period)
        while self.running:
            begun = time.perf_counter()
            if self._asked_to_reset:
                self._stand_again()
            self.pushes.update()
            frame = self.plant.read()
            self._publish(frame)
            published = time.perf_counter()
            command, in_time = self._answer(frame)
            stepping = time.perf_counter()
            if command is None:
                self.plant.hold()
            else:
                self.plant.write(command)
                self._tell_damping(command.damped)
            self._look(frame)
            self.watch.add(published - begun + time.perf_counter() - stepping, not in_time)

    # ---- one tick ----

    def _publish(self, frame: SensorFrame) -> None:
        messages = self.messages
        messages.fill(frame)
        if self._time is not None:
            self._time.publish(Clock(clock=to_time(frame.stamp)))
        for publisher, message in zip(self._outputs, (messages.imu, *messages.wrenches, messages.joints), strict=True):
            publisher.publish(message)

    def _answer(self, frame: SensorFrame) -> tuple[TorqueCommand | None, bool]:
        """What the motors do next, None while the harness holds; and whether it came in time."""
        in_time = self._wait_for_answer(frame) if self.lockstep else self.pace.wait()
        self.inbox.poll()
        if self.gate.label is None and (self.harness or not self.running):
            return None, in_time
        return self.gate.command(frame.stamp), in_time

    def _wait_for_answer(self, frame: SensorFrame) -> bool:
        """Until a command answers the frame; False when the controller is lost, then time goes on in real time."""
        wanted = nanoseconds(frame.stamp)
        while self.running and not self._asked_to_reset:
            self.inbox.wait(RESEND if self.gate.fresh or self.gate.label is None else 0.0)
            self.inbox.poll()
            label = self.gate.label
            if label is not None and label.answers == wanted:
                return True
            if label is not None and not self.gate.fresh:
                self.pace.wait()
                return False
            self._publish(frame)
        return True

    def _look(self, frame: SensorFrame) -> None:
        """Tell once when the robot lies."""
        if round(frame.stamp / self.plant.dt) % max(1, round(LOOK / self.plant.dt)) == 0:
            fell = self.plant.fell()
            if fell and not self._fallen:
                self._fell.publish(Bool(data=True))
                self.log.info(f"the robot fell at {frame.stamp:.2f} s")
            self._fallen = self._fallen or fell

    def _tell_damping(self, damped: bool) -> None:
        if damped and not self._damped:
            why = "the controller asks for it" if self.gate.fresh else f"no command for {1e3 * self.gate.age:.0f} ms"
            self.log.warning(f"damping: {why}")
        self._damped = damped

    # ---- operators ----

    def reset(self) -> str:
        self._asked_to_reset = True
        return ""

    def _stand_again(self) -> None:
        """The robot stands in the harness again, time goes on."""
        self.pushes.stop()
        self.plant.reset(self.plant.time)
        self.gate.forget()
        self._asked_to_reset, self._fallen = False, False
        self._fell.publish(Bool(data=False))

    def diagnose(self) -> tuple[str, dict[str, object]]:
        held = self.gate.label is None
        state = "harness" if held else "damping" if self._damped else "driven"
        figures = {"plant": state, "time [s]": self.plant.time, "fell": self._fallen}
        if not held:
            figures["command age [ms]"] = 1e3 * self.gate.age
        return ("damping" if self._damped else ""), figures


def main() -> None:
    raise SystemExit(run(Simulator))


if __name__ == "__main__":
    main()
