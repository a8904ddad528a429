"""Parameters of a robot on motor boards; shared by ``hardware`` and ``balance_stack``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from humanoid_balance.errors import InputError
from humanoid_balance.nodes.parameters import Entry, Parameters
from humanoid_balance.plants.serial import config
from humanoid_balance.plants.serial.plant import SerialPlant
from humanoid_balance.robot.model import Robot

ENTRIES = (
    Entry("ports", [], "serial ports of the motor boards, all joints together; or give 'wiring'"),
    Entry("wiring", "", "wiring file: ports, calibration, servos, torque; see docs/hardware.md"),
    Entry("torque", -1.0, "share of the torque limits that boards may use; -1 takes the wiring file's", -1.0, 1.0),
    Entry("connect_timeout", 5.0, "the boards get so long to introduce themselves [s]", 0.5, 60.0),
)


def open_boards(robot: Robot, parameters: Parameters, lockstep: bool = False) -> SerialPlant:
    """The boards of a robot, known and configured, drives off; in ``lockstep`` they have to be simulated."""
    p = parameters
    if bool(p["ports"]) == bool(p["wiring"]):
        given = "both are" if p["ports"] else "neither is"
        raise InputError(f"parameters 'ports' and 'wiring': {given} given; allowed: one of them")
    wiring = config.load(Path(p["wiring"])) if p["wiring"] else config.HardwareConfig.of_ports(p["ports"])
    if wiring.robot is not None and wiring.robot != robot.spec:
        raise InputError(f"parameter 'robot' is '{robot.spec}'; {p['wiring']} is the wiring of '{wiring.robot}'")
    if p["torque"] >= 0.0:
        wiring = replace(wiring, torque=p["torque"])
    return SerialPlant(robot, wiring, 1.0 / p["rate"], lockstep=lockstep, timeout=p["connect_timeout"])
