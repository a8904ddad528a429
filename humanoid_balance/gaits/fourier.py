"""Fit of cyclic curves to a few recorded cycles: the period from the hip, then as few harmonics as are needed (Y20)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.errors import InputError
from humanoid_balance.gaits.cycle import LONGEST, MOST, SHORTEST, Cycle, FourierCurve
from humanoid_balance.types import Array, Flags

FEWEST_CYCLES = 3  # of a recording
CLOSE = math.radians(2.0)  # rms at which a curve is good enough [rad]
NEAR, GRID = 0.06, 241  # the period is searched within this share about the peak of the spectrum, at so many places
FLEXED = 0.25  # phase of the largest flexion of the hip, where landings are not known ...
LANDED = 0.5  # ... and of the landing, where they are


def period_of(curve: Array, dt: float) -> float:
    """Of a recorded curve (samples,) [s]: the peak of its spectrum, then the best fit of a series near it."""
    curve = curve - curve.mean()
    padded = 8 * len(curve)
    power = np.abs(np.fft.rfft(curve * np.hanning(len(curve)), padded)) ** 2
    frequency = np.fft.rfftfreq(padded, dt)
    power[(frequency < 1.0 / LONGEST) | (frequency > 1.0 / SHORTEST)] = 0.0
    peak = frequency[int(np.argmax(power))]
    if peak <= 0.0 or len(curve) * dt * peak < FEWEST_CYCLES - 0.5:
        raise InputError(
            f"the recording has no cycle that repeats; allowed: {FEWEST_CYCLES} or more cycles of "
            f"{SHORTEST:g} to {LONGEST:g} s"
        )
    time = dt * np.arange(len(curve))
    periods = np.linspace((1.0 - NEAR) / peak, (1.0 + NEAR) / peak, GRID)
    left_over = [_residual(curve, time / period) for period in periods]
    return float(periods[int(np.argmin(left_over))])


def fit(
    hip: Array,
    knee: Array,
    ankle: Array,
    dt: float,
    landed: NDArray[np.intp] | None = None,
    close: float = CLOSE,
    most: int = MOST,
) -> Cycle:
    """The cycle of one leg from its recorded angles (samples,) [rad], ``dt`` seconds apart.

    ``landed``: samples at which its foot came down, where that is known; they are put to phase 0.5. Each curve
    gets its largest harmonics until its rms error is below ``close`` [rad], at most the first ``most``.
    """
    period = period_of(hip, dt)
    phase: Array = np.arange(len(hip), dtype=np.float64) * (dt / period)
    if landed is not None and len(landed):
        mean = np.exp(1j * math.tau * phase[landed]).mean()
        phase = phase + LANDED - math.atan2(mean.imag, mean.real) / math.tau
    else:
        rough = series(hip, phase, close, most)
        turn: list[float] = np.arange(0.0, 1.0, 1e-3).tolist()
        phase = phase + FLEXED - turn[int(np.argmax([rough.at(t)[0] for t in turn]))]
    return Cycle(period, *(series(curve, phase, close, most) for curve in (hip, knee, ankle)))


def series(curve: Array, phase: Array, close: float = CLOSE, most: int = MOST) -> FourierCurve:
    """The Fourier series of samples at phases in turns (samples,); harmonics that are not needed are zero."""
    basis = _basis(phase, most)
    found: Array = np.asarray(np.linalg.lstsq(basis, curve, rcond=None)[0], dtype=np.float64)
    size = np.hypot(found[1::2], found[2::2])
    kept = np.zeros(most, dtype=bool)
    for k in np.argsort(-size):
        if _rms(curve, basis, found, kept) <= close:
            break
        kept[k] = True
    last = int(np.flatnonzero(kept)[-1]) + 1 if kept.any() else 0
    parts = [(float(found[1 + 2 * k]), float(found[2 + 2 * k])) if kept[k] else (0.0, 0.0) for k in range(last)]
    return FourierCurve(float(found[0]), tuple(parts))


def _rms(curve: Array, basis: Array, found: Array, kept: Flags) -> float:
    mask = np.concatenate([[True], np.repeat(kept, 2)])
    return float(np.sqrt(np.mean((curve - basis @ np.where(mask, found, 0.0)) ** 2)))


def _basis(phase: Array, most: int) -> Array:
    columns = [np.ones_like(phase)]
    for k in range(1, most + 1):
        columns += [np.cos(math.tau * k * phase), np.sin(math.tau * k * phase)]
    return np.stack(columns, axis=1)


def _residual(curve: Array, phase: Array) -> float:
    basis = _basis(phase, MOST)
    return float(np.sum((curve - basis @ np.linalg.lstsq(basis, curve, rcond=None)[0]) ** 2))
