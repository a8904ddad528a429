"""The boards and servos that a wiring file describes, with a simulated robot behind them: the other end of its cables.

A host that uses the same file sees the joints of the model: the calibration is applied the other way round here.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.plants.board.board import VirtualBoard
from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.board.device import Device
from humanoid_balance.plants.board.endpoint import Endpoint, PtyEndpoint, TcpEndpoint
from humanoid_balance.plants.board.servos import ServoChain
from humanoid_balance.plants.protocol import Sensors
from humanoid_balance.plants.protocol.vocabulary import MAX_JOINTS
from humanoid_balance.plants.serial import table
from humanoid_balance.plants.serial.config import HardwareConfig


def devices_of(body: Body, config: HardwareConfig) -> list[Device]:
    """One for each bus. Joints that no servo has are shared in order among the boards; the first board has the IMU, the
    last one the feet."""
    config.check_joints(body.robot)
    names, known = body.robot.joint_names, config.calibration
    on_servos = {joint for bus in config.buses for joint in bus.servos}
    rest = np.array([i for i, name in enumerate(names) if name not in on_servos], dtype=int)
    boards = [k for k, bus in enumerate(config.buses) if not bus.servos]
    if not boards:
        raise ConfigError(config.file, "buses", "dynamixel", "one board or more: servos have neither IMU nor soles")
    if rest.size > MAX_JOINTS * len(boards):
        raise ConfigError(config.file, "buses", len(boards), f"up to {MAX_JOINTS} joints for each board")
    parts = dict(zip(boards, np.array_split(rest, len(boards)), strict=True))
    devices: list[Device] = []
    for k, bus in enumerate(config.buses):
        if bus.servos:
            devices.append(ServoChain(f"servos_{k}", body, bus.servos, table.calibration(list(bus.servos), known)))
            continue
        sensors = Sensors.IMU if k == boards[0] else Sensors(0)
        if k == boards[-1]:
            sensors |= Sensors.LEFT_FOOT | Sensors.RIGHT_FOOT
        gauge = table.calibration([names[i] for i in parts[k]], known)
        board = VirtualBoard(f"board_{k}", body, parts[k], sensors, gauge)
        board.half_duplex = bus.half_duplex
        devices.append(board)
    return devices


def endpoint_of(port: str) -> Endpoint:
    """What a host opens as ``port``: a pseudo-terminal behind that link, or a TCP port of this machine."""
    if port.startswith("socket://"):
        address = urlsplit(port)
        if address.port is None:
            raise InputError(f"port {port}: has no number; allowed: socket://127.0.0.1:4000")
        return TcpEndpoint(address.port, address.hostname or "127.0.0.1")
    if "://" in port:
        raise InputError(f"port {port}: cannot be simulated; allowed: a path or socket://host:port")
    return PtyEndpoint(Path(port))
