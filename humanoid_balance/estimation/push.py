"""When a residual wrench is a push: onset, direction, impulse and height, told apart from own steps."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from humanoid_balance.estimation.settings import PushObserverSettings
from humanoid_balance.types import GRAVITY, Push

Floats = list[float]
NAN = float("nan")
QUIET, RISING, ACTIVE = 0, 1, 2
START = 0.1  # time to settle after the start [s]


class Residual(Protocol):
    """What a momentum observer tells, wrenches about the CoM; see ``momentum.py``."""

    @property
    def residual(self) -> Floats: ...

    def unexplained(self) -> Floats: ...

    def swallowed(self) -> Floats: ...


class PushDetector:
    """Hysteresis on the horizontal residual force; sums the impulse while it lasts."""

    def __init__(self, mass: float, settings: PushObserverSettings, measured: bool = True) -> None:
        """``measured``: the sole wrenches come from sensors, not from joint torques."""
        self._settings = settings
        scale = 1.0 if measured else settings.observer_factor
        self._mass, weight = mass, scale * mass * GRAVITY
        self._confirm = scale * settings.confirm
        self._onset_sq, self._end_sq = (settings.onset * weight) ** 2, (settings.end * weight) ** 2
        self.reset()

    def reset(self) -> None:
        self._phase = QUIET
        self._clock = 0.0  # time of silence in ACTIVE [s]
        self._since_landing = -START  # the first velocity is noisy
        self._start = NAN
        self._sums = [0.0] * 4  # impulse x y [N s], angular impulse x y about the CoM [N m s]
        self._seen = [0.0] * 2  # impulse by the residual, which is less noisy and later [N s]
        self.bias = [0.0] * 3  # slow model error, e.g. a payload [N]
        self.onset = NAN
        self.direction, self.impulse, self.height = 0.0, 0.0, NAN
        self.force = (0.0, 0.0, 0.0)  # what is reported [N]
        self.moment = (0.0, 0.0, 0.0)
        self._news = True  # since the last report

    @property
    def active(self) -> bool:
        return self._phase == ACTIVE

    @property
    def quiet(self) -> bool:
        return self._phase == QUIET

    def begin(self, stamp: float, dt: float, time: float, residual: Floats) -> None:
        """A residual wrench [N, N m] jumped up and has acted for ``time`` [s]: no need to wait for more of it.

        To be followed by ``update``, which adds what the last tick of dt [s] gave.
        """
        if self._phase == ACTIVE:
            return
        bias = self.bias
        fx, fy = residual[0] - bias[0], residual[1] - bias[1]
        self._sums = [(time - dt) * value for value in (fx, fy, residual[3], residual[4])]
        self._phase, self._clock, self.onset = ACTIVE, 0.0, stamp - time

    def update(
        self, stamp: float, dt: float, observer: Residual, com_height: float, variance: float, disturbed: bool,
        unsure: float = 0.0,
    ) -> None:  # fmt: skip
        """Take the residual wrench about the CoM [N, N m] and the height of the CoM above the ground [m].

        ``variance``: of the CoM velocity [m²/s²]; ``disturbed``: a contact changed at this tick; ``unsure``: force that
        may be wrong in what is known [N], as of a planned contact that no sensor sees: thresholds rise by it.
        """
        residual = observer.residual
        s, bias = self._settings, self.bias
        fx, fy, fz = residual[0] - bias[0], residual[1] - bias[1], residual[2] - bias[2]
        force_sq = fx * fx + fy * fy
        onset_sq, end_sq = self._onset_sq, self._end_sq
        if unsure:
            onset_sq, end_sq = (math.sqrt(onset_sq) + unsure) ** 2, (math.sqrt(end_sq) + unsure / 2) ** 2
        self._since_landing = 0.0 if disturbed else self._since_landing + dt
        if self._phase == QUIET:
            if force_sq < onset_sq or (
                self._since_landing < s.landing_time and force_sq < s.landing_factor**2 * onset_sq
            ):
                rate = dt / s.bias_time
                bias[0] += rate * fx
                bias[1] += rate * fy
                bias[2] += rate * fz
                return
            self._phase, self._clock, self._start = RISING, 0.0, stamp
            self._seen = [0.0] * 2
            ix, iy, _, jx, jy, _ = observer.swallowed()
            self._sums = [ix, iy, jx, jy]
        else:
            ix, iy, _, jx, jy, _ = observer.unexplained()
            sums = self._sums
            self._sums = [sums[0] + ix - bias[0] * dt, sums[1] + iy - bias[1] * dt, sums[2] + jx, sums[3] + jy]
        if self._phase == RISING:
            seen = self._seen
            seen[0] += fx * dt
            seen[1] += fy * dt
            if force_sq < onset_sq:
                self._phase = QUIET
                return
            if seen[0] ** 2 + seen[1] ** 2 < (self._mass * (self._confirm + s.sigma * math.sqrt(variance))) ** 2:
                return
            self._phase, self._clock = ACTIVE, 0.0
            self.onset = self._start
        self._news = True
        self._clock = self._clock + dt if force_sq < end_sq else 0.0
        ix, iy, jx, jy = self._sums
        self.impulse = math.hypot(ix, iy)
        self.direction = math.atan2(iy, ix)
        if self.impulse > 0.0:
            # A horizontal force at height d above the CoM has the moment d (-f_y, f_x).
            self.height = com_height + (ix * jy - iy * jx) / (ix * ix + iy * iy)
        self.force, self.moment = (fx, fy, fz), (residual[3], residual[4], residual[5])
        if self._clock >= s.silence:
            self._phase = QUIET
            self.force = self.moment = (0.0, 0.0, 0.0)

    def report(self) -> Push:
        """The last push; while nothing pushes the same object is given again."""
        if self._news:
            self._news = False
            force = np.array(self.force)
            self._report = Push(self.active, force, self.onset, self.direction, self.impulse, self.height)
        return self._report
