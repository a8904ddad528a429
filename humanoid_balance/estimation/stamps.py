"""Time comes with the data: which stamps can be used, and how much time passed."""

from __future__ import annotations

import math

from humanoid_balance.estimation.settings import GuardSettings


class StampGuard:
    """Turns stamps into steps; after ``accept`` see ``dt``, ``fault`` and ``gap``."""

    def __init__(self, settings: GuardSettings) -> None:
        self._settings = settings
        self.reset()

    def reset(self) -> None:
        """The next stamp is the first one."""
        self.stamp = math.nan  # of the last frame that was used [s]
        self.dt = self._settings.period  # since the one before [s]
        self.fault = ""
        self.gap = False  # too much time passed to dead-reckon
        self._rejected = 0  # frames in a row
        self._last_rejected = math.nan
        self._settled = -math.inf  # stamp from which on the estimate can be relied on again
        self.valid = True  # False: no usable stamp for too long, or a gap just now

    def accept(self, stamp: float) -> bool:
        """False: the frame is useless, nothing but ``fault`` and ``valid`` changed."""
        dt = stamp - self.stamp
        if 0.0 < dt <= self._settings.late:
            self.stamp, self.dt = stamp, dt
            self.fault, self.gap, self._rejected = "", False, 0
            self.valid = stamp >= self._settled
            return True
        accepted = self._accept_odd(stamp, dt)
        self.valid = self._rejected * self._settings.period <= self._settings.outage and not self.stamp < self._settled
        return accepted

    def _accept_odd(self, stamp: float, dt: float) -> bool:
        s = self._settings
        if not math.isfinite(stamp):
            self.fault = "stamp: not finite"
            self._rejected += 1
            return False
        gap = dt > s.restart
        if dt <= 0.0:
            # A sender whose clock was set back and runs on is followed after a while.
            runs = stamp > self._last_rejected and self._rejected * s.period > s.outage
            if not runs:
                self.fault = "stamp: repeated" if dt == 0.0 else "stamp: runs backward"
                self._rejected, self._last_rejected = self._rejected + 1, stamp
                return False
            gap, self.fault = True, f"stamp: set back by {-dt:.3f} s"
        elif math.isnan(dt):
            self.fault = ""  # the first frame
        elif gap:
            self.fault = f"stamp: gap of {dt:.3f} s"
        else:
            self.fault = f"stamp: late by {dt - s.period:.3f} s"
        self.stamp = stamp
        self.dt = s.period if gap or math.isnan(dt) else dt
        self.gap, self._rejected, self._last_rejected = gap, 0, math.nan
        if gap:
            self._settled = stamp + s.outage
        return True
