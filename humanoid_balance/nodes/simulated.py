"""The simulated robot inside a node: its world, its harness, the pushes, and whether it fell."""

from __future__ import annotations

from rosgraph_msgs.msg import Clock
from std_msgs.msg import Bool, String

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Parameters
from humanoid_balance.nodes.qos import LATCHED, SENSOR
from humanoid_balance.nodes.world_parameters import make_plant
from humanoid_balance.plants.harness import HarnessedPlant
from humanoid_balance.plants.ros_push import PushInput
from humanoid_balance.plants.ros_stamps import to_time
from humanoid_balance.robot.model import Robot

LOOK = 0.05  # between two looks whether the robot fell [s]


class Simulated:
    """Topics ``~/fell``, ``robot_description`` and, where asked for, ``/clock``."""

    def __init__(self, node: BoxNode, robot: Robot, parameters: Parameters) -> None:
        self._node = node
        body = make_plant(robot, parameters)
        self.plant = HarnessedPlant(body, parameters["harness"])
        self.pushes = PushInput(body, node.refuse)
        self.period = body.dt / parameters["speed"]  # of real time [s]
        self.fallen = False
        self._asked_to_reset = False
        self._ticks, self._look_every = 0, max(1, round(LOOK / body.dt))
        create = node.create_publisher
        self._fell = create(Bool, "~/fell", LATCHED)
        self._fell.publish(Bool(data=False))
        self._description = create(String, "robot_description", LATCHED)
        self._description.publish(String(data=robot.urdf))
        self._clock = create(Clock, "/clock", SENSOR) if parameters["publish_clock"] else None

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
            self._node.get_logger().info(f"the robot fell at {self.plant.plant.time:.2f} s")

    def _tell(self, fallen: bool) -> None:
        self.fallen = fallen
        self._fell.publish(Bool(data=fallen))

    def figures(self) -> dict[str, object]:
        return {"time [s]": self.plant.plant.time, "harness": self.plant.held, "fell": self.fallen}

    def close(self) -> None:
        self.plant.plant.close()
