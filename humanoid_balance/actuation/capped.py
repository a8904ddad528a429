"""Any actuation, cut off at a torque: what motor boards make of it that are allowed a share of their limits only."""

from __future__ import annotations

import numpy as np

from humanoid_balance.actuation.actuation import Actuation, Drive
from humanoid_balance.types import Array


class Capped:
    """Of each joint no more than ``limit`` (n,) [N m]."""

    constant = False

    def __init__(self, actuation: Actuation, limit: Array) -> None:
        self._actuation, self._limit = actuation, limit

    def bounds(self, q: Array, v: Array) -> tuple[Array, Array]:
        low, high = self._actuation.bounds(q, v)
        return np.maximum(low, -self._limit), np.minimum(high, self._limit)

    def drive(self, scale: float) -> CappedDrive:
        return CappedDrive(self._actuation.drive(scale), self._limit)


class CappedDrive:
    def __init__(self, drive: Drive, limit: Array) -> None:
        self._drive, self._limit = drive, limit

    def torque(self, wanted: Array, q: Array, v: Array, dt: float) -> Array:
        return self._drive.torque(np.minimum(np.maximum(wanted, -self._limit), self._limit), q, v, dt)
