"""A sensor frame and the state estimated from it as one row of numbers: what ``robot_state`` carries."""

from __future__ import annotations

import numpy as np

from humanoid_balance.layout import Layout
from humanoid_balance.types import Array, RobotState, SensorFrame

TOPIC = "robot_state"
FORM = "humanoid_balance/robot_state/2"


class StateRow:
    """The numbers of the frame, then those of the state, each in the order in which ``types.py`` declares them."""

    def __init__(self, n: int) -> None:
        self.frame, self.state = Layout(SensorFrame, n), Layout(RobotState, n)
        self.width = self.frame.width + self.state.width

    def row(self, frame: SensorFrame, state: RobotState) -> Array:
        row = np.empty(self.width)
        self.frame.put(frame, row[: self.frame.width])
        self.state.put(state, row[self.frame.width :])
        return row

    def data(self, row: Array, faults: tuple[str, ...]) -> tuple[SensorFrame, RobotState]:
        width = self.frame.width
        return self.frame.data(row[:width]), self.state.data(row[width:], faults=faults)
