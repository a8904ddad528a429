"""Bounds on what the drives are asked for: torque limit and change of torque in a tick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_balance.safety.glance import SURE
from humanoid_balance.types import Array, TorqueCommand

TINY = 1e-9  # smallest limit that is divided by [N m]


class TorqueBounds:
    """Keeps the torque that a drive will make, on-board feedback included, inside limit and rate."""

    def __init__(self, limit: Array, rate: float) -> None:
        """``limit`` (n,) [N m]; ``rate`` is the largest change in a tick as a share of it."""
        n = limit.size
        self.limit = limit
        self._rate = rate * limit
        self._started = False
        # Torque and its change as shares of what is allowed, in one array: the usual command passes at a glance.
        self._used = np.zeros((2, n))
        self._scale = np.stack([limit, 1.0 / np.maximum(self._rate, TINY)])
        self._base = np.zeros((2, n))
        self._previous = self._base[1]  # torque of the last tick
        self.share = np.ones(n)

    @property
    def share(self) -> Array:
        """Of the limit that may be used now: hot or starved joints get less (n,)."""
        return self._share

    @share.setter
    def share(self, share: Array) -> None:
        self._share = share
        self._high = self.limit * share
        self._low = -self._high
        self._scale[0] = 1.0 / np.maximum(self._high, TINY)

    def start(self, torque: Array) -> None:
        """The torque continues from this one, which the motors give now; what is not known counts as none."""
        self._previous[:] = np.clip(np.nan_to_num(torque), -self.limit, self.limit)
        self._started = True

    def apply(self, command: TorqueCommand, position: Array, velocity: Array) -> TorqueCommand:
        """The command made smaller; ``position`` and ``velocity`` (n,) are the joints' as last measured."""
        if np.count_nonzero(command.stiffness) or np.count_nonzero(command.damping):
            error, speed = command.position - position, command.velocity - velocity
            feedback = command.stiffness * error + command.damping * speed
            return replace(command, torque=self._bounded(command.torque + feedback) - feedback)
        if self._started and self._inside(command.torque):
            self._previous[:] = command.torque
            return command
        return replace(command, torque=self._bounded(command.torque))

    def _inside(self, torque: Array) -> bool:
        """Neither limit nor rate is touched; False for what is not a number."""
        used = self._used
        np.subtract(torque, self._base, used)
        np.multiply(used, self._scale, used)
        np.absolute(used, used)
        return used.item(used.argmax()) < SURE

    def _bounded(self, wanted: Array) -> Array:
        torque = np.minimum(np.maximum(wanted, self._low), self._high)
        if self._started:
            torque = np.minimum(np.maximum(torque, self._previous - self._rate), self._previous + self._rate)
        self._previous[:] = torque
        self._started = True
        return torque
