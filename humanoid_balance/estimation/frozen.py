"""Encoders that stopped: a position that stays bit-identical while the joint moves, or while it should show noise.

Standing still is no fault: a quantised encoder at rest gives the same number for minutes. A joint counts as frozen
when its position repeats for many samples and either its own velocity adds up to a travel that cannot be, or it used
to change at nearly every sample, by many counts until just now, and the other joints still do. A joint that comes to
rest changes by fewer and fewer counts first.
"""

from __future__ import annotations

import numpy as np

from humanoid_balance.estimation.settings import GuardSettings
from humanoid_balance.types import Array, Flags

RARE = 0.05  # share of repeated readings below which a repetition means something
FROZEN = 3  # repeated readings in a row that are suspicious
KEEP = 0.96  # of the travel from sample to sample: a joint that reports rest again is forgiven
HISTORY = 50  # samples needed before that can be said
FORGET = 10_000  # samples after which the history counts half
COUNTS = 8.0  # changes of so many counts are noise or motion; a joint comes to rest in smaller ones
RECENT = 0.3  # share of the newest change in the mean of late


class FrozenWatch:
    """Counts repeated readings; ``frozen`` flags joints."""

    def __init__(self, n: int, settings: GuardSettings) -> None:
        self._n, self._settings = n, settings
        self.reset()

    def reset(self) -> None:
        n = self._n
        self.frozen: Flags = np.zeros(n, dtype=bool)
        self.any = False
        self._last = np.full(n, np.nan)
        self._change = np.full(n, np.nan)  # since the sample before [rad]
        self._size = np.zeros(n)  # of that change
        self._count_size = np.full(n, np.inf)  # smallest change ever seen: one count of the encoder [rad]
        self._recent = np.zeros(n)  # size of changes of late, repetitions left out [rad]
        self._run = np.zeros(n, dtype=int)  # repeated readings in a row
        self._travel = np.zeros(n)  # what the velocity adds up to meanwhile [rad]
        self._repeated = np.zeros(n)  # in all, forgotten slowly
        self._samples = 0.0
        self._running = False

    def update(self, position: Array, velocity: Array, dt: float) -> bool:
        """Take one sample, dt after the last one [s]; True when some joint is frozen."""
        changed = int(np.count_nonzero(np.subtract(position, self._last, out=self._change)))
        np.copyto(self._last, position)
        self._samples += 1.0
        size = np.abs(self._change, out=self._size)
        finite = float(size.dot(size)) < np.inf
        if not finite:
            self._last[~np.isfinite(position)] = np.nan  # infinity minus infinity warns
        if changed == self._n and not self._running and finite:
            np.fmin(self._count_size, size, out=self._count_size)
            np.subtract(size, self._recent, out=size)
            size *= RECENT
            self._recent += size
            return False
        moved = (size > 0.0) & (size < np.inf)
        np.fmin(self._count_size, size, out=self._count_size, where=moved)
        np.add(self._recent, RECENT * (size - self._recent), out=self._recent, where=moved)
        return self._count(changed, velocity, dt)

    def _count(self, changed: int, velocity: Array, dt: float) -> bool:
        same = self._change == 0.0
        # A run counts as usual only when it is over, so that a joint that freezes does not excuse itself.
        self._repeated += np.where(same, 0, self._run)
        self._run = np.where(same, self._run + 1, 0)
        if self._samples > FORGET:
            self._samples *= 0.5
            self._repeated *= 0.5
        limit = self._settings.frozen_travel
        travel = np.clip(KEEP * self._travel + np.clip(np.nan_to_num(velocity), -1.0, 1.0) * dt, -2 * limit, 2 * limit)
        self._travel = np.where(same, travel, 0.0)
        before = np.maximum(self._samples - self._run, 1.0)
        lively = (self._repeated < RARE * before) & (before > HISTORY) & (changed > 0.9 * (self._n - 1))
        lively &= self._recent > COUNTS * self._count_size
        moving = np.abs(self._travel) > limit
        self.frozen = same & (self._run >= FROZEN) & (lively | moving)
        self._running = bool(same.any())
        self.any = bool(self.frozen.any())
        return self.any
