"""A ball joint made of hinges: from angles to its rotation, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_balance.types import Array

EXACT = 1e-13  # [rad]
ROUNDS = 8


class Ball:
    """Hinges one after the other. ``index`` are their places in joint vectors."""

    def __init__(self, model: pin.Model, joints: Sequence[int]) -> None:
        """Joints by Pinocchio's numbers, from the body outwards."""
        self.index = np.array([model.joints[k].idx_v - 6 for k in joints], dtype=int)
        data = model.createData()
        pin.computeJointJacobians(model, data, pin.neutral(model))
        self._hinges = [
            (
                np.array(model.jointPlacements[k].rotation),
                np.array(data.oMi[k].rotation.T @ data.J[3:, model.joints[k].idx_v]),
            )
            for k in joints
        ]

    def rotation(self, angles: Array) -> Array:
        """Of the last body against the first, at all joints' angles (n,)."""
        out = np.eye(3)
        for (placed, axis), angle in zip(self._hinges, angles[self.index].tolist(), strict=True):
            out = out.dot(placed).dot(pin.exp3(axis * angle))
        return out

    def angles(self, rotation: Array, start: Array) -> Array:
        """Of its hinges (k,) for a rotation, near ``start`` (n,); with fewer than three hinges the nearest ones."""
        angles = start.copy()
        for _ in range(ROUNDS):
            out, axes = np.eye(3), []
            for (placed, axis), angle in zip(self._hinges, angles[self.index].tolist(), strict=True):
                out = out.dot(placed).dot(pin.exp3(axis * angle))
                axes.append(out.dot(axis))
            error = pin.log3(rotation.dot(out.T))
            columns = np.array(axes).T
            square = columns.shape[1] == 3
            step = np.linalg.solve(columns, error) if square else np.linalg.lstsq(columns, error, rcond=None)[0]
            angles[self.index] += step
            if np.abs(step).max() < EXACT:
                break
        return np.asarray(angles[self.index])
