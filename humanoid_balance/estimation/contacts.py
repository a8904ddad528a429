"""Which soles stand on the ground: hysteresis on the normal force as a share of the weight, debounced; slip."""

from __future__ import annotations

import math

from humanoid_balance.estimation.settings import ContactSettings


class FootContact:
    """One sole. ``contact`` is debounced, ``trusted`` says whether it may serve as a fixed point."""

    def __init__(self, weight: float, settings: ContactSettings) -> None:
        self._settings = settings
        self._on, self._off = settings.load_on * weight, settings.load_off * weight
        self._middle, self._width = (self._on + self._off) / 2, (self._on - self._off) / 4
        self.reset(False)

    def reset(self, contact: bool) -> None:
        self.contact = contact
        self.changed = False  # at this tick
        self.slipping = False
        self.probability = 1.0 if contact else 0.0
        self._count = 0
        self._slip_clock = 0.0

    def update(self, normal_force: float) -> bool:
        """Take one sample [N]; True when the contact changed at this tick."""
        settings = self._settings
        opposite = normal_force < self._off if self.contact else normal_force > self._on
        self._count = self._count + 1 if opposite else 0
        self.changed = self._count >= (settings.ticks_off if self.contact else settings.ticks_on)
        if self.changed:
            self.contact, self._count = not self.contact, 0
            self.slipping, self._slip_clock = False, 0.0
        scaled = (normal_force - self._middle) / self._width
        sure = 1.0 if scaled > 30.0 else 0.0 if scaled < -30.0 else 1.0 / (1.0 + math.exp(-scaled))
        self.probability = 0.5 * sure if self.slipping else sure
        return self.changed

    def watch_slip(self, speed: float, dt: float) -> bool:
        """Take the speed of the centre of pressure over the ground [m/s]; True when trust changed."""
        settings = self._settings
        if self.slipping:
            calm = speed < settings.trust_speed
            self._slip_clock = self._slip_clock + dt if calm else 0.0
            if self._slip_clock < settings.trust_time:
                return False
        else:
            self._slip_clock = self._slip_clock + dt if speed > settings.slip_speed else 0.0
            if self._slip_clock < settings.slip_time:
                return False
        self.slipping, self._slip_clock = not self.slipping, 0.0
        return True

    @property
    def trusted(self) -> bool:
        return self.contact and not self.slipping
