"""Listen to the boards of a robot and show every joint; arms nothing."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.commands.common import not_negative, print_json
from humanoid_balance.errors import InputError
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.serial.config import HardwareConfig, load
from humanoid_balance.plants.serial.health import BusHealth, JointHealth
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety import plausibility
from humanoid_balance.types import SensorFrame, TorqueCommand


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--robot",
        metavar="SPEC",
        help="name, name:option=value or path to a YAML; default: the wiring file's, or human",
    )
    add("--port", action="append", default=[], metavar="URL", help="of a board; once for each")
    add("--wiring", "--config", dest="config", type=Path, metavar="F.yaml", help="wiring file instead of ports")
    add("--time", type=not_negative, default=1.0, metavar="S", help="how long to listen")
    add("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    if bool(options.port) == bool(options.config):
        raise InputError("give either --port, once for each board, or --wiring")
    config = load(options.config) if options.config else HardwareConfig.of_ports(options.port)
    robot = registry.load(options.robot or config.robot or "human")
    with SerialPlant(robot, config) as plant:
        frame, gravity = listen(robot, plant, options.time)
        buses, joints = plant.bus_health(), plant.joint_health()
        trouble = plant.trouble(armed=False)
    complaints = [
        complaint
        for complaint in (
            str(trouble) if trouble else None,
            plausibility.positions(robot, frame),
            plausibility.gravity(gravity),
            plausibility.weight(robot, frame.wrench),
        )
        if complaint
    ]
    if options.json:
        print_json(report(robot, buses, joints, complaints))
    else:
        show(buses, joints, complaints)


def listen(robot: Robot, plant: SerialPlant, seconds: float) -> tuple[SensorFrame, np.ndarray]:
    """The last frame, complete if there was one at all, and the mean of the accelerometer."""
    off = TorqueCommand.damp(0.0, np.zeros(robot.n))
    until, felt = time.monotonic() + seconds, []
    last: SensorFrame | None = None
    while True:
        frame = plant.read()
        felt.append(frame.acceleration)
        plant.write(off)
        if last is None or all(np.isfinite(part).all() for part in (frame.position, frame.wrench)):
            last = frame
        if time.monotonic() >= until:
            return last, np.nanmean(felt, axis=0) if np.isfinite(felt).any() else np.full(3, np.nan)


def report(robot: Robot, buses: list[BusHealth], joints: list[JointHealth], complaints: list[str]) -> dict[str, Any]:
    return {
        "robot": robot.spec,
        "ready": not complaints,
        "complaints": complaints,
        "buses": [vars(bus) | {"mode": bus.mode.name} for bus in buses],
        "joints": [vars(joint) for joint in joints],
    }


def show(buses: list[BusHealth], joints: list[JointHealth], complaints: list[str]) -> None:
    print(f"{'board':16} {'mode':12} {'rate Hz':>8} {'jitter us':>9} {'frames':>8} {'lost':>6} {'errors':>6}  port")
    for bus in buses:
        print(
            f"{bus.board:16} {bus.mode.name:12} {bus.rate:8.1f} {1e6 * bus.jitter:9.0f} {bus.frames:8d} {bus.lost:6d} "
            f"{bus.errors:6d}  {bus.port} {' '.join(bus.faults)}".rstrip()
        )
    width = max((len(joint.name) for joint in joints), default=5)
    print(f"\n{'joint':{width}} {'position':>10} {'limits rad':>15} {'rad/s':>7} {'N m':>7} {'°C':>5} {'V':>5}  errors")
    for joint in joints:
        limits = f"{joint.lower:6.2f} … {joint.upper:5.2f}"
        print(
            f"{joint.name:{width}} {joint.position:10.4f} {limits:>15} {joint.velocity:7.3f} {joint.torque:7.2f} "
            f"{joint.temperature:5.1f} {joint.voltage:5.1f}  {' '.join(joint.faults) or '-'}"
        )
    print("\n" + ("\n".join(f"not ready: {complaint}" for complaint in complaints) or "ready to arm"))
