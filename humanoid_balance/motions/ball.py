"""A ball joint made of hinges: from angles to its rotation, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_balance.types import Array

EXACT = 1e-7  # [rad]; Newton's next error is its square
ROUNDS = 8
STRAIGHT = 1e-9  # hinges that are so nearly at right angles are


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

        axes = np.array([axis for _, axis in self._hinges]).T
        aligned = all(np.abs(placed - np.eye(3)).max() < STRAIGHT for placed, _ in self._hinges[1:])
        upright = axes.shape[1] == 3 and np.abs(axes.T.dot(axes) - np.eye(3)).max() < STRAIGHT
        self._axes = axes if aligned and upright else None  # of three hinges at right angles
        self._sense = float(np.linalg.det(axes)) if self._axes is not None else 0.0

    def rotation(self, angles: Array) -> Array:
        """Of the last body against the first, at all joints' angles (n,)."""
        out = np.eye(3)
        for (placed, axis), angle in zip(self._hinges, angles[self.index].tolist(), strict=True):
            out = out.dot(placed).dot(pin.exp3(axis * angle))
        return out

    def angles(self, rotation: Array, start: Array) -> Array:
        """Of its hinges (k,) for a rotation, near ``start`` (n,); with fewer than three hinges the nearest ones."""
        if self._axes is not None:
            return self._closed(rotation, self._axes, start[self.index])
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

    def _closed(self, rotation: Array, axes: Array, start: Array) -> Array:
        """For hinges at right angles: in their axes the rotation is X(a) Y(b) Z(c), with angles of one sense."""
        placed = self._hinges[0][0]
        (_, _, sin), (_, _, minus), (_, _, cos) = turned = axes.T.dot(placed.T.dot(rotation)).dot(axes).tolist()
        first, last = math.atan2(-minus, cos), math.atan2(-turned[0][1], turned[0][0])
        middle = math.asin(min(max(sin, -1.0), 1.0))
        found = self._sense * np.array([first, middle, last])
        return np.asarray(found + 2.0 * np.pi * np.round((start - found) / (2.0 * np.pi)))
