"""Clips from files, by the ending of their name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from humanoid_balance.errors import InputError
from humanoid_balance.motions import bvh, pose_arrays
from humanoid_balance.motions.clip import Clip

OWN = ("walk", "turn", "stop", "normative")  # clips that the package makes itself: ``experiments/own_clip.py``
READERS: dict[str, Callable[[Path], Clip]] = {".bvh": bvh.load, ".npz": pose_arrays.load}


def load(file: Path) -> Clip:
    """A recorded motion, in the axes and the unit of its file."""
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{file}: not a motion by its name; allowed: a name that ends in {', '.join(READERS)}")
    return reader(file)
