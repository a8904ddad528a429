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
    """Sums of one window; ``result`` when it is full."""

    def __init__(self, length: float) -> None:
        self._length = length  # [s]
        self.clear()

    def clear(self) -> None:
        """Something happened that is not quiet standing: start again."""
        self._time = 0.0
        self._sums = [0.0] * 6
        self._start: Floats = []

    def add(self, specific: Floats, force: Floats, dt: float) -> bool:
        """Take specific force of the IMU [m/s²] and total force of the soles [N], world axes; True when full."""
        sums = self._sums
        sums[0] += specific[0] * dt
        sums[1] += specific[1] * dt
        sums[2] += specific[2] * dt
        sums[3] += force[0] * dt
        sums[4] += force[1] * dt
        sums[5] += force[2] * dt
        self._time += dt
        return not self._start or self._time >= self._length

    def result(self, imu_velocity: Floats, com_velocity: Floats) -> Floats | None:
        """Close the window at these velocities [m/s]; -R ζ_a, x and y [m/s²], or None for the first or a bad one."""
        relative = [a - b for a, b in zip(imu_velocity, com_velocity, strict=True)]
        start, sums, time = self._start, self._sums, self._time
        self.clear()
        self._start = relative
        if not start:
            return None
        rise = relative[2] - start[2]
        if sums[5] <= 0.0 or not 0.5 < (sums[2] - rise) / (GRAVITY * time) < 1.5:
            return None
        scale = (sums[2] - rise) / sums[5]  # one over the true mass
        return [(sums[i] - scale * sums[3 + i] - (relative[i] - start[i])) / time for i in (0, 1)]
