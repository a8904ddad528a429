"""Bounds on what the drives are asked for: torque limit and change of torque in a tick.

The torque of a drive with feedback on board is counted as it is at the joint's last measured state; the bound is kept
by the feed-forward, the gains pass as they are. A joint whose command cannot be computed with gets none.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

import numpy as np

from humanoid_balance.safety.glance import SURE
from humanoid_balance.types import Array, TorqueCommand

ABSURD = 1e6  # in any unit of a command: beyond, rounding in the sum of torque and feedback is no longer small
FIELDS = ("torque", "position", "velocity", "stiffness", "damping")
_fields = attrgetter(*FIELDS)
ROUNDING = 1e-9  # of torques, as a share of the limit


class TorqueBounds:
    """Keeps the torque that a drive will make, on-board feedback included, inside limit and rate."""

    def __init__(self, limit: Array, rate: float) -> None:
        """``limit`` (n,) [N m]; ``rate`` is the largest change in a tick as a share of it."""
        n = limit.size
        self.limit = limit
        self._rate = rate * limit
        self._started = False
        # Torque and its change against what is allowed, in one array: the usual command passes at a glance.
        self._off = np.zeros((2, n))
        self._inside = np.zeros((2, n), dtype=bool)
        self._allowed = np.stack([limit, SURE * self._rate])
        self._base = np.zeros((2, n))
        self.previous = self._base[1]  # torque of the last tick (n,) [N m]
        self.sound = True  # False: what was remembered was not a torque
        self.share = np.ones(n)

    @property
    def share(self) -> Array:
        """Of the limit that may be used now: hot or starved joints get less (n,)."""
        return self._share

    @share.setter
    def share(self, share: Array) -> None:
        self._share = np.fmin(np.fmax(share, 0.0), 1.0)  # not a number counts as none
        self._high = self.limit * self._share
        self._low = -self._high
        np.multiply(self._high, SURE, self._allowed[0])

    def narrow(self, low: Array, high: Array) -> None:
        """What the actuators can deliver in this tick (n,) [N m]; within it the share counts as before."""
        self._low, self._high = self._share * low, self._share * high
        np.multiply(np.minimum(-self._low, self._high), SURE, self._allowed[0])

    def start(self, torque: Array) -> None:
        """The torque continues from this one, which the motors give now; what is not known counts as none."""
        self.previous[:] = np.clip(np.nan_to_num(torque), -self.limit, self.limit)
        self._started = self.sound = True

    def apply(self, command: TorqueCommand, position: Array, velocity: Array) -> TorqueCommand:
        """The command made smaller; ``position`` and ``velocity`` (n,) are the joints' as last measured."""
        if np.count_nonzero(command.stiffness) or np.count_nonzero(command.damping):
            return self._with_feedback(command, position, velocity)
        if self._started and self._well(command.torque):
            self.previous[:] = command.torque
            return command
        return replace(command, torque=self._bounded(np.where(np.abs(command.torque) < ABSURD, command.torque, 0.0)))

    def _with_feedback(self, command: TorqueCommand, position: Array, velocity: Array) -> TorqueCommand:
        with np.errstate(all="ignore"):
            error, speed = command.position - position, command.velocity - velocity
            feedback = command.stiffness * error + command.damping * speed
            plain = feedback.dot(feedback) < ABSURD**2 and all(a.dot(a) < ABSURD**2 for a in _fields(command))
        if plain and self._started and self._well(torque := command.torque + feedback):
            self.previous[:] = torque
            return command
        rows = np.stack(_fields(command))
        good = (np.abs(feedback) < ABSURD) & (np.abs(rows) < ABSURD).all(axis=0)
        if not good.all():
            command = replace(command, **dict(zip(FIELDS, np.where(good, rows, 0.0), strict=True)))
            feedback = np.where(good, feedback, 0.0)
        return replace(command, torque=self._bounded(command.torque + feedback) - feedback)

    def _well(self, torque: Array) -> bool:
        """Neither limit nor rate is touched; False for what is not a number."""
        off, inside = self._off, self._inside
        np.subtract(torque, self._base, off)
        np.absolute(off, off)
        np.less(off, self._allowed, inside)
        return inside.item(inside.argmin())

    def _bounded(self, wanted: Array) -> Array:
        previous = self.previous
        if not (np.abs(previous) <= self.limit * (1.0 + ROUNDING)).all():
            self.sound = False
            previous[:] = np.where(np.abs(previous) <= self.limit, previous, 0.0)
        torque = np.minimum(np.maximum(wanted, self._low), self._high)
        if self._started:
            torque = np.minimum(np.maximum(torque, previous - self._rate), previous + self._rate)
        previous[:] = torque
        self._started = True
        return torque
