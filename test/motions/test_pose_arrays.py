"""Pose arrays: the same walk as rotation vectors, and files that are not what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.motions import library, normative
from humanoid_balance.motions import rotations as rot
from humanoid_balance.motions.pose_arrays import JOINTS
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.motions.subject import understood
from humanoid_balance.robot import registry

# Columns: the body's left, up and forward in the axes of the clip, which has x forward, y left, z up.
AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
TURNING = {"hips": "pelvis", "chest": "spine3"}  # joints of the clip by the name that they have in the arrays


def arrays() -> dict[str, Any]:
    """A normal person's walk, arms stretched to the sides as in the T-pose."""
    clip = normative.walk(2)
    poses = np.zeros((clip.frames, 52, 3))
    for name, turned in zip(clip.skeleton.names, np.moveaxis(clip.rotations, 1, 0), strict=True):
        if "shoulder" in name or "elbow" in name:
            continue
        matrices = turned @ AXES if name == "hips" else AXES.T @ turned @ AXES
        poses[:, JOINTS.index(TURNING.get(name, name))] = rot.log(matrices)
    return {"poses": poses.reshape(clip.frames, -1), "trans": clip.root, "mocap_framerate": clip.rate}


def written(folder: Path, **changes: Any) -> Path:
    file = folder / "walk.npz"
    np.savez(file, **{key: value for key, value in (arrays() | changes).items() if value is not None})
    return file


def test_the_same_walk_has_the_same_legs(tmp_path: Path) -> None:
    known, found = understood(normative.walk(2)), understood(library.load(written(tmp_path)))
    assert found.leg == pytest.approx(known.leg) and found.unit == "m"
    for side in range(2):
        a, b = (s.end(s.parts.legs[side]) - s.places[:, s.parts.pelvis] for s in (known, found))
        assert np.abs(a - b).max() < 0.01
    assert retarget(found.clip, registry.load("g1")).report["slip_max"] < 0.005


def test_offsets_are_the_users_to_give(tmp_path: Path) -> None:
    offsets = library.load(written(tmp_path)).skeleton.offsets * 1.1
    assert understood(library.load(written(tmp_path, offsets=offsets))).leg == pytest.approx(1.1 * 0.835, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"poses": None}, "no array 'poses'"),
        ({"trans": None}, "no array 'trans'"),
        ({"mocap_framerate": None}, "no frame rate"),
        ({"mocap_framerate": 0.0}, "mocap_framerate is 0"),
        ({"mocap_framerate": np.array([30.0, 30.0])}, "mocap_framerate is"),
        ({"poses": np.zeros((10, 30))}, "22 joints or more"),
        ({"poses": np.zeros((0, 66))}, "22 joints or more"),
        ({"poses": np.full((10, 66), np.nan)}, "not finite"),
        ({"poses": np.full((10, 66), "x")}, "not numbers"),
        ({"trans": np.zeros((3, 3))}, "as there are poses"),
        ({"offsets": np.zeros((4, 3))}, r"offsets \(4, 3\)"),
        ({"poses": np.array([None], dtype=object)}, "cannot be read"),
    ],
)
def test_bad_arrays_are_refused_in_one_line(changes: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told) as error:
        library.load(written(tmp_path, **changes))
    assert "\n" not in str(error.value) and "walk.npz" in str(error.value)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_ends_early_is_refused(share: float, tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(InputError, match="cannot be read"):
        library.load(file)
