"""Ideal torque: what is asked for, up to a limit."""

from __future__ import annotations

import numpy as np

from humanoid_balance.types import Array


class Ideal:
    """Torque limits that depend on nothing."""

    constant = True

    def __init__(self, limit: Array) -> None:
        """``limit`` (n,) [N m]."""
        self._limit = limit

    def bounds(self, q: Array, v: Array) -> tuple[Array, Array]:
        return -self._limit, self._limit

    def drive(self, scale: float) -> IdealDrive:
        return IdealDrive(self._limit * scale)


class IdealDrive:
    def __init__(self, limit: Array) -> None:
        self._limit = limit

    def torque(self, wanted: Array, q: Array, v: Array, dt: float) -> Array:
        return np.minimum(np.maximum(wanted, -self._limit), self._limit)
