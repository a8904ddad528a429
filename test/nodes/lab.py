"""A robot on virtual motor boards over ROS, and its operator: what the tests of a lab day share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, WrenchStamped
from nodes.graph import Graph, Process
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED, PUSH
from humanoid_balance.plants.ros.stamps import from_time
from humanoid_balance.robot import registry

CLI = "humanoid_balance.cli"
PUSH_TIME = 0.1  # how long one message holds [s]


class Lab:
    """Boards in a process of their own, the graph in one or three others, and requests to the controller."""

    def __init__(self, graph: Graph, robot: str, *board: str) -> None:
        """``board``: more options of the virtual board."""
        self.graph, self.robot = graph, registry.load(robot)
        self.modes: list[String] = graph.listen(String, "balance/mode", LATCHED)
        self.com: list[PointStamped] = graph.listen(PointStamped, "com")
        self.pushes = graph.node.create_publisher(WrenchStamped, "push", PUSH)
        self.board = graph.run(CLI, "board", "--robot", robot, "--json", *board)
        assert self.board.says('"ports"'), self.board.text
        self.ports: list[str] = json.loads(self.board.text.splitlines()[0])["ports"]

    def up(self, *options: str) -> Process:
        """``humanoid-balance up`` on the boards; without other options three processes."""
        ports = [part for port in self.ports for part in ("--port", port)] if "--wiring" not in options else []
        self.controller = "balance_stack" if "--together" in options else "balance_controller"
        self.nodes = self.graph.run(CLI, "up", "--robot", self.robot.spec, "--plant", "serial", *ports, *options)
        return self.nodes

    def in_lockstep(self, rate: float = 500.0, **boards: object) -> None:
        """Three processes that wait for each other: how busy the machine is makes no difference to the robot."""
        common = {"robot": self.robot.spec, "autostart": True, "rate": rate}
        wiring = boards or {"ports": self.ports}
        self.controller = "balance_controller"
        start = self.graph.start
        self.hardware = start("hardware", lockstep=True, lockstep_timeout=60, connect_timeout=60, **wiring, **common)
        start("state_estimator", sync_wait=3600, **common)
        self.nodes = start("balance_controller", staged=True, sensor_timeout=60, plant_timeout=60, **common)

    @property
    def mode(self) -> str:
        return self.modes[-1].data if self.modes else ""

    def ask(self, service: str, data: bool | None = None, node: str = "") -> Any:
        """The answer to a request; with ``data`` it is a SetBool."""
        kind, request = (Trigger, Trigger.Request()) if data is None else (SetBool, SetBool.Request(data=data))
        return self.graph.call(kind, f"{node or self.controller}/{service}", request)

    def granted(self, service: str, data: bool | None = None, seconds: float = 60.0) -> None:
        """Ask until it is granted: processes start slowly, a ramp takes its time."""
        answer: Any = None

        def yes() -> bool:
            nonlocal answer
            if answer is not None:
                self.graph.spin(0.2)
            answer = self.ask(service, data)
            return bool(answer.success) or self.mode == "tripped"

        assert self.graph.wait(yes, seconds) and answer.success, f"{service}: {answer.message}\n{self.graph.told()}"

    def balances(self) -> None:
        """From wherever it is allowed: arm, stand, balance."""
        self.granted("arm", True)
        self.granted("stand", seconds=5)
        self.granted("balance", seconds=120)
        assert self.graph.wait(lambda: self.mode == "stable", 5), self.graph.told()

    def push(self, direction: float, dv: float) -> None:
        """Where the push points [deg], and the change of speed that it would give a free body [m/s]."""
        assert self.graph.wait(lambda: self.pushes.get_subscription_count() > 0), "nobody can be pushed"
        force = self.robot.mass * dv / PUSH_TIME
        message = WrenchStamped()
        message.wrench.force.x = force * np.cos(np.radians(direction))
        message.wrench.force.y = force * np.sin(np.radians(direction))
        self.pushes.publish(message)

    @property
    def time(self) -> float:
        """Of the plant [s]."""
        return from_time(self.com[-1].header.stamp) if self.com else -1.0

    def stands(self, seconds: float) -> None:
        """It balances all the time, for so long on the plant's clock."""
        assert self.graph.wait(lambda: bool(self.com)), self.graph.told()
        end, away = self.time + seconds, ("tripped", "falling", "disarmed", "armed", "stand")
        assert self.graph.wait(lambda: self.time >= end or self.mode in away), self.graph.told()
        assert self.mode not in away, f"{self.mode}\n{self.graph.told()}"

    def stopped_and_reset(self) -> None:
        assert self.ask("estop").success
        assert self.graph.wait(lambda: self.mode == "tripped", 20), self.graph.told()
        assert self.board.says("-> STOPPED", 20), self.board.text
        self.granted_reset()

    def granted_reset(self) -> None:
        answer = self.ask("reset")
        assert answer.success, answer.message + self.graph.told()
        assert self.graph.wait(lambda: self.mode == "disarmed", 20), self.graph.told()


def wiring_file(folder: Path, robot: str, port: str, **more: object) -> Path:
    """A wiring file with one board and, in ``more``, other entries."""
    file = folder / "wiring.yaml"
    entries = {"robot": robot, "period": 0.002, "buses": [{"port": port}], **more}
    file.write_text(json.dumps(entries))  # JSON is YAML
    return file
