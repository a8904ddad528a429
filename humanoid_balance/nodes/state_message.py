"""A sensor frame and the state estimated from it as one standard message, bit for bit.

``robot_state`` is a std_msgs/Float64MultiArray with the numbers of ``recording/state_row.py``. The label of the first
dimension names the form, those of the others are the estimator's faults.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from humanoid_balance.plants.ros.joints import to_array
from humanoid_balance.recording.state_row import FORM, TOPIC, StateRow
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, RobotState, SensorFrame


class StateMessage:
    """Writes and reads the message for one robot."""

    def __init__(self, robot: Robot, complain: Callable[[str, str], None]) -> None:
        self._complain = complain
        self._row = StateRow(robot.n)
        self._form = MultiArrayDimension(label=FORM, size=self._row.width, stride=self._row.width)

    def write(self, frame: SensorFrame, state: RobotState) -> Float64MultiArray:
        message = Float64MultiArray(data=to_array(self._row.row(frame, state)))
        message.layout.dim = [self._form, *(MultiArrayDimension(label=fault) for fault in state.faults)]
        return message

    def read(self, message: Float64MultiArray) -> tuple[SensorFrame, RobotState] | None:
        """The frame and the state; None, named, when the message is not one of ours."""
        dims = message.layout.dim
        if not dims or dims[0].label != FORM:
            self._complain(f"{TOPIC} refused: not of the form {FORM}", dims[0].label if dims else "no label")
            return None
        row: Array = np.frombuffer(message.data).copy()
        if row.size != self._row.width:
            self._complain(f"{TOPIC} refused: wrong length", f"{row.size} numbers, {self._row.width} expected")
            return None
        return self._row.data(row, tuple(dim.label for dim in dims[1:]))
