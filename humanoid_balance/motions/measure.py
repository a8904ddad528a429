"""Measuring a person who is pushed, as Kudoh did (specification K5): CoM, ZMP, push and k_CM from markers and plates.

CoM               the masses of the segments in the middle of their ends
CoM acceleration  f / m + g from the plates while nobody pushes, from the markers while someone does
ZMP               where the moments of all plates about it have no horizontal part
impulse           m x - double integral of f is a straight line but for the push, which changes its slope by it
k_CM              slope of the acceleration over the position on the way back
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt

from humanoid_balance.errors import InputError
from humanoid_balance.motions.c3d import LOADED, MarkerRecording
from humanoid_balance.motions.feet import runs
from humanoid_balance.types import GRAVITY, Array, Flags
from humanoid_balance.yaml_file import read

SMOOTH = 10.0  # cut-off of what markers tell about accelerations [Hz]
QUIET = 0.5  # at the beginning the person stands still: mass, resting place and zero of the plates [s]
PUSHED = 0.08  # of the weight: an unexplained force that is larger is a push
APART = 0.1  # the filter spreads a push by this much to both sides [s]
LINE = 0.4  # over which the momentum before and after a push is measured [s]
LEAST = 10  # frames of the way out that give a slope
ACCURATE = 0.05  # largest error of the sum of the mass shares


@dataclass(frozen=True)
class MarkedSegment:
    start: tuple[str, ...]
    end: tuple[str, ...]
    mass: float  # share of the body's


def marker_set(file: Path) -> dict[str, MarkedSegment]:
    """The segments of a YAML, see ``config/motions/markers.yaml``."""
    reader = read(file)
    out = {}
    table = reader.section("segments")
    for name in list(table.data):
        row = table.section(name)
        ends = [tuple(str(label) for label in row.listed(key)) for key in ("from", "to")]
        out[str(name)] = MarkedSegment(ends[0], ends[1], row.number("mass", low=0.0, high=1.0))
        row.done("from, to, mass")
    reader.done("segments")
    total = sum(segment.mass for segment in out.values())
    if abs(total - 1.0) > ACCURATE:
        raise InputError(f"{file}: the masses of the segments sum to {total:.3f}; allowed: 1")
    return out


@dataclass(frozen=True, eq=False)
class MeasuredPerson:
    """Time series at the rate of the markers."""

    time: Array  # (F,) [s]
    mass: float  # [kg]
    com: Array  # (F, 3) [m]
    acceleration: Array  # of the CoM (F, 3) [m/s²]
    zmp: Array  # (F, 2) [m]
    lean: Array  # of the chest from the vertical, forward and to the left (F, 2) [rad]
    pushed: Flags  # someone pushes (F,)
    pushes: tuple[dict[str, Any], ...]  # at, duration, impulse, dv, k_cm

    def figures(self) -> dict[str, Any]:
        """The JSON object of ``motion measure``."""
        return {
            "mass": self.mass, "frames": len(self.time), "duration": float(self.time[-1]),
            "com_height": float(self.com[0, 2]), "com_excursion_max": float(np.ptp(self.com[:, :2], axis=0).max()),
            "lean_max_deg": float(np.degrees(np.abs(self.lean - self.lean[0]).max())), "pushes": list(self.pushes),
        }  # fmt: skip

    def save(self, file: Path) -> None:
        """One row per frame, as CSV."""
        names = "time com_x com_y com_z acceleration_x acceleration_y acceleration_z zmp_x zmp_y lean_x lean_y pushed"
        columns = [self.time, *self.com.T, *self.acceleration.T, *self.zmp.T, *self.lean.T, self.pushed]
        np.savetxt(
            file, np.column_stack(columns), delimiter=",", header=names.replace(" ", ","), comments="", fmt="%.6g"
        )


def measure(recording: MarkerRecording, segments: dict[str, MarkedSegment]) -> MeasuredPerson:
    """From markers and plates to what a balance law is about."""
    com, lean = _body(recording, segments)
    time = np.arange(len(com)) / recording.rate
    force, zmp = _ground(recording, time)
    still = time < QUIET
    if still.sum() < 10 or len(com) < 3 * still.sum():
        raise InputError(f"{recording.name}: {time[-1]:.2f} s; allowed: {3 * QUIET:g} s or more, still for {QUIET:g} s")
    mass = float(force[still, 2].mean()) / GRAVITY
    if mass < 1.0:
        raise InputError(f"{recording.name}: {mass:.1f} kg stand on the plates; allowed: a person on them")
    force[:, :2] -= force[still, :2].mean(axis=0)
    force[:, 2] -= mass * GRAVITY
    sos = butter(4, SMOOTH, fs=recording.rate, output="sos")
    moved = np.gradient(np.gradient(sosfiltfilt(sos, com, axis=0), time, axis=0), time, axis=0)
    unknown = mass * moved - sosfiltfilt(sos, force, axis=0)
    pushed = np.linalg.norm(unknown[:, :2], axis=1) > PUSHED * mass * GRAVITY
    acceleration = np.where(pushed[:, None], moved, force / mass)
    spans = [(a, b) for a, b in runs(pushed) if time[a] > QUIET and time[min(b, len(time) - 1)] < time[-1] - LINE]
    momentum = mass * com[:, :2] - _twice(force[:, :2], time)
    pushes = []
    for a, b in spans:
        impulse = _impulse(time, momentum, time[a] + APART / 2, time[b] - APART / 2)
        later = [time[c] for c, _ in spans if c > a]
        pushes.append(
            {
                "at": float(time[a]), "duration": float(time[b] - time[a]), "impulse": impulse.tolist(),
                "dv": float(np.linalg.norm(impulse)) / mass,
                "k_cm": _slope(time, com[:, :2], acceleration[:, :2], impulse, time[b], min([*later, time[-1]])),
            }
        )  # fmt: skip
    return MeasuredPerson(time, mass, com, acceleration, zmp, lean, pushed, tuple(pushes))


def _body(recording: MarkerRecording, segments: dict[str, MarkedSegment]) -> tuple[Array, Array]:
    """CoM (F, 3) and lean of the chest (F, 2). Gaps of a marker are bridged."""
    places = {label: recording.markers[:, k] for k, label in enumerate(recording.labels)}

    def end(labels: tuple[str, ...]) -> Array:
        for label in labels:
            if label not in places:
                known = ", ".join(recording.labels[:40])
                raise InputError(f"{recording.name}: no marker '{label}'; there are: {known}")
        return np.asarray(np.mean([_bridged(recording.name, label, places[label]) for label in labels], axis=0))

    com, lean = np.zeros((len(recording.markers), 3)), np.zeros((len(recording.markers), 2))
    for name, segment in segments.items():
        a, b = end(segment.start), end(segment.end)
        com += segment.mass * (a + b) / 2
        if name == "chest":
            lean = np.arctan2((b - a)[:, :2], (b - a)[:, 2:])
    return com / sum(segment.mass for segment in segments.values()), lean


def _bridged(name: str, label: str, place: Array) -> Array:
    seen = np.isfinite(place).all(axis=1)
    if seen.mean() < 0.5:
        raise InputError(f"{name}: marker '{label}' is seen in {seen.mean():.0%} of the frames; allowed: half or more")
    if seen.all():
        return place
    frames = np.arange(len(place))
    return np.stack([np.interp(frames, frames[seen], place[seen, k]) for k in range(3)], axis=1)


def _ground(recording: MarkerRecording, time: Array) -> tuple[Array, Array]:
    """Sum of the plates' forces (F, 3) and ZMP (F, 2), each the mean over a frame of the markers."""
    if not recording.plates:
        raise InputError(f"{recording.name}: no force plates; allowed: a recording with one or more")
    force = np.sum([plate.force for plate in recording.plates], axis=0)
    moment = np.zeros((len(force), 2))
    for plate in recording.plates:
        loaded = plate.force[:, 2] > LOADED
        moment[loaded] += plate.force[loaded, 2:] * plate.pressure[loaded, :2]
    at = np.arange(len(force)) / recording.plate_rate
    edges = np.append(time, time[-1] + 1 / recording.rate) - 0.5 / recording.rate
    first = np.searchsorted(at, edges)
    counts = np.maximum(np.diff(first), 1)[:, None]

    def averaged(values: Array) -> Array:
        total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
        return np.asarray((total[first[1:]] - total[first[:-1]]) / counts)

    mean = averaged(force)
    up = np.where(mean[:, 2:] > LOADED, mean[:, 2:], np.nan)
    return mean, averaged(moment) / up


def _twice(force: Array, time: Array) -> Array:
    """Double integral over time."""
    dt = time[1] - time[0]
    speed = np.cumsum(force, axis=0) * dt - force * dt / 2
    return np.asarray(np.cumsum(speed, axis=0) * dt - speed * dt / 2)


def _impulse(time: Array, line: Array, begin: float, end: float) -> Array:
    """Change of slope of two straight lines (2,) [N s]."""
    before = (time > begin - LINE) & (time < begin)
    after = (time > end) & (time < end + LINE)
    return np.asarray(np.polyfit(time[after], line[after], 1)[0] - np.polyfit(time[before], line[before], 1)[0])


def _slope(time: Array, com: Array, acceleration: Array, impulse: Array, begin: float, end: float) -> float | None:
    """Of the acceleration over the distance from where the CoM rests, along the push, on the way out [1/s²]."""
    along = impulse / np.linalg.norm(impulse)
    x = (com - com[time < QUIET].mean(axis=0)) @ along
    rows = np.flatnonzero((time > begin) & (time < end))
    if len(rows) < LEAST:
        return None
    rows = rows[: int(np.argmax(x[rows])) + 1]
    return float(x[rows] @ (acceleration @ along)[rows] / (x[rows] @ x[rows])) if len(rows) >= LEAST else None
