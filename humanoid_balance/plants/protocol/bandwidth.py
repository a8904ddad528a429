"""How much of a line the frames take: ``python -m humanoid_balance.plants.protocol.bandwidth``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_balance.plants.protocol.command import ROWS, WireCommand
from humanoid_balance.plants.protocol.packet import WireFrame, wire_size
from humanoid_balance.plants.protocol.sensors import FootWrench, Imu
from humanoid_balance.plants.protocol.state import State
from humanoid_balance.plants.protocol.vocabulary import BoardFault, Mode

BITS_PER_BYTE = 10  # start bit, eight bits, stop bit
JOINTS = 34
RATE = 1000  # [Hz]
BUSES = (1, 2, 4, 5)  # into which the joints are split
SENSORS: tuple[WireFrame, ...] = (Imu(np.zeros(3), np.zeros(3)), *(FootWrench(side, np.zeros(6)) for side in (0, 1)))


def state_size(n: int) -> int:
    """Most bytes of a state frame for ``n`` joints on the wire."""
    zero = np.zeros(n)
    state = State(Mode.TORQUE, BoardFault(0), 0, 0, 0, zero, zero, zero, zero, zero, zero.astype(np.uint16))
    return wire_size(len(state.pack()))


def command_size(mode: Mode, n: int) -> int:
    """Most bytes of a command frame for ``n`` joints on the wire."""
    return wire_size(len(WireCommand(mode, 0, np.zeros((ROWS[mode], n))).pack()))


def sensor_size() -> int:
    """Most bytes of one IMU and two foot frames on the wire."""
    return sum(wire_size(len(frame.pack())) for frame in SENSORS)


def load(size: int, rate: float) -> float:
    """Of so many bytes ``rate`` times a second [Mbit/s]."""
    return size * BITS_PER_BYTE * rate * 1e-6


def table(joints: int, rate: float, buses: Sequence[int]) -> str:
    """Bytes a period and Mbit/s on the fullest of so many buses, without IMU and feet, as a Markdown table."""
    lines = [
        "| buses | joints | State | Command, torque | Command, impedance | up | down, torque | down, impedance "
        "| both, torque | both, impedance |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for count in buses:
        n = -(-joints // count)
        sizes = state_size(n), command_size(Mode.TORQUE, n), command_size(Mode.IMPEDANCE, n)
        up, torque, impedance = (load(size, rate) for size in sizes)
        loads = (up, torque, impedance, up + torque, up + impedance)
        cells = [*map(str, (count, n, *sizes)), *(f"{value:.2f}" for value in loads)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(JOINTS, RATE, BUSES))
    print(f"IMU and both feet: {sensor_size()} bytes, {load(sensor_size(), RATE):.2f} Mbit/s more")
