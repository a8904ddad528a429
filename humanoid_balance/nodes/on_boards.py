"""Motor boards inside ``balance_stack``: no topic between the controller and the lines."""

from __future__ import annotations

import time

from geometry_msgs.msg import WrenchStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String
from std_srvs.srv import Trigger

from humanoid_balance.nodes.board_check import check
from humanoid_balance.nodes.board_parameters import open_boards
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.motors import Boards
from humanoid_balance.nodes.parameters import Parameters
from humanoid_balance.nodes.qos import LATCHED, PUSH
from humanoid_balance.nodes.status_topic import StatusTopic
from humanoid_balance.plants.ros import push as ros_push
from humanoid_balance.plants.ros.push import PushInput
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SensorFrame, TorqueCommand


class OnBoards:
    """The plant of the loop, with what belongs to it in the graph. The boards' samples set the pace."""

    def __init__(self, node: BoxNode, robot: Robot, parameters: Parameters) -> None:
        self._node = node
        self.boards_plant = plant = open_boards(robot, parameters)
        self.robot = plant.robot  # with the torque that the wiring allows
        self.plant, self.dt, self.period = self, plant.dt, plant.dt
        self.motors = Boards(plant)
        self.pushes = PushInput(plant, node.refuse)
        self._status = StatusTopic(node)
        self._asked_to_reset = False
        self._woke = time.perf_counter()
        self._frame: SensorFrame | None = None  # that was read last
        self.missed = False  # no new sample came for the present tick
        self.waited_in_vain = 0  # ticks without one: the boards or their lines were late, not this loop
        node.create_publisher(String, "robot_description", LATCHED).publish(String(data=robot.urdf))
        node.create_service(Trigger, "~/check", self._on_check, callback_group=ReentrantCallbackGroup())
        if plant.simulated:
            node.inbox.subscribe(WrenchStamped, ros_push.TOPIC, PUSH, self.pushes.on_message)

    # ---- the plant of the loop ----

    def read(self) -> SensorFrame:
        frame = self.boards_plant.read()
        self._woke = time.perf_counter()
        self.missed = self._frame is not None and frame.stamp == self._frame.stamp
        self.waited_in_vain += self.missed
        self._frame = frame
        self.pushes.update()
        return frame

    def write(self, command: TorqueCommand) -> None:
        self.boards_plant.write(command)

    # ---- around a tick ----

    def ask_to_reset(self) -> None:
        """From another thread: the robot may stand somewhere else with the next tick."""
        self._asked_to_reset = True

    def before_tick(self) -> bool:
        """True when the estimate has to start anew."""
        reset, self._asked_to_reset = self._asked_to_reset, False
        return reset

    def after_tick(self) -> None:
        boards, node, process = self.motors, self._status.node, self._status.process
        self._status.update(boards.sign, lambda: boards.status(node, process, boards.armed))
        boards.log(self._node.get_logger())

    def wait(self) -> tuple[float, bool]:
        """The next ``read`` waits; how long the tick took since its sample came [s], and whether it was late."""
        took = time.perf_counter() - self._woke
        self._node.breaks.begin(time.monotonic_ns())
        return took, took > self.period or self.missed

    async def _on_check(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = await check(self.boards_plant, lambda: self._frame)
        return response

    def figures(self) -> dict[str, object]:
        return {"ticks without a sample": self.waited_in_vain, **self.motors.figures()}

    def warnings(self) -> list[str]:
        return self.motors.warnings()

    def close(self) -> None:
        self.boards_plant.close()
