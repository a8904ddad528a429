"""From the numbers of a board to those of the model: offset, sign and ratio of each joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_balance.plants.protocol import Mode, WireCommand
from humanoid_balance.types import Array, TorqueCommand


@dataclass(frozen=True)
class JointCalibration:
    """position of the joint = sign * position of the board / ratio + offset."""

    offset: float = 0.0  # [rad]
    sign: int = 1
    ratio: float = 1.0  # turns of what the board measures for one of the joint


class Calibration:
    """The joints of one board (n,)."""

    def __init__(self, joints: list[JointCalibration]) -> None:
        self.offset = np.array([joint.offset for joint in joints])
        self.gear = np.array([joint.sign * joint.ratio for joint in joints])  # signed ratio

    def position(self, board: Array) -> Array:
        return board / self.gear + self.offset

    def raw_position(self, joint: Array) -> Array:
        """The reverse: what the board calls a position of the joint."""
        return (joint - self.offset) * self.gear

    def velocity(self, board: Array) -> Array:
        return board / self.gear

    def raw_velocity(self, joint: Array) -> Array:
        return joint * self.gear

    def torque(self, board: Array) -> Array:
        return board * self.gear

    def raw_torque(self, joint: Array) -> Array:
        return joint / self.gear

    def range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Limits of the joints from those of the board."""
        ends = self.position(lower), self.position(upper)
        return np.minimum(*ends), np.maximum(*ends)

    def limit(self, joint: Array) -> Array:
        """Torque limits or brakes of the joints as the board takes them."""
        return joint / np.abs(self.gear)

    def brake(self, joint: Array) -> Array:
        """Viscous damping of the joints as the board takes it."""
        return joint / self.gear**2

    def command(self, mode: Mode, answers: int, command: TorqueCommand, index: Array) -> WireCommand:
        """The board's part of a command for all joints."""
        if mode is Mode.TORQUE:
            return WireCommand(mode, answers, self.raw_torque(command.torque[index])[None])
        if mode is not Mode.IMPEDANCE:
            return WireCommand.idle(mode, answers, len(index))
        rows = (
            self.raw_torque(command.torque[index]),
            self.raw_position(command.position[index]),
            self.raw_velocity(command.velocity[index]),
            command.stiffness[index] / self.gear**2,
            command.damping[index] / self.gear**2,
        )
        return WireCommand(mode, answers, np.array(rows))
