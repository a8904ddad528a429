"""Nodes in processes of their own, on a ROS domain of their own."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile

ROOT = Path(__file__).resolve().parents[2]
LIBC, PR_SET_PDEATHSIG = ctypes.CDLL(None), 1  # sys/prctl.h
ASK_AGAIN = 6.0  # longer than any request takes [s]
PATIENCE = 120.0  # a busy machine starts processes slowly [s]


def go_first() -> None:
    """Of this process: before other work, but without a real-time rank.

    Boards, three nodes and their tests take nearly two cores. With ranks there is nothing left on a small machine for
    others, and Linux stops the ranks for 50 ms of every second to help them (docs/ros.md).
    """
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)


class Process:
    """A node, or another command of the package, with all that it printed."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path, prompt: bool = False) -> None:
        """``prompt``: it goes before other work, where that is permitted."""
        self.log = log

        def prepare() -> None:
            # A test run in the background ignores the interrupt; the process under test must not inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a test run that is killed leaves nothing behind
            if prompt:
                go_first()

        with log.open("w") as out:
            self.popen = subprocess.Popen(
                [sys.executable, *command],
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
                preexec_fn=prepare,
            )

    @property
    def text(self) -> str:
        return self.log.read_text()

    def says(self, words: str, seconds: float = PATIENCE) -> bool:
        """Wait until the words were printed."""
        return wait_until(lambda: words in self.text or self.popen.poll() is not None, seconds) and words in self.text

    def end(self, number: int = signal.SIGINT, seconds: float = 20.0) -> int:
        """Send a signal, wait, and give the exit code."""
        if self.popen.poll() is None:
            self.popen.send_signal(number)
        return self.popen.wait(seconds)


def wait_until(true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    """Running, and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Graph:
    """A ROS domain for one test: starts processes, listens, sends, calls services."""

    def __init__(self, folder: Path, prompt: bool = False) -> None:
        self.prompt = prompt
        self.domain = random.SystemRandom().randrange(1, 100)  # Linux keeps the ports of higher ones for itself
        self.environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
            "ROS_LOG_DIR": str(folder / "log"),
        }
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self.folder = folder
        self.processes: list[Process] = []
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = Node(f"test_{self.domain}", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def in_slow_motion(self, factor: int) -> None:
        """All processes that are started from now on: see ``slow_motion``."""
        path = [str(Path(__file__).parent / "slow_motion"), *filter(None, [self.environment.get("PYTHONPATH")])]
        self.environment |= {"SLOW_MOTION": str(factor), "PYTHONPATH": os.pathsep.join(path)}

    def start(self, node: str, *arguments: str, **parameters: object) -> Process:
        """A node with parameters; ``arguments`` are more ``--ros-args``."""
        given = [part for name, value in parameters.items() for part in ("-p", f"{name}:={_yaml(value)}")]
        return self.run("humanoid_balance.nodes", node, "--ros-args", *given, *arguments)

    def run(self, module: str, *arguments: str) -> Process:
        return self._start(["-m", module, *arguments], arguments[0])

    def run_script(self, script: Path, *arguments: str) -> Process:
        return self._start([str(script), *arguments], script.stem)

    def _start(self, command: list[str], name: str) -> Process:
        log = self.folder / f"{len(self.processes)}_{name}.txt"
        self.processes.append(Process(command, self.environment, log, self.prompt))
        return self.processes[-1]

    def listen(self, kind: type, topic: str, qos: QoSProfile | int = 1000) -> list[Any]:
        """A list that grows with the messages of a topic while ``wait`` runs."""
        heard: list[Any] = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def wait(self, true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Handle messages until something is true."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            self.executor.spin_once(timeout_sec=0.02)
        return True

    def spin(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def call(self, kind: type, name: str, request: Any) -> Any:
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(PATIENCE), f"no service {name}"
        futures: list[Any] = []  # a request may go to a process that was killed a moment ago: ask again

        def answered() -> bool:
            return any(future.done() for future in futures)

        for _ in range(round(PATIENCE / ASK_AGAIN)):
            futures.append(client.call_async(request))
            if self.wait(answered, ASK_AGAIN):
                break
        assert answered(), f"no answer from {name}\n{self.told()}"
        self.node.destroy_client(client)
        return next(future.result() for future in futures if future.done())

    def told(self) -> str:
        """All that the processes printed, for a failing assertion."""
        return "\n".join(f"--- {p.log.name}\n{p.text}" for p in self.processes)

    def close(self) -> None:
        for process in self.processes:
            if process.popen.poll() is None:
                os.killpg(process.popen.pid, signal.SIGKILL)
                process.popen.wait()
        # In this order: a node that outlives its context is freed by the garbage collector, which has crashed.
        self.executor.remove_node(self.node)
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def _yaml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, list) else str(value)
