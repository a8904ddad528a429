"""External pushes: a wrench on a link over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.types import Array

PROFILES = ("constant", "half-sine", "sine")
TALLEST = 3.0  # no push acts higher above the ground [m]; what a robot reaches is checked where it is known


class ExternalForce(Protocol):
    """What a simulator applies: ``force_at(time)`` newtons along ``axis`` on a link, over at ``end``."""

    @property
    def axis(self) -> Array: ...

    @property
    def end(self) -> float: ...

    @property
    def link(self) -> str | None: ...

    @property
    def point(self) -> tuple[float, float, float] | None: ...

    @property
    def height(self) -> float | None: ...

    def force_at(self, time: float) -> float: ...


@dataclass(frozen=True)
class PushProfile:
    """A horizontal force. ``direction`` is where the force points, degrees about +z from +x.

    Where it acts is fixed to a link when it begins: on the torso, at the CoM; on a ``link``, at the origin of its
    frame; either at a ``height`` above the ground on the same vertical; or at a ``point`` in the frame of the link.
    ``half-sine`` has the peak ``force``; ``sine`` swings between plus and minus ``force``.
    """

    force: float  # [N]
    duration: float  # [s]
    direction: float = 0.0  # [deg]
    start: float = 1.0  # [s]
    profile: str = "constant"
    frequency: float = 1.0  # of the sine [Hz]
    link: str | None = None
    point: tuple[float, float, float] | None = None
    height: float | None = None  # above the ground [m]

    def __post_init__(self) -> None:
        for key in ("force", "duration", "direction", "start", "frequency"):
            value = getattr(self, key)
            if not math.isfinite(value):
                raise InputError(f"push {key} is {value}; allowed: a finite number")
            if value < 0 and key in ("duration", "start"):
                raise InputError(f"push {key} is {value:g} s; allowed: 0 or more")
        if self.height is not None and not 0.0 <= self.height <= TALLEST:
            raise InputError(f"push height is {self.height:g} m; allowed: 0 to {TALLEST:g}, above the ground")
        if self.profile not in PROFILES:
            raise InputError(f"push profile is '{self.profile}'; allowed: {', '.join(PROFILES)}")
        if self.profile == "sine" and self.frequency <= 0:
            raise InputError(f"push frequency is {self.frequency:g} Hz; allowed: above 0")

    @staticmethod
    def parse(text: str) -> PushProfile:
        """``FORCE:DURATION:DIRECTION:START`` in N, s, deg, s."""
        try:
            force, duration, direction, start = map(float, text.split(":"))
        except ValueError:
            raise InputError(f"push '{text}'; allowed: FORCE:DURATION:DIRECTION:START in N, s, deg, s") from None
        return PushProfile(force, duration, direction, start)

    @property
    def axis(self) -> Array:
        angle = math.radians(self.direction)
        return np.array([math.cos(angle), math.sin(angle), 0.0])

    @property
    def end(self) -> float:
        return self.start + self.duration

    @property
    def impulse(self) -> float:
        """The integral of the force [N s]."""
        if self.profile == "half-sine":
            return self.force * self.duration * 2 / math.pi
        if self.profile == "sine":
            turn = 2 * math.pi * self.frequency
            return self.force * (1 - math.cos(turn * self.duration)) / turn
        return self.force * self.duration

    def force_at(self, time: float) -> float:
        """Signed force along the axis at ``time`` [N]; the interval is [start, end)."""
        since = time - self.start
        if since < -1e-9 or since >= self.duration - 1e-9:
            return 0.0
        if self.profile == "half-sine":
            return self.force * math.sin(math.pi * since / self.duration)
        if self.profile == "sine":
            return self.force * math.sin(2 * math.pi * self.frequency * since)
        return self.force
