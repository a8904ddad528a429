"""Start the ROS 2 nodes of a robot, without a launch system."""

from __future__ import annotations

import argparse
import importlib.util
import signal
import subprocess
import sys
import time
from pathlib import Path

from humanoid_balance.commands.common import number, writable
from humanoid_balance.errors import InputError
from humanoid_balance.nodes import start
from humanoid_balance.nodes.executables import Signals
from humanoid_balance.plants.world import SIMULATORS
from humanoid_balance.robot import registry

PLANTS = (*SIMULATORS, "topics", "serial")
GRACE = 10.0  # nodes get this long to end by themselves [s]
LOOK = 0.1  # [s]


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    add("--plant", default="mujoco", choices=PLANTS, help="simulated here, driven by others' topics, or motor boards")
    add("--port", action="append", default=[], metavar="URL", help="of a motor board; once for each (--plant serial)")
    add("--namespace", default="", metavar="NAME", help="of all nodes, for a second robot beside the first")
    add("--rate", type=number, default=0.0, metavar="HZ", help="of the loop; default: 1000, with --separate 500")
    add("--separate", action="store_true", help="simulator, estimator and controller in processes of their own")
    add("--record", type=Path, metavar="F.mcap", help="all topics")
    add("--pushes", type=Path, metavar="F.yaml", help="play these pushes, then end")
    add("--csv", type=Path, metavar="F.csv", help="what came of each of --pushes")


def run(options: argparse.Namespace) -> None:
    if importlib.util.find_spec("rclpy") is None:
        raise InputError("ROS 2 is not installed; get it with: pip install humanoid_balance[ros]")
    registry.load(options.robot)
    nodes = _graph(options)
    files = start.parameter_files(options.robot)
    signals = Signals()
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "humanoid_balance.nodes",
                node.executable,
                *node.arguments(options.namespace, files),
            ],
            start_new_session=True,  # the terminal's interrupt comes once, from here
        )
        for node in nodes
    ]
    names = [node.executable for node in nodes]
    print(f"humanoid-balance up: {options.robot}: {', '.join(names)}; Ctrl-C ends", file=sys.stderr)
    try:
        first = _wait(running, signals)
    finally:
        _end(running)
    if first is not None and running[first].returncode:
        raise InputError(f"{names[first]} ended with {running[first].returncode}; all others were ended")


def _graph(options: argparse.Namespace) -> list[start.NodeStart]:
    """The nodes that the options ask for."""
    if options.plant in SIMULATORS:
        recorded = options.record is not None
        nodes = start.simulation(options.robot, options.rate, options.separate, recorded, simulator=options.plant)
    else:
        nodes = start.controller(options.robot, options.rate or start.SEPARATE_RATE, simulated=False)
    if options.plant == "serial":
        nodes.insert(0, start.hardware(options.robot, options.port, options.rate or start.SEPARATE_RATE))
    if options.record is not None:
        writable(options.record, "--record")
        nodes.insert(0, start.recorder(options.robot, str(options.record.resolve())))
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


def _end(running: list[subprocess.Popen[bytes]]) -> None:
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
