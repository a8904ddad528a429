"""Which soles stand on the ground: hysteresis on the normal force as a share of the weight, debounced; slip."""

from __future__ import annotations

import math

from humanoid_balance.estimation.settings import ContactSettings

SURE = 20.0  # logistic argument beyond which nothing is left to compute


class FootContact:
    """One sole. ``contact`` is debounced, ``trusted`` says whether it may serve as a fixed point."""

    def __init__(self, weight: float, settings: ContactSettings) -> None:
        self._settings = settings
        self._on, self._off = settings.load_on * weight, settings.load_off * weight
        self._middle, self._width = (self._on + self._off) / 2, (self._on - self._off) / 4
        self._slip_sq = settings.slip_speed**2
        self.reset(False)

    def reset(self, contact: bool) -> None:
        """Start with or without contact."""
        self.contact = self.trusted = contact
        self.changed = False  # at this tick
        self.slipping = False
        self.probability = 1.0 if contact else 0.0
        self._count = 0
        self._clock = 0.0

    def update(self, normal_force: float) -> None:
        """Take one sample [N]."""
        settings = self._settings
        self.changed = False
        if normal_force < self._off if self.contact else normal_force > self._on:
            self._count += 1
            if self._count >= (settings.ticks_off if self.contact else settings.ticks_on):
                self.reset(not self.contact)
                self.changed = True
        else:
            self._count = 0
        scaled = (normal_force - self._middle) / self._width
        if scaled > SURE:
            self.probability = 1.0
        else:
            self.probability = 1.0 / (1.0 + math.exp(-scaled)) if scaled > -SURE else 0.0
        if self.slipping:
            self.probability *= 0.5

    def watch_slip(self, speed_sq: float, dt: float) -> None:
        """Take the squared speed of the centre of pressure over the ground [m²/s²]."""
        settings = self._settings
        if self.slipping:
            self._clock = self._clock + dt if speed_sq < settings.trust_speed**2 else 0.0
            self.slipping = self._clock < settings.trust_time
            if not self.slipping:
                self._clock = 0.0
        elif speed_sq > self._slip_sq:
            self._clock += dt
            self.slipping = self._clock > settings.slip_time
            if self.slipping:
                self._clock = 0.0
        else:
            self._clock = 0.0
        self.trusted = self.contact and not self.slipping
