"""The first milliseconds of a push: momentum that soles and gravity do not explain, against its noise.

The innovation of the momentum observer grows with a force like a t exp(-w t), long before the observer's residual has
followed. Standing on both feet it is noise of a millimetre a second, so a strong push shows within a few samples; a
weak one is left to the residual.
"""

from __future__ import annotations

import math

from humanoid_balance.estimation.settings import PushObserverSettings

Floats = list[float]


class OnsetWatch:
    """Looks for a sudden force while both feet stand."""

    def __init__(self, mass: float, settings: PushObserverSettings, measured: bool = True) -> None:
        """``measured``: the sole wrenches come from sensors, not from joint torques."""
        scale = 1.0 if measured else settings.observer_factor
        self._mass, self._settings = mass, settings
        self._jump, self._low_sq = scale * settings.jump, (scale * settings.jump_begins * mass) ** 2
        self.reset()

    def reset(self) -> None:
        self._rise = 0.0  # time since the innovation left its noise [s]
        self._count = 0  # samples above the threshold
        self._steady = 0.0  # time both feet have stood [s]

    def update(self, innovation: Floats, dt: float, variance: float, standing: bool, unsure: float = 0.0) -> float:
        """How long a force has been acting that nobody knew of [s]; 0 when there is none.

        ``innovation``: of the momentum [N s, ...]; ``variance``: of the base velocity, all axes [m²/s²]; ``standing``:
        both feet are down and neither just came; ``unsure``: force that may be wrong in what is known [N].
        """
        x, y = innovation[0], innovation[1]
        size = x * x + y * y
        self._steady = self._steady + dt if standing else 0.0
        if size < self._low_sq:
            self._rise, self._count = 0.0, 0
            return 0.0
        self._rise += dt
        s = self._settings
        noise = self._mass * (self._jump + s.sigma * math.sqrt(variance / 3.0)) + unsure * s.jump_longest
        if size < noise**2:
            self._count = 0
            return 0.0
        self._count += 1
        if self._count < s.jump_ticks or self._steady < s.steady:
            return 0.0
        rise, self._rise, self._count = self._rise, 0.0, 0
        return min(rise, s.jump_longest)
