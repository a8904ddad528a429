"""Which soles stand on the ground: hysteresis on the normal force as a share of the weight, debounced; slip."""

from __future__ import annotations

import math

from humanoid_balance.estimation.settings import ContactSettings

KEEPS = 0.9  # share of its speed that a lifted sole still has after a few samples
SURE = 20.0  # logistic argument beyond which nothing is left to compute


class FootContact:
    """One sole. ``contact`` is debounced, ``trusted`` says whether it may serve as a fixed point."""

    def __init__(self, weight: float, settings: ContactSettings, measured: bool = True) -> None:
        """``measured``: the force comes from a sensor, not from joint torques."""
        self._settings = settings
        scale = weight if measured else settings.observer_factor * weight
        self._on, self._off = settings.load_on * scale, settings.load_off * scale
        self._middle, self._width = (self._on + self._off) / 2, (self._on - self._off) / 4
        self._sure = self._middle + SURE * self._width
        self.slip_sq = settings.slip_speed**2  # [m²/s²]
        self.flat_sq = settings.flat**2  # [rad²/s²]
        self.reset(False)

    def reset(self, contact: bool) -> None:
        """Start with or without contact."""
        self.contact = self.trusted = contact
        self.changed = False  # at this tick
        self.slipping = False
        self.doubtful = False  # slipping, or on the way to it
        self.probability = 1.0 if contact else 0.0
        self._count = 0
        self._left_with = 0.0  # speed of the sole when its force went [m/s]
        self._clock = 0.0
        self._since = math.inf  # time since the contact changed [s]
        self._settled = False  # nothing but a lower force can change anything

    def update(self, normal_force: float, dt: float, rising: float = 0.0) -> None:
        """Take one sample of the normal force [N], dt after the last [s]; ``rising``: speed of the sole, up [m/s]."""
        self.changed = False
        if self._settled and normal_force > self._sure:
            return
        settings = self._settings
        self._since += dt
        if normal_force < self._off if self.contact else normal_force > self._on:
            if self._count == 0:
                self._left_with = rising
            self._count += 1
            if not self.contact:
                enough = settings.ticks_on
            elif self._since < settings.landing_time:
                # What presses a bouncing sole down slows it within milliseconds; one that is lifted keeps its speed.
                lifted = rising > max(settings.bounce_speed, KEEPS * self._left_with)
                enough = settings.ticks_off if lifted else settings.ticks_idle
            else:  # one that only carries nothing, while the other lands, does not rise
                enough = settings.ticks_off if rising > settings.lift_speed else settings.ticks_idle
            if self._count >= enough:
                self.reset(not self.contact)
                self.changed, self._since = True, 0.0
        else:
            self._count = 0
        scaled = (normal_force - self._middle) / self._width
        if scaled > SURE:
            self.probability = 1.0
        else:
            self.probability = 1.0 / (1.0 + math.exp(-scaled)) if scaled > -SURE else 0.0
        if self.slipping:
            self.probability *= 0.5
        self._settled = self.contact and self.probability == 1.0 and self._since > settings.landing_time

    def watch_slip(self, speed_sq: float, variance: float, dt: float) -> None:
        """Take the squared speed of the centre of pressure over the ground, and its variance [m²/s²].

        Need not be called while the speed is below ``slip_sq`` and nothing is ``doubtful``.
        """
        settings = self._settings
        if self.slipping:
            self._clock = self._clock + dt if speed_sq < settings.trust_speed**2 + 4.0 * variance else 0.0
            self.slipping = self._clock < settings.trust_time
            if not self.slipping:
                self._clock = 0.0
        elif speed_sq > self.slip_sq + 9.0 * variance:
            self._clock += dt
            self.slipping = self._clock > settings.slip_time
            if self.slipping:
                self._clock = 0.0
        else:
            self._clock = 0.0
        self.trusted = self.contact and not self.slipping
        self.doubtful = self.slipping or self._clock > 0.0
        self._settled = self._settled and not self.slipping
