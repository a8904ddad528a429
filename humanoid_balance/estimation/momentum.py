"""External wrench on the body: momentum minus what the soles and gravity explain (Yin Y1).

    h = [m c'; L]      h' = w_soles + w_gravity + w_push      (wrenches about the CoM, world axes)

A second-order observer with the residual r as its integral state; its error decays like (s² + 2 ζ w s + w²):

    ĥ' = w_soles + w_gravity + r + 2 ζ w (h - ĥ)        r' = w² (h - ĥ)

Between pushes ĥ is the momentum predicted by the force plates and corrected by the kinematics: no lag, little noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Floats = list[float]
SIX = range(6)


class MomentumObserver:
    """State: momentum ``momentum`` [N s, N m s] and ``residual`` wrench [N, N m], each six floats."""

    def __init__(self, bandwidth: float, damping: float = 1.0) -> None:
        self._proportional, self._integral = 2.0 * damping * bandwidth, bandwidth**2
        self._bandwidth = bandwidth
        self.reset([0.0] * 6)

    def reset(self, momentum: Floats) -> None:
        """Start from a known momentum with no residual."""
        self.momentum = list(momentum)
        self.residual: Floats = [0.0] * 6
        self.innovation: Floats = [0.0] * 6
        self._measured: Sequence[float] = list(momentum)
        self._before: Sequence[float] = self._measured  # the sample before it
        self._known: Sequence[float] = [0.0] * 6  # wrench between them
        self._dt = 0.0

    def update(self, momentum: Sequence[float], wrench: Sequence[float], dt: float) -> None:
        """Take the measured momentum, and the known wrench (soles and gravity) since the last sample."""
        integral = self._integral * dt
        gain = min(self._proportional * dt, 1.0)
        estimate, residual, innovation = self.momentum, self.residual, self.innovation
        self._before, self._measured, self._known, self._dt = self._measured, momentum, wrench, dt
        for i in SIX:
            predicted = estimate[i] + (wrench[i] + residual[i]) * dt
            innovation[i] = error = momentum[i] - predicted
            residual[i] += integral * error
            estimate[i] = predicted + gain * error

    def unexplained(self) -> Floats:
        """Change of the momentum in this tick but for the known wrench [N s, N m s]: the residual without its lag."""
        dt = self._dt
        return [h - g - w * dt for h, g, w in zip(self._measured, self._before, self._known, strict=True)]

    def swallowed(self) -> Floats:
        """Impulse of a wrench that the residual has not told yet [N s, N m s]: 2 ζ/w r + (h - ĥ), by its equations."""
        lag = self._proportional / self._integral
        return [lag * r + e for r, e in zip(self.residual, self.innovation, strict=True)]

    def shift(self, impulse: Sequence[float]) -> None:
        """The measured momentum will change by this [N s] without a force: its measurement was corrected."""
        momentum, measured = self.momentum, list(self._measured)
        for i, change in enumerate(impulse):
            momentum[i] += change
            measured[i] += change
        self._measured = measured

    def jump(self, time: float) -> None:
        """A wrench that has acted for ``time`` [s] made the innovation: believe in it at once, do not wait.

        A constant wrench r makes an innovation r t exp(-w t) with the damping of one.
        """
        share = math.exp(self._bandwidth * time) / time
        self.residual = [r + share * e for r, e in zip(self.residual, self.innovation, strict=True)]
        self.momentum = list(self._measured)
