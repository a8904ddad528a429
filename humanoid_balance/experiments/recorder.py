"""What happened in a run, tick by tick: the loop's data beside the simulator's ground truth."""

from __future__ import annotations

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
            "time": (), "mode": (), "com": (3,), "com_velocity": (3,), "dcm": (3,), "zmp": (3,), "q": (n + 7,),
            "contact": (2,), "sole": (2, 3), "wanted_contact": (2,), "wanted_com_acceleration": (3,), "push": (3,),
            "true_com": (3,), "true_com_velocity": (3,), "true_q": (n + 7,), "true_torque": (n,), "true_lean": (),
            "true_sole": (2, 3), "true_sole_rotation": (2, 3, 3), "true_force": (2, 3), "true_moment": (2, 3),
            "true_push": (3,), "true_fell": (),
        }  # fmt: skip
        self._rows = {key: np.zeros((capacity, *shape)) for key, shape in shapes.items()}
        self.robot = robot
        self.length = 0
        self.modes: list[str] = []
        self.mode_changes: list[tuple[float, str]] = []

    def add(self, tick: Tick, truth: Truth) -> None:
        """``truth`` belongs to the moment the sensor frame was read."""
        rows, k, state = self._rows, self.length, tick.state
        mode = tick.reference.mode
        if not self.mode_changes or self.mode_changes[-1][1] != mode:
            self.mode_changes.append((truth.stamp, mode))
        if mode not in self.modes:
            self.modes.append(mode)
        rows["time"][k] = truth.stamp
        rows["mode"][k] = self.modes.index(mode)
        rows["com"][k], rows["com_velocity"][k] = state.com, state.com_velocity
        rows["dcm"][k], rows["zmp"][k], rows["q"][k] = state.dcm, state.zmp, state.q
        rows["contact"][k], rows["sole"][k] = state.contact, state.sole_position
        rows["wanted_contact"][k] = tick.reference.contact
        rows["wanted_com_acceleration"][k] = tick.reference.com_acceleration
        rows["push"][k] = state.push.force
        rows["true_com"][k], rows["true_com_velocity"][k] = truth.com, truth.com_velocity
        true_q = rows["true_q"][k]
        true_q[:3], true_q[3:7], true_q[7:] = truth.base_position, truth.base_quaternion, truth.joint_position
        rows["true_torque"][k] = truth.torque
        rows["true_lean"][k] = np.arccos(np.clip(truth.torso_axis[2], -1.0, 1.0))
        rows["true_sole"][k], rows["true_sole_rotation"][k] = truth.sole_position, truth.sole_rotation
        rows["true_force"][k], rows["true_moment"][k] = truth.sole_force, truth.sole_moment
        rows["true_push"][k] = truth.push
        rows["true_fell"][k] = truth.fell
        self.length += 1

    def __getitem__(self, key: str) -> Array:
        return self._rows[key][: self.length]
