"""Joint vectors on the wire: by name where the message has names, in a fixed order where it has none."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array


def to_array(values: Array) -> array[float]:
    """What message fields of numbers hold; rclpy copies it as one block."""
    out = array("d")
    out.frombytes(values.tobytes())
    return out


class WireJoints:
    """A fixed order of joints: all of the robot's, maybe with joints among them that the robot does not know."""

    def __init__(self, robot: Robot, names: Sequence[str] = ()) -> None:
        """No ``names``: the robot's own order."""
        self.names = list(names) or list(robot.joint_names)
        for name in robot.joint_names:
            found = self.names.count(name)
            if found != 1:
                what = "missing" if not found else f"given {found} times"
                raise InputError(f"parameter 'joints': joint '{name}' is {what}; each joint of '{robot.spec}' once")
        self._places = np.array([self.names.index(name) for name in robot.joint_names], int)
        self.size = len(self.names)

    def pack(self, values: Array) -> array[float]:
        """Robot order -> wire order; joints the robot does not know get 0."""
        wire = np.zeros(self.size)
        wire[self._places] = values
        return to_array(wire)

    def unpack(self, wire: Array) -> Array:
        """Wire order -> robot order, along the last axis."""
        return wire[..., self._places]


class NameMap:
    """Joint vectors out of messages that name their joints, in whatever order they come."""

    def __init__(self, robot: Robot) -> None:
        self._wanted = robot.joint_names
        self._names: list[str] = []
        self._places = np.zeros(0, int)
        self.missing = ""  # a joint that the last message did not have

    def accept(self, names: list[str]) -> bool:
        """Learn the order of a message; False when a joint is missing from it."""
        if names != self._names:
            where = {name: i for i, name in enumerate(names)}
            self.missing = next((name for name in self._wanted if name not in where), "")
            if self.missing:
                return False
            self._names, self._places = list(names), np.array([where[name] for name in self._wanted], int)
        return True

    def unpack(self, values: array[float]) -> Array:
        return np.frombuffer(values)[self._places]
