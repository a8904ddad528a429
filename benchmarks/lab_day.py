"""A lab day on virtual motor boards over ROS: arm, stand, balance, pushes from four sides, stop, reset, again.

python benchmarks/lab_day.py --robots human talos g1 --rounds 10 --line pty
python benchmarks/lab_day.py --together --line tcp

Each robot gets a board process and a graph of its own, which live through all rounds. A round is good when the robot
stands after every push and every request was granted; the table says what the others failed at. The last columns come
from the nodes' diagnostics: ticks, the share that missed their period, the share that waited in vain for a
sample (a late board, or its line; told apart in one process only), and the slowest p99 among the nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED, PUSH
from humanoid_balance.robot import registry

DIRECTIONS = (0.0, 90.0, 180.0, 270.0)  # where the push points [deg]
PUSH_TIME = 0.1  # [s]
SETTLE = 2.5  # after a push [s]
START = 60.0  # of the processes [s]
RAMP = 20.0  # the way into the stance may take so long [s]
BAD = ("tripped", "falling", "disarmed")


class Failed(Exception):
    """What a round failed at."""


class LabDay:
    """Boards and graph of one robot, and the operator."""

    def __init__(self, robot: str, line: str, together: bool, rate: float, folder: Path) -> None:
        self.robot, self.mass = robot, registry.load(robot).mass
        self.controller = "balance_stack" if together else "balance_controller"
        domain = random.SystemRandom().randrange(1, 100)
        self.environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        self.environment["ROS_LOG_DIR"] = str(folder)
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("lab_day", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.modes: list[str] = []
        self.figures: dict[str, dict[str, str]] = {}
        self.node.create_subscription(String, "balance/mode", lambda m: self.modes.append(m.data), LATCHED)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.pushes = self.node.create_publisher(WrenchStamped, "push", PUSH)
        self.logs = {name: folder / f"{robot}_{name}.txt" for name in ("board", "up")}
        where = ["--tcp", "0"] if line == "tcp" else []
        self.board = self._start("board", "board", "--robot", robot, "--json", *where)
        if not self._until(lambda: '"ports"' in self.logs["board"].read_text(), START):
            raise Failed("no board")
        first = next(text for text in self.logs["board"].read_text().splitlines() if '"ports"' in text)
        ports = [part for port in json.loads(first)["ports"] for part in ("--port", port)]
        more = [*(["--together"] if together else []), *(["--rate", str(rate)] if rate else [])]
        self.up = self._start("up", "up", "--robot", robot, "--plant", "serial", *ports, *more)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with self.logs[name].open("w") as out:
            command = [sys.executable, "-m", "humanoid_balance.cli", *arguments]
            return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=self.environment)

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            self.figures[status.name.rpartition("/")[2]] = {entry.key: entry.value for entry in status.values}

    def _until(self, true: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            self.executor.spin_once(timeout_sec=0.02)
        return True

    def ask(self, service: str, request: Any = None) -> str:
        """The reason of a refusal, or empty."""
        kind = Trigger if request is None else SetBool
        client = self.node.create_client(kind, f"{self.controller}/{service}")
        if not self._until(client.service_is_ready, START):
            raise Failed(f"no service {service}")
        future = client.call_async(request or Trigger.Request())
        if not self._until(future.done, 20.0):
            raise Failed(f"{service} does not answer")
        answer = future.result()
        self.node.destroy_client(client)
        return "" if answer.success else answer.message

    def demand(self, service: str, request: Any = None, seconds: float = 0.0) -> None:
        """Granted at once, or within a time."""
        end = time.monotonic() + seconds
        while why := self.ask(service, request):
            if time.monotonic() > end or (self.modes and self.modes[-1] == "tripped"):
                raise Failed(f"{service}: {why}")
            self._until(lambda: False, 0.2)

    def push(self, direction: float, dv: float) -> None:
        force = self.mass * dv / PUSH_TIME
        message = WrenchStamped()
        message.wrench.force.x = force * np.cos(np.radians(direction))
        message.wrench.force.y = force * np.sin(np.radians(direction))
        self.pushes.publish(message)  # holds for 0.1 s

    def round(self, first: bool, directions: tuple[float, ...], dv: float) -> None:
        self.demand("arm", SetBool.Request(data=True), START if first else 3.0)
        self.demand("stand")
        self._until(lambda: False, 4.0)
        self.demand("balance", seconds=RAMP)
        self._stands("balance", 1.0)
        if not self._until(lambda: self.pushes.get_subscription_count() > 0, 5.0):
            raise Failed("nobody can be pushed")
        for direction in directions:
            self.push(direction, dv)
            self._stands(f"push to {direction:g}", SETTLE)
        self.demand("estop")
        if not self._until(lambda: self.modes[-1] == "tripped", 2.0):
            raise Failed("stop: not tripped")
        self._until(lambda: False, 0.7)
        self.demand("reset", seconds=3.0)

    def _stands(self, what: str, seconds: float) -> None:
        if self._until(lambda: self.modes[-1] in BAD, seconds):
            raise Failed(f"{what}: {self.modes[-1]}")

    def close(self) -> None:
        self.up.send_signal(signal.SIGINT)
        self.up.wait(30)
        self.board.kill()
        self.board.wait()
        self.executor.shutdown()
        rclpy.shutdown(context=self.context)

    def missed(self) -> tuple[int, float, float, float]:
        """Ticks of the controller, share of late ones and, in one process, of those that waited in vain for a sample of
        the boards; slowest p99 of a node's tick [ms]."""
        own = self.figures.get(self.controller, {})
        ticks, late = int(own.get("ticks", 0)), int(own.get("overruns", 0))
        vain = int(own.get("ticks without a sample", 0))
        p99 = max((float(f.get("tick p99 [us]", 0.0)) for f in self.figures.values()), default=0.0)
        return ticks, late / max(1, ticks), vain / max(1, ticks), 1e-3 * p99


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # boards and graph are ended on the way out
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--robots", nargs="+", default=["human", "talos", "g1"], metavar="SPEC")
    add("--rounds", type=int, default=10)
    add("--line", choices=("pty", "tcp"), default="pty")
    add("--together", action="store_true", help="one process at 1 kHz instead of three at 500 Hz")
    add("--rate", type=float, default=0.0, metavar="HZ")
    add("--dv", type=float, default=0.3, metavar="M/S")
    add("--directions", nargs="*", type=float, default=DIRECTIONS, metavar="DEG")
    add("--logs", type=Path, help="keep what the processes print in this folder")
    options = parser.parse_args()
    folder = options.logs or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{'robot':8} {'good':>7} {'ticks':>8} {'missed':>8} {'vain':>8} {'p99 ms':>7}  failed at")
    wrong = 0
    for robot in options.robots:
        good, failures = 0, []
        day = LabDay(robot, options.line, options.together, options.rate, folder)
        try:
            for k in range(options.rounds):
                try:
                    day.round(k == 0, tuple(options.directions), options.dv)
                    good += 1
                except Failed as why:
                    failures.append(str(why))
                    day.ask("estop")
                    day._until(lambda: False, 1.0)
                    day.ask("reset")
        except Failed as why:
            failures.append(str(why))
        finally:
            ticks, share, vain, p99 = day.missed()
            day.close()
        wrong += options.rounds - good
        told = "; ".join(sorted(set(failures)))
        figures = f"{ticks:8d} {share:8.2%} {vain:8.2%} {p99:7.2f}"
        print(f"{robot:8} {good:3d}/{options.rounds:<3d} {figures}  {told}", flush=True)
    if wrong:
        print(f"logs in {folder}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
