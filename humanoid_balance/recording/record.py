"""What happened in a run, tick by tick: the loop's data beside the simulator's ground truth."""

from __future__ import annotations

import math
from operator import attrgetter

import numpy as np

from humanoid_balance.layout import Layout
from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, RobotState

# What of the state and of the truth is kept, by the names of their fields: a minute of everything would be 250 MB.
OF_STATE = ("com", "com_velocity", "dcm", "zmp", "q", "contact", "sole_position", "sole_rotation", "push.force")
OF_TRUTH = (
    "com", "com_velocity", "torque", "sole_position", "sole_rotation", "sole_force", "sole_moment", "push",
    "push_point", "fell",
)  # fmt: skip


class Record:
    """Grows row by row into preallocated arrays; ``modes`` are in the order of their appearance.

    ``r["com"]`` is what the controller believed, ``r["true_com"]`` what was.
    """

    def __init__(self, robot: Robot, capacity: int) -> None:
        state, truth = Layout(RobotState, robot.n).places, Layout(Truth, robot.n).places
        shapes: dict[str, tuple[int, ...]] = {"time": (), "mode": (), "true_lean": (), "true_q": state["q"].shape}
        shapes |= {name: state[name].shape for name in OF_STATE}
        shapes |= {f"true_{name}": truth[name].shape for name in OF_TRUTH}
        # A row per tick in one piece of memory is filled by two calls.
        self._rows = np.zeros(capacity, dtype=[(key, np.float64, shape) for key, shape in shapes.items()])
        self._flat = self._rows.view(np.float64).reshape(capacity, -1)
        self._of_state, self._of_truth = attrgetter(*OF_STATE), attrgetter(*OF_TRUTH)
        self.robot = robot
        self.length = 0
        self._mode = 0
        self.modes: list[str] = []
        self.mode_changes: list[tuple[float, str]] = []

    def add(self, tick: Tick, truth: Truth) -> None:
        """``truth`` belongs to the moment the sensor frame was read."""
        mode = tick.reference.mode
        if not self.mode_changes or self.mode_changes[-1][1] != mode:
            self.mode_changes.append((truth.stamp, mode))
            if mode not in self.modes:
                self.modes.append(mode)
            self._mode = self.modes.index(mode)
        lean = math.acos(min(max(float(truth.torso_axis[2]), -1.0), 1.0))
        row = self._flat[self.length]
        row[:3] = truth.stamp, self._mode, lean
        np.concatenate((truth.q, *self._of_state(tick.state), *self._of_truth(truth)), axis=None, out=row[3:])
        self.length += 1

    def __getitem__(self, key: str) -> Array:
        return self._rows[key][: self.length]
