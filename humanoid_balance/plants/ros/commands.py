"""Effort commands on the wire, and the gate behind which a plant takes them.

``std_msgs/Float64MultiArray`` has no header. The label of its first dimension says who sends and which sensor stamp it
answers: ``/balance_controller#3f2a91c0 12.345000000``, with `` damp`` behind it where the joints shall be braked: our
plants brake by themselves then, others follow the efforts. A forward_command_controller does not look at the label.

Two layouts. *Efforts*: one number per joint, what every effort interface understands. *Impedance*: five rows, torque,
position, velocity, stiffness and damping of each joint, for plants that close the feedback in the drive, where no
topic delays it; the second dimension is labelled with the names of the rows. Who sends impedance knows that the plant
takes it, from ``plant/status``; a command without gains goes as efforts to everybody.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.plants.ros.stamps import SECOND, nanoseconds
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import COMMAND_AGE
from humanoid_balance.types import Array, SensorFrame, TorqueCommand

TOPIC = "effort_controller/commands"
UNLABELLED = ""  # sender of a command without a label
DAMP = " damp"
ROWS = "torque position velocity stiffness damping"  # label of the second dimension of an impedance command


def effort(command: TorqueCommand, frame: SensorFrame) -> Array:
    """What the joint gives at the measured state; a drive's own stiffness and damping become part of the effort.

    A joint that was not measured gets the feed-forward alone.
    """
    if not (command.stiffness.any() or command.damping.any()):
        return command.torque
    spring = command.stiffness * (command.position - frame.position)
    return command.torque + np.nan_to_num(spring + command.damping * (command.velocity - frame.velocity))


class CommandWriter:
    """Commands as messages; the object is used again with the next command."""

    def __init__(self, joints: WireJoints, node_name: str) -> None:
        self._joints = joints
        self._source = f"{node_name}#{uuid.uuid4().hex[:8]}"  # two controllers of the same name are still two
        rows, n = len(ROWS.split()), joints.size
        self._efforts = [MultiArrayDimension(size=n, stride=n)]
        self._impedance = [
            MultiArrayDimension(size=rows, stride=rows * n),
            MultiArrayDimension(label=ROWS, size=n, stride=n),
        ]
        self.message = Float64MultiArray()

    def fill(self, command: TorqueCommand, frame: SensorFrame, gains: bool) -> Float64MultiArray:
        """The answer to ``frame``; ``gains``: the plant's drives take stiffness and damping."""
        sec, nanosec = divmod(nanoseconds(frame.stamp), SECOND)
        label = f"{self._source} {sec}.{nanosec:09d}{DAMP if command.damped else ''}"
        pack = self._joints.pack
        if gains and not command.damped and (command.stiffness.any() or command.damping.any()):
            rows = (command.torque, command.position, command.velocity, command.stiffness, command.damping)
            dimensions, data = self._impedance, pack(rows[0])
            for row in rows[1:]:
                data.extend(pack(row))
        else:
            dimensions, data = self._efforts, pack(effort(command, frame))
        dimensions[0].label = label
        self.message.layout.dim, self.message.data = dimensions, data
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
        self.forget()

    def forget(self) -> None:
        """No controller was ever there."""
        self.label: Label | None = None  # of the newest command
        self._rows = np.zeros((5, self._robot.n))  # torque, position, velocity, stiffness, damping
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
        rows = self._unpack(message)
        if rows is None:
            return False
        if label.source == last.source and label.answers < last.answers:
            self._complain(f"{TOPIC} refused: old stamp", f"{label.answers} ns after {last.answers} ns")
            return False
        self.label, self._rows, self._arrived = label, rows, time.monotonic()
        return True

    def _unpack(self, message: Float64MultiArray) -> Array | None:
        """Torque, position, velocity, stiffness, damping (5, n); None, named, if the message cannot be used."""
        size, dimensions = self._joints.size, message.layout.dim
        count = 5 if len(dimensions) == 2 and dimensions[1].label == ROWS else 1
        if len(message.data) != count * size:
            what = "efforts" if count == 1 else "numbers in 5 rows"
            self._complain(f"{TOPIC} refused: wrong length", f"{len(message.data)} {what} for {size} joints")
            return None
        rows = np.zeros((5, self._robot.n))
        rows[:count] = self._joints.unpack(np.frombuffer(message.data).reshape(count, size))
        names = ROWS.split()
        if not np.isfinite(rows).all():
            row, joint = np.argwhere(~np.isfinite(rows))[0]
            self._complain(f"{TOPIC} refused: not a number", f"{names[row]} of {self._robot.joint_names[joint]}")
            return None
        if count == 5 and (rows[3:] < 0.0).any():
            row, joint = np.argwhere(rows[3:] < 0.0)[0]
            wrong = f"{names[3 + row]} of {self._robot.joint_names[joint]} is {rows[3 + row, joint]:g}"
            self._complain(f"{TOPIC} refused: negative gain", wrong)
            return None
        return rows

    def command(self, stamp: float) -> TorqueCommand:
        """What the motors get for the period that begins at ``stamp``."""
        if self.label is None or self.label.damped or not self.fresh:
            return TorqueCommand.damp(stamp, self._robot.brake)
        return TorqueCommand(stamp, *self._rows)
