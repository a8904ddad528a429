"""What happened in a run, tick by tick: the loop's data beside the simulator's ground truth."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array


class Recorder:
    """Grows row by row into preallocated arrays; ``names`` of the modes come in order of their appearance.

    ``r["com"]`` is what the controller believed, ``r["true_com"]`` what was.
    """

    def __init__(self, robot: Robot, capacity: int) -> None:
        n = robot.n
        shapes: dict[str, tuple[int, ...]] = {
            "time": (), "mode": (), "true_lean": (), "true_fell": (),
            "com": (3,), "com_velocity": (3,), "dcm": (3,), "zmp": (3,), "q": (n + 7,), "contact": (2,), "sole": (2, 3),
            "wanted_contact": (2,), "wanted_com_acceleration": (3,), "push": (3,), "true_com": (3,),
            "true_com_velocity": (3,), "true_q": (n + 7,), "true_torque": (n,), "true_sole": (2, 3),
            "true_sole_rotation": (2, 3, 3), "true_force": (2, 3), "true_moment": (2, 3), "true_push": (3,),
        }  # fmt: skip
        # A row a tick in one piece of memory is filled by two calls.
        self._rows = np.zeros(capacity, dtype=[(key, np.float64, shape) for key, shape in shapes.items()])
        self._flat = self._rows.view(np.float64).reshape(capacity, -1)
        self.robot = robot
        self.length = 0
        self._mode = 0
        self.modes: list[str] = []
        self.mode_changes: list[tuple[float, str]] = []

    def add(self, tick: Tick, truth: Truth) -> None:
        """``truth`` belongs to the moment the sensor frame was read."""
        state, wanted = tick.state, tick.reference
        mode = wanted.mode
        if not self.mode_changes or self.mode_changes[-1][1] != mode:
            self.mode_changes.append((truth.stamp, mode))
            if mode not in self.modes:
                self.modes.append(mode)
            self._mode = self.modes.index(mode)
        lean = math.acos(min(max(float(truth.torso_axis[2]), -1.0), 1.0))
        row = self._flat[self.length]
        row[:4] = truth.stamp, self._mode, lean, truth.fell
        parts = (  # in the order of the shapes above
            state.com, state.com_velocity, state.dcm, state.zmp, state.q, state.contact, state.sole_position,
            wanted.contact, wanted.com_acceleration, state.push.force, truth.com, truth.com_velocity,
            truth.base_position, truth.base_quaternion, truth.joint_position, truth.torque, truth.sole_position,
            truth.sole_rotation, truth.sole_force, truth.sole_moment, truth.push,
        )  # fmt: skip
        np.concatenate(parts, axis=None, out=row[4:])
        self.length += 1

    def __getitem__(self, key: str) -> Array:
        return self._rows[key][: self.length]
