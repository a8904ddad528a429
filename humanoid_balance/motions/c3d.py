"""C3D, the format of gait laboratories: markers, and force plates beside them. Read with ezc3d, in a process
of its own: a damaged file can crash it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.types import Array

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}
MAGIC = 0x50  # second byte of every C3D
PATIENCE = 120.0  # for a file of an hour [s]
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
    if importlib.util.find_spec("ezc3d") is None:
        raise InputError(f"{file}: a C3D is read with ezc3d, which is not here; allowed: pip install ezc3d")
    try:
        head = file.read_bytes()[:2]
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    if len(head) < 2 or head[1] != MAGIC:
        raise InputError(f"{file}: not a C3D; allowed: a file whose second byte is {MAGIC}")
    found = _read(file)
    unit, rate, points = str(found["unit"]), float(found["rate"]), found["points"]
    labels = tuple(str(label) for label in found["labels"])
    if unit not in METRES or not rate > 0 or points.shape[2] < 2:
        raise InputError(
            f"{file}: {points.shape[2]} frames at {rate:g} Hz in '{unit}'; allowed: 2 or more in {', '.join(METRES)}"
        )
    markers = METRES[unit] * np.moveaxis(points, 0, -1).swapaxes(0, 1)
    plates = [
        ForcePlate(_upward(force), METRES[unit] * pressure)
        for force, pressure in zip(found["force"], found["pressure"], strict=True)
    ]
    return MarkerRecording(
        file.stem, rate, labels[: markers.shape[1]], markers, float(found["plate_rate"]), tuple(plates)
    )


def _read(file: Path) -> dict[str, Any]:
    """The arrays of a file, by another process."""
    child = Path(__file__).with_name("c3d_child.py")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "arrays.npz"
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(child), str(file), str(out)],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            reason = done.stderr.strip().splitlines()[-1][:80] if done.stderr.strip() else f"code {done.returncode}"
            if done.returncode == 0:
                with np.load(out) as data:
                    return dict(data)
        except subprocess.TimeoutExpired:
            reason = f"more than {PATIENCE:g} s"
    raise InputError(f"{file}: cannot be read as C3D ({reason}); allowed: one with points, rates and a unit")


def _upward(force: Array) -> Array:
    """Laboratories differ in whether a plate reports what it does or what is done to it; the ground pushes up."""
    loaded = np.abs(force[:, 2]) > LOADED
    return np.asarray(-force if loaded.any() and force[loaded, 2].mean() < 0.0 else force)
