"""The force plates calibrate the accelerometer: over a window both must tell the same story (Kudoh K5).

With no push, over a window T in world axes

    accelerometer   ∫ R (a - b̂) dt = Δv_imu - g T - R ζ_a T
    soles           ∫ f / m dt     = Δv_com - g T

and Δ(v_imu - v_com) is known from the encoders. What is left over is the error ζ_a of the bias. Only the horizontal
part is used, after scaling the force so that the vertical parts agree: a payload then does no harm.
"""

from __future__ import annotations

from humanoid_balance.types import GRAVITY

Floats = list[float]


class ForcePlateWindow:
    """Sums both impulses over a window of quiet standing."""

    def __init__(self, length: float) -> None:
        self._length = length  # [s]
        self.clear()

    def clear(self) -> None:
        """Something happened that is not quiet standing: start again."""
        self._time = 0.0
        self._sums = [0.0] * 6
        self._start: Floats = []

    def add(self, specific: Floats, force: Floats, relative: Floats, time: float) -> Floats | None:
        """Take what happened in the last ``time`` [s], world axes; -R ζ_a, x and y [m/s²], when the window is full.

        ``specific``: ∫ R (a - b̂) dt of the accelerometer [m/s]; ``force``: impulse of the soles [N s]; ``relative``:
        velocity of the IMU minus that of the CoM at the end of it [m/s].
        """
        if not self._start:
            self._start = relative
            return None
        self._sums = sums = [a + b for a, b in zip(self._sums, (*specific, *force), strict=True)]
        self._time += time
        if self._time < self._length:
            return None
        start, total = self._start, self._time
        self.clear()
        self._start = relative
        rise = sums[2] - (relative[2] - start[2])
        if sums[5] <= 0.0 or not 0.5 < rise / (GRAVITY * total) < 1.5:
            return None
        scale = rise / sums[5]  # one over the true mass
        return [(sums[i] - scale * sums[3 + i] - (relative[i] - start[i])) / total for i in (0, 1)]
