"""The simulated robot inside a node: its world, its harness, the pushes, and whether it fell."""

from __future__ import annotations

import time
from threading import Event

from geometry_msgs.msg import WrenchStamped
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Bool, String

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Parameters
from humanoid_balance.nodes.qos import LATCHED, PUSH, SENSOR
from humanoid_balance.nodes.realtime import TickPace
from humanoid_balance.nodes.world_parameters import make_plant, push_place
from humanoid_balance.plants.harness import HarnessedPlant
from humanoid_balance.plants.ros import push as ros_push
from humanoid_balance.plants.ros.push import PushInput
from humanoid_balance.plants.ros.stamps import to_time
from humanoid_balance.robot.model import Robot

LOOK = 0.05  # between two looks whether the robot fell [s]
SLOW = 0.95  # share of the wanted speed below which a simulation is slow
RECORDER = 60.0  # a recorder gets so long to find its topics; a busy machine starts processes slowly [s]
SPAN = 1.0  # over which its speed is measured [s]


class Simulated:
    """Topics ``~/fell``, ``robot_description`` and, where asked for, ``/clock``."""

    motors = None  # nobody has to arm a simulation

    def __init__(self, node: BoxNode, robot: Robot, parameters: Parameters) -> None:
        self._node, self.robot = node, robot
        body = make_plant(robot, parameters)
        self.plant = HarnessedPlant(body, parameters["harness"])
        self.pushes = PushInput(body, node.refuse, *push_place(body.robot, parameters))
        node.inbox.subscribe(WrenchStamped, ros_push.TOPIC, PUSH, self.pushes.on_message)
        self.period = body.dt / parameters["speed"]  # of real time [s]
        self.pace = TickPace(self.period, node.breaks)
        self._woke = time.perf_counter()
        self._recorder_ready: Event | None = None
        if parameters["recorded"]:
            self._recorder_ready = ready = Event()
            node.inbox.subscribe(Bool, "recorder/ready", LATCHED, lambda message: ready.set())
        self.fallen = False
        self._speed: float = parameters["speed"]
        self._measured = (time.monotonic(), 0.0, 1.0)  # when, simulated time [s], share of the wanted speed
        self._asked_to_reset = False
        self._ticks, self._look_every = 0, max(1, round(LOOK / body.dt))
        create = node.create_publisher
        self._fell = create(Bool, "~/fell", LATCHED)
        self._fell.publish(Bool(data=False))
        self._description = create(String, "robot_description", LATCHED)
        self._description.publish(String(data=robot.urdf))
        self._clock = create(Clock, "/clock", SENSOR) if parameters["publish_clock"] else None

    def wait_for_recorder(self) -> None:
        """Where a recording was asked for, time begins when the recorder listens to every topic, or has given up."""
        if self._recorder_ready is None:
            return
        end = time.monotonic() + RECORDER
        while self._node.running and not self._recorder_ready.is_set():
            if time.monotonic() > end:
                self._node.get_logger().warning(f"no recorder was ready within {RECORDER:g} s; going on without it")
                break
            self._node.inbox.wait(LOOK)
            self._node.inbox.poll()
        self._recorder_ready = None
        self._measured = (time.monotonic(), self.plant.plant.time, 1.0)

    def ask_to_reset(self) -> None:
        """From another thread: stand in the harness again before the next tick."""
        self._asked_to_reset = True

    @property
    def waits_for_reset(self) -> bool:
        return self._asked_to_reset

    def before_tick(self) -> bool:
        """What comes before the sensors are read; True when the robot was put back on its feet."""
        reset, self._asked_to_reset = self._asked_to_reset, False
        if reset:
            self.pushes.stop()
            self.plant.hang_up()
            self._tell(False)
        self.pushes.update()
        if self._clock is not None:
            self._clock.publish(Clock(clock=to_time(self.plant.plant.time)))
        return reset

    def after_tick(self) -> None:
        """Tell once when the robot lies."""
        self._ticks += 1
        if self._ticks % self._look_every == 0 and not self.fallen and self.plant.plant.fell():
            self._tell(True)
            self._node.get_logger().error(f"the robot fell at {self.plant.plant.time:.2f} s")

    def wait(self) -> tuple[float, bool]:
        """Until the next tick is due; how long the last one took [s], and whether that was too long."""
        took = time.perf_counter() - self._woke
        self.pace.wait()
        self._woke = time.perf_counter()
        return took, took > self.period

    def _tell(self, fallen: bool) -> None:
        self.fallen = fallen
        self._fell.publish(Bool(data=fallen))

    def figures(self) -> dict[str, object]:
        return {"time [s]": self.plant.plant.time, "harness": self.plant.held, "fell": self.fallen}

    def warnings(self) -> list[str]:
        """Simulated time does not keep up with the clock."""
        if self._recorder_ready is not None:
            return ["waits for the recorder"]
        now, time_now = time.monotonic(), self.plant.plant.time
        then, time_then, share = self._measured
        if now - then >= SPAN:
            share = (time_now - time_then) / (self._speed * (now - then))
            self._measured = (now, time_now, share)
            if 0.0 <= share < SLOW:
                self._node.unwell("the simulation is slow", f"{share:.0%} of the speed that is asked for")
        return [f"the simulation runs at {share:.0%} of its speed"] if 0.0 <= share < SLOW else []

    def close(self) -> None:
        self.plant.plant.close()
