"""The YAML of a robot's wiring: ports, kinds of buses, calibration of the joints; see ``docs/hardware.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.plants.dynamixel import Servo
from humanoid_balance.plants.serial.calibration import JointCalibration
from humanoid_balance.robot.model import Robot
from humanoid_balance.yaml_file import Reader, names_of, read

BAUD = 4_000_000
PERIOD = 0.001  # of a loop for which nobody gives another [s]
KINDS = ("board", "dynamixel")


@dataclass(frozen=True)
class BusConfig:
    """One port."""

    port: str  # any pyserial URL
    kind: str = "board"
    baud: int = BAUD
    half_duplex: bool = False  # RS-485 on two wires: the board speaks only when spoken to
    servos: Mapping[str, Servo] = field(default_factory=dict)  # of a Dynamixel bus, by joint


@dataclass(frozen=True)
class HardwareConfig:
    """All of ``config/hardware/R.yaml``."""

    buses: tuple[BusConfig, ...]
    calibration: Mapping[str, JointCalibration] = field(default_factory=dict)
    torque: float = 1.0  # share of the robot's torque limits that is allowed; the host's part is ``Robot.capped``
    robot: str | None = None  # specification of the robot
    period: float | None = None  # of the loop [s]; None: whoever opens the boards has one
    file: Path | None = None

    @staticmethod
    def of_ports(ports: Sequence[str]) -> HardwareConfig:
        """Plain boards without calibration."""
        return HardwareConfig(tuple(BusConfig(port) for port in ports))

    def check_joints(self, robot: Robot) -> None:
        """Every name must be one of the robot's joints."""
        known = ", ".join(robot.joint_names)
        for name in self.calibration:
            if name not in robot.joint_names:
                raise ConfigError(self.file, "calibration", name, f"joints of the robot: {known}")
        for k, bus in enumerate(self.buses):
            for name in bus.servos:
                if name not in robot.joint_names:
                    raise ConfigError(self.file, f"buses.{k}.servos", name, f"joints of the robot: {known}")


def load(file: Path) -> HardwareConfig:
    """Read and check a wiring file."""
    reader = read(file)
    entries = reader.take("buses", allowed="a list of ports")
    if not isinstance(entries, list) or not entries:
        raise reader.bad("buses", entries, "a list of ports")
    joints = reader.section("calibration", {})
    config = HardwareConfig(
        buses=tuple(_bus(Reader(file, entry, f"buses.{k}.")) for k, entry in enumerate(entries)),
        calibration={name: _calibration(joints.section(name)) for name in list(joints.data)},
        torque=reader.number("torque", 1.0, 0.01, 1.0),
        robot=reader.text("robot", None),
        period=reader.number("period", PERIOD, 1e-4, 0.02) if "period" in reader.data else None,
        file=file,
    )
    reader.done(names_of(HardwareConfig, ("file",)))
    return config


def _bus(reader: Reader) -> BusConfig:
    kind = reader.text("kind", "board")
    if kind not in KINDS:
        raise reader.bad("kind", kind, ", ".join(KINDS))
    servos = reader.section("servos", {})
    if (kind == "dynamixel") != bool(servos.data):
        raise reader.bad("servos", dict(servos.data) or None, "joints with their servos, on a dynamixel bus only")
    config = BusConfig(
        port=reader.text("port"),
        kind=kind,
        baud=round(reader.number("baud", BAUD, 9600, 12e6)),
        half_duplex=reader.flag("half_duplex", False),
        servos={name: _servo(servos.section(name)) for name in list(servos.data)},
    )
    reader.done(names_of(BusConfig))
    identifiers = [servo.identifier for servo in config.servos.values()]
    if len(set(identifiers)) < len(identifiers):
        raise reader.bad("servos", identifiers, "identifiers that differ")
    return config


def _servo(reader: Reader) -> Servo:
    values = {
        "torque_constant": reader.number("torque_constant", ..., 1e-6, 1e3),
        "current_limit": reader.number("current_limit", ..., 1e-6, 1e3),
        "current_unit": reader.number("current_unit", 2.69e-3, 1e-6, 1.0),
    }
    identifier = reader.number("identifier", ..., 0, 252)
    reader.done(names_of(Servo))
    try:
        return Servo(round(identifier), **values)
    except InputError as error:
        raise reader.bad("current_limit", values["current_limit"], str(error)) from None


def _calibration(reader: Reader) -> JointCalibration:
    sign = reader.number("sign", 1, -1, 1)
    if abs(sign) != 1:
        raise reader.bad("sign", sign, "1 or -1")
    entry = JointCalibration(
        offset=reader.number("offset", 0.0, -2 * math.pi, 2 * math.pi),
        sign=int(sign),
        ratio=reader.number("ratio", 1.0, 1e-3, 1e3),
    )
    reader.done(names_of(JointCalibration))
    return entry
