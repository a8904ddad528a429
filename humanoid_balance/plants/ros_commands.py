"""Effort commands on the wire, and the gate behind which a plant takes them.

``std_msgs/Float64MultiArray`` has no header. The label of its first dimension says who sends and which sensor stamp it
answers: ``/balance_controller#3f2a91c0 12.345000000``, with `` damp`` behind it where the joints shall be braked: our
plants brake by themselves then, others follow the efforts. A forward_command_controller does not look at the label.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from humanoid_balance.plants.ros_joints import WireJoints
from humanoid_balance.plants.ros_stamps import SECOND, nanoseconds
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE
from humanoid_balance.types import Array, SensorFrame, TorqueCommand

TOPIC = "effort_controller/commands"
UNLABELLED = ""  # sender of a command without a label
DAMP = " damp"


def effort(command: TorqueCommand, frame: SensorFrame) -> Array:
    """What the joint gives at the measured state; a drive's own stiffness and damping become part of the effort."""
    spring = command.stiffness * (command.position - frame.position)
    return command.torque + spring + command.damping * (command.velocity - frame.velocity)


class CommandWriter:
    """Commands as messages; the object is used again with the next command."""

    def __init__(self, joints: WireJoints, node_name: str) -> None:
        self._joints = joints
        self._source = f"{node_name}#{uuid.uuid4().hex[:8]}"  # two controllers of the same name are still two
        self._dimension = MultiArrayDimension(size=joints.size, stride=joints.size)
        self.message = Float64MultiArray()
        self.message.layout.dim = [self._dimension]

    def fill(self, stamp: float, efforts: Array, damped: bool) -> Float64MultiArray:
        sec, nanosec = divmod(nanoseconds(stamp), SECOND)
        self._dimension.label = f"{self._source} {sec}.{nanosec:09d}{DAMP if damped else ''}"
        self.message.data = self._joints.pack(efforts)
        return self.message


@dataclass(frozen=True)
class Label:
    """Who sends, the sensor stamp it answers [ns] (-1: it does not say), and whether to brake."""

    source: str = UNLABELLED
    answers: int = -1
    damped: bool = False

    @staticmethod
    def of(message: Float64MultiArray) -> Label:
        text = message.layout.dim[0].label if message.layout.dim else ""
        source, space, stamp = text.removesuffix(DAMP).rpartition(" ")
        seconds, point, rest = stamp.partition(".")
        if not (source and space and point and seconds.isdecimal() and rest.isdecimal()):
            return Label()
        return Label(source, int(seconds) * SECOND + int(rest), text.endswith(DAMP))


class CommandGate:
    """The newest command of the one controller in charge; damping when it is too old.

    In charge is who sends: as long as its commands keep coming, those of anybody else are refused. A command without
    a label is taken only while no labelled one comes. The age counts on the steady clock.
    """

    def __init__(
        self, robot: Robot, joints: WireJoints, complain: Callable[[str, str], None], timeout: float = COMMAND_AGE
    ) -> None:
        self._robot, self._joints, self._complain, self._timeout = robot, joints, complain, timeout
        self._zero = np.zeros(robot.n)
        self.forget()

    def forget(self) -> None:
        """No controller was ever there."""
        self.label: Label | None = None  # of the newest command
        self._torque = self._zero
        self._arrived = -np.inf

    @property
    def age(self) -> float:
        """Of the newest command [s]."""
        return float(time.monotonic() - self._arrived)

    @property
    def fresh(self) -> bool:
        return self.age <= self._timeout

    def accept(self, message: Float64MultiArray) -> bool:
        """Take a command, or refuse and name it."""
        label = Label.of(message)
        last = self.label if self.label is not None and self.fresh else Label()
        if label.source != last.source != UNLABELLED:
            self._complain(f"{TOPIC} refused: '{last.source}' is in charge, not '{label.source or 'unknown'}'", "")
            return False
        if len(message.data) != self._joints.size:
            wrong = f"{len(message.data)} efforts for {self._joints.size} joints"
            self._complain(f"{TOPIC} refused: wrong length", wrong)
            return False
        torque = self._joints.unpack(np.frombuffer(message.data))
        finite = np.isfinite(torque)
        if not finite.all():
            self._complain(f"{TOPIC} refused: not a number", self._robot.joint_names[int(np.argmin(finite))])
            return False
        if label.source == last.source and label.answers < last.answers:
            self._complain(f"{TOPIC} refused: old stamp", f"{label.answers} ns after {last.answers} ns")
            return False
        self.label, self._torque, self._arrived = label, torque, time.monotonic()
        return True

    def command(self, stamp: float) -> TorqueCommand:
        """What the motors get for the period that begins at ``stamp``."""
        if self.label is None or self.label.damped or not self.fresh:
            return TorqueCommand.damp(stamp, self._robot.brake)
        zero = self._zero
        return TorqueCommand(stamp, self._torque, zero, zero, zero, zero)
