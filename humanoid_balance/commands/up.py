"""Start the ROS 2 nodes of a robot, without a launch system."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import count, namespace, not_negative, number, writable
from humanoid_balance.errors import InputError
from humanoid_balance.nodes import start
from humanoid_balance.nodes.executables import PARENT, Signals
from humanoid_balance.nodes.rank import PRIORITY
from humanoid_balance.plants.serial import config as wiring
from humanoid_balance.plants.world import SIMULATORS
from humanoid_balance.robot import registry

PLANTS = (*SIMULATORS, "topics", "serial")
GRACE = 10.0  # nodes get this long to end by themselves [s]
LOOK = 0.1  # [s]


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--robot", metavar="SPEC", help="name, name:option=value or path to a YAML; default: the wiring's, or human")
    add("--plant", default="mujoco", choices=PLANTS, help="simulated here, driven by others' topics, or motor boards")
    add("--port", action="append", default=[], metavar="URL", help="of a motor board; once for each (--plant serial)")
    add("--wiring", type=Path, metavar="W.yaml", help="wiring file instead of ports (--plant serial)")
    add("--torque", type=number, metavar="X", help="share of the torque limits that the boards are allowed")
    add(
        "--namespace",
        type=namespace,
        default="",
        metavar="NAME",
        help="of all nodes, for a second robot beside the first",
    )
    rate = "of the loop; default: the wiring file's, or 1000, in separate processes 500"
    add("--rate", type=number, default=0.0, metavar="HZ", help=rate)
    add("--separate", action="store_true", help="simulator, estimator and controller in processes of their own")
    add("--together", action="store_true", help="boards, estimator and controller in one process (--plant serial)")
    rank = f"SCHED_FIFO priority of the nodes of a real robot, where permitted; default {PRIORITY}, 0: none"
    add("--priority", type=int, choices=range(100), default=PRIORITY, metavar="P", help=rank)
    add("--record", type=Path, metavar="F.mcap", help="all topics")
    add("--rotate", type=not_negative, metavar="MB", help="of --record: the next file, F_2.mcap, begins at this size")
    add("--keep", type=count, metavar="N", help="of --record with --rotate: only the newest N files stay")
    add("--pushes", type=Path, metavar="F.yaml", help="play these pushes, then end")
    add("--csv", type=Path, metavar="F.csv", help="what came of each of --pushes")


def run(options: argparse.Namespace) -> None:
    if importlib.util.find_spec("rclpy") is None:
        raise InputError("ROS 2 is not installed; get it with: pip install humanoid_balance[ros]")
    boards = _wiring(options)
    registry.load(options.robot)
    nodes = _graph(options, boards)
    signals = Signals()
    running = start_nodes(nodes, options.robot, options.namespace)
    names = [node.executable for node in nodes]
    print(f"humanoid-balance up: {options.robot}: {', '.join(names)}; Ctrl-C ends", file=sys.stderr)
    try:
        first = _wait(running, signals)
    finally:
        end_nodes(running)
    if first is not None and running[first].returncode:
        raise InputError(f"{names[first]} ended with {running[first].returncode}; all others were ended")


def start_nodes(nodes: list[start.NodeStart], robot: str, namespace: str) -> list[subprocess.Popen[bytes]]:
    """A process for each; they end with this one, however it ends."""
    files = start.parameter_files(robot)
    return [
        subprocess.Popen(
            [sys.executable, "-m", "humanoid_balance.nodes", node.executable, *node.arguments(namespace, files)],
            start_new_session=True,  # the terminal's interrupt comes once, from here
            env={**os.environ, PARENT: str(os.getpid())},
        )
        for node in nodes
    ]


def _wiring(options: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the boards; a wiring file also says which robot it is for."""
    given: dict[str, Any] = {}
    if options.plant != "serial":
        for name in ("port", "wiring", "torque", "together"):
            if getattr(options, name):
                raise InputError(f"--{name}: only together with --plant serial")
    elif bool(options.port) == bool(options.wiring):
        raise InputError("--plant serial: give either --port, once for each board, or --wiring")
    elif options.wiring is not None:
        options.robot = options.robot or wiring.load(options.wiring).robot
        given = {"wiring": str(options.wiring.resolve())}
    else:
        given = {"ports": options.port}
    if options.torque is not None:
        given["torque"] = float(options.torque)
    options.robot = options.robot or "human"
    return given


def _graph(options: argparse.Namespace, boards: dict[str, Any]) -> list[start.NodeStart]:
    """The nodes that the options ask for."""
    recorded = options.record is not None
    for name in ("rotate", "keep"):
        if getattr(options, name) is not None and not recorded:
            raise InputError(f"--{name}: only together with --record")
    if options.plant in SIMULATORS:
        nodes = start.simulation(options.robot, options.rate, options.separate, recorded, simulator=options.plant)
    elif options.plant == "serial":
        if options.together:
            boards["full_rate"] = recorded
        nodes = start.boards(options.robot, options.rate, not options.together, options.priority, **boards)
    else:
        nodes = start.controller(options.robot, options.rate or start.SEPARATE_RATE, False, options.priority)
    if options.record is not None:
        writable(options.record, "--record")
        limits = (float(options.rotate or 0.0), options.keep or 0)
        nodes.insert(0, start.recorder(options.robot, str(options.record.resolve()), *limits))
    if options.pushes is not None:
        csv = options.csv or options.pushes.with_suffix(".csv")
        writable(csv, "--csv")
        script = {"script": str(options.pushes.resolve()), "csv": str(csv.resolve())}
        driver = "balance_controller" if options.separate else "balance_stack"
        simulator = "simulator" if options.separate else "balance_stack"
        names = {
            "controller": driver,
            "simulator": simulator,
            "estimator": "state_estimator" if options.separate else "",
        }
        nodes.append(start.teleop(options.robot, "script", **names, **script))
    elif options.csv is not None:
        raise InputError("--csv: only together with --pushes")
    return nodes


def _wait(running: list[subprocess.Popen[bytes]], signals: Signals) -> int | None:
    """Until a signal comes, or a node ends: then which one."""
    while not signals.received:
        for k, process in enumerate(running):
            if process.poll() is not None:
                return k
        time.sleep(LOOK)
    return None


def end_nodes(running: list[subprocess.Popen[bytes]]) -> None:
    """Last started, first ended: the controller before its plant."""
    for process in reversed(running):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + GRACE
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
