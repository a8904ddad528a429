"""Bounds on what the drives are asked for: torque limit and change of torque in a tick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_balance.types import Array, TorqueCommand


class TorqueBounds:
    """Keeps the torque that a drive will make, on-board feedback included, inside limit and rate."""

    def __init__(self, limit: Array, rate: float) -> None:
        """``limit`` (n,) [N m]; ``rate`` is the largest change in a tick as a share of it."""
        self.limit = limit
        self.share = np.ones(limit.shape)  # of the limit that may be used now: hot or starved joints get less
        self._rate = rate * limit
        self._previous: Array | None = None

    def start(self, torque: Array) -> None:
        """The torque continues from this one, which the motors give now; what is not known counts as none."""
        self._previous = np.clip(np.nan_to_num(torque), -self.limit, self.limit)

    def apply(self, command: TorqueCommand, position: Array, velocity: Array) -> TorqueCommand:
        """The command made smaller; ``position`` and ``velocity`` (n,) are the joints' as last measured."""
        feedback: Array | None = None
        wanted = command.torque
        if np.any(command.stiffness) or np.any(command.damping):
            feedback = command.stiffness * (command.position - position) + command.damping * (
                command.velocity - velocity
            )
            wanted = wanted + feedback
        limit = self.limit * self.share
        torque = np.minimum(np.maximum(wanted, -limit), limit)
        if self._previous is not None:
            torque = np.minimum(np.maximum(torque, self._previous - self._rate), self._previous + self._rate)
        self._previous = torque
        return replace(command, torque=torque if feedback is None else torque - feedback)
