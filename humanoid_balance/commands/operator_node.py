"""The node behind the commands of an operator: finds the controller of a namespace and asks it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED, PUSH, SENSOR
from humanoid_balance.robot.model import Robot

CONTROLLERS = ("balance_controller", "balance_stack")
PLANT = "hardware"
STOPPED = 1.0  # the plant gets so long to confirm an emergency stop [s]


class OperatorNode:
    """Use it in ``with``."""

    def __init__(self, namespace: str = "") -> None:
        self.namespace = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
        self.modes: list[str] = []
        self.joints: JointState | None = None  # newest
        self.answer = ""  # message of the last request that was granted

    def __enter__(self) -> OperatorNode:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node("operator", namespace=self.namespace or "/", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.node.create_subscription(String, "balance/mode", self._on_mode, LATCHED)
        self.node.create_subscription(JointState, "joint_states", self._on_joints, SENSOR)
        self._pushes = self.node.create_publisher(WrenchStamped, "push", PUSH)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_mode(self, message: String) -> None:
        self.modes.append(message.data)

    def _on_joints(self, message: JointState) -> None:
        self.joints = message

    def wait(self, true: Callable[[], bool], seconds: float) -> bool:
        """Handle messages until something is true; False if it did not come in time."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=0.02)
        return True

    def controller(self, seconds: float) -> str:
        """Fully qualified name of the node that can be armed, or empty."""
        found = ""

        def look() -> bool:
            nonlocal found
            services = {name for name, _ in self.node.get_service_names_and_types()}
            names = [f"{self.namespace}/{name}" for name in CONTROLLERS]
            found = next((name for name in names if f"{name}/arm" in services), "")
            return bool(found)

        self.wait(look, seconds)
        return found

    def ask(self, service: str, on: bool | None, seconds: float) -> str:
        """The reason of a refusal, or empty; with ``on`` the service is a SetBool."""
        kind: type = Trigger if on is None else SetBool
        request: Any = Trigger.Request() if on is None else SetBool.Request(data=on)
        client = self.node.create_client(kind, service)
        try:
            if not self.wait(client.service_is_ready, seconds):
                return f"{service} is not there"
            future = client.call_async(request)
            if not self.wait(future.done, seconds):
                return f"{service} did not answer within {seconds:g} s"
            answer = future.result()
            self.answer = answer.message
            return "" if answer.success else answer.message or "no reason was given"
        finally:
            self.node.destroy_client(client)

    def stop_plant(self) -> str:
        """Also without the controller: the plant of the namespace, where it can be stopped."""
        service = f"{self.namespace}/{PLANT}/estop"
        if service not in {name for name, _ in self.node.get_service_names_and_types()}:
            return ""
        return self.ask(service, None, STOPPED)

    def joint_table(self, robot: Robot) -> list[str]:
        """Every joint's angle, range and stance [rad], one line each."""
        self.joints = None
        if not self.wait(lambda: self.joints is not None, STOPPED):
            return ["no joint_states"]
        newest: JointState = self.joints
        read = dict(zip(newest.name, newest.position, strict=True))
        rows = zip(robot.joint_names, robot.lower, robot.upper, robot.posture, strict=True)
        width = max(map(len, robot.joint_names))
        return [
            f"{name:{width}} {read[name]:8.3f}   range {low:6.2f} … {high:5.2f}   stance {stance:6.3f}"
            for name, low, high, stance in rows
        ]

    def push(self, impulse: float) -> bool:
        """A tenth of a second forward [N s], where the robot is a simulated one; False for a real one."""
        if not self._pushes.get_subscription_count():
            return False
        message = WrenchStamped()
        message.wrench.force.x = impulse / 0.1
        self._pushes.publish(message)
        return True
