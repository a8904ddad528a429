"""C3D, the format of gait laboratories: markers, and force plates beside them. Read with ezc3d."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.types import Array

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}
MAGIC = 0x50  # second byte of every C3D
LOADED = 10.0  # a plate with less force has no centre of pressure [N]


@dataclass(frozen=True, eq=False)
class ForcePlate:
    """What the ground does to the body, world axes, z up."""

    force: Array  # (A, 3) [N]
    pressure: Array  # centre of pressure (A, 3) [m]; of no account while nothing stands on the plate


@dataclass(frozen=True, eq=False)
class MarkerRecording:
    name: str
    rate: float  # of the markers [1/s]
    labels: tuple[str, ...]
    markers: Array  # (F, k, 3) [m], NaN where one was not seen
    plate_rate: float  # [1/s]
    plates: tuple[ForcePlate, ...]


def load(file: Path) -> MarkerRecording:
    """Markers and plates of a file."""
    try:
        import ezc3d
    except ImportError:
        raise InputError(
            f"{file}: C3D is read with ezc3d, which is not installed; allowed: pip install ezc3d"
        ) from None
    try:
        head = file.read_bytes()[:2]
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    if len(head) < 2 or head[1] != MAGIC:
        raise InputError(f"{file}: not a C3D; allowed: a file whose second byte is {MAGIC}")
    try:
        data = ezc3d.c3d(str(file), extract_forceplat_data=True)
        points, parameters = data["data"]["points"], data["parameters"]
        labels = tuple(str(label).strip() for label in parameters["POINT"]["LABELS"]["value"])
        unit = str(parameters["POINT"]["UNITS"]["value"][0]).strip().lower()
        rate = float(parameters["POINT"]["RATE"]["value"][0])
        plates = data["data"].get("platform", [])
        plate_rate = float(parameters["ANALOG"]["RATE"]["value"][0])
    except Exception as error:  # whatever ezc3d makes of a broken file
        reason = " ".join(str(error).split())[:80]
        raise InputError(f"{file}: cannot be read as C3D ({reason}); allowed: one with points and their rate") from None
    if unit not in METRES or not rate > 0 or points.shape[2] < 2:
        raise InputError(
            f"{file}: {points.shape[2]} frames at {rate:g} Hz in '{unit}'; allowed: 2 or more in {', '.join(METRES)}"
        )
    markers = METRES[unit] * np.moveaxis(points[:3], 0, -1).swapaxes(0, 1)
    shown = [ForcePlate(_upward(p["force"].T), METRES[unit] * p["center_of_pressure"].T) for p in plates]
    return MarkerRecording(file.stem, rate, labels[: markers.shape[1]], markers, plate_rate, tuple(shown))


def _upward(force: Array) -> Array:
    """Laboratories differ in whether a plate reports what it does or what is done to it; the ground pushes up."""
    loaded = np.abs(force[:, 2]) > LOADED
    return np.asarray(-force if loaded.any() and force[loaded, 2].mean() < 0.0 else force)
