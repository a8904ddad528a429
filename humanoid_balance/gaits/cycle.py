"""Cyclic joint curves as Fourier series, played over the phase of a step (Yin, PhD thesis, UBC 2007, 7.5; Y20).

A leg swings in the first half of its cycle and stands in the second; the other leg is half a cycle away. Flexion of
the hip is largest at phase 0.25. The phase is reset when the swinging foot touches the ground: at 0.5 of its cycle the
leg becomes the stance leg, whenever that happens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humanoid_balance.gaits.table import Gain, GaitGains, GaitState

MOST = 6  # harmonics; the specification's bound for curves of walking within 2 deg
SHORTEST, LONGEST = 0.2, 4.0  # period of a cycle, two steps [s]


@dataclass(frozen=True)
class FourierCurve:
    """mean + sum over k of a_k cos(k phase) + b_k sin(k phase), the phase in turns; angles of the table [rad]."""

    mean: float
    parts: tuple[tuple[float, float], ...] = ()  # a_k, b_k, k = 1, 2, ...

    def at(self, phase: float) -> tuple[float, float]:
        """The angle [rad], and its change per turn [rad]."""
        value, slope = self.mean, 0.0
        for k, (a, b) in enumerate(self.parts, start=1):
            turn = math.tau * k
            c, s = math.cos(turn * phase), math.sin(turn * phase)
            value += a * c + b * s
            slope += turn * (b * c - a * s)
        return value, slope


@dataclass(frozen=True)
class Cycle:
    """What one leg does in two steps; hip in the world, knee and ankle against their parents."""

    period: float  # of two steps [s]
    hip: FourierCurve
    knee: FourierCurve
    ankle: FourierCurve

    def posed(self, row: GaitState, age: float, gains: GaitGains) -> GaitState:
        """The pose of a state ``age`` seconds after the step began; the state's own angles are added to the curves.

        A foot that is late finds the leg waiting at the end of its swing. Joint feedback k (q* - q) - d q' that shall
        also follow the curve's speed, d q*', is given a target that is ahead by d / k seconds.
        """
        phase = age / self.period
        moving = phase < 0.5
        swing, stance = min(phase, 0.5), min(phase, 0.5) + 0.5

        def target(curve: FourierCurve, phase: float, gain: Gain) -> float:
            value, slope = curve.at(phase)
            if not moving or gain.stiffness <= 0.0:
                return value
            return value + gain.damping / gain.stiffness * slope / self.period

        return replace(
            row,
            swing_hip=row.swing_hip + target(self.hip, swing, gains.hip),
            swing_knee=row.swing_knee + target(self.knee, swing, gains.knee),
            swing_ankle=row.swing_ankle + target(self.ankle, swing, gains.ankle),
            stance_knee=row.stance_knee + target(self.knee, stance, gains.knee),
            stance_ankle=row.stance_ankle + target(self.ankle, stance, gains.ankle),
        )
