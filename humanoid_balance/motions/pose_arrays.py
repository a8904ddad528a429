"""Pose arrays as large collections of recordings come (AMASS and what is written like it): an npz with

    poses              (F, 3 k) or (F, k, 3) rotation vectors [rad], k >= 22 joints in the order of ``JOINTS``
    trans              (F, 3) position of the root [m]
    mocap_framerate    or mocap_frame_rate, or fps: frames per second
    offsets            (22, 3) of each joint from its parent in the T-pose [m], x left, y up, z forward: optional

The shape of a body model is its owner's and not part of this package, so ``offsets`` are for the user to give. Without
them the body has the proportions of a person of 1.70 m; directions and contacts do not depend on them much, and lengths
are scaled to a robot anyway. Fingers are left out.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.motions import normative as person
from humanoid_balance.motions import rotations as rot
from humanoid_balance.motions.bvh import LARGEST, RATES
from humanoid_balance.motions.clip import Clip, Skeleton
from humanoid_balance.types import Array

RATE_NAMES = ("mocap_framerate", "mocap_frame_rate", "fps")
COLLAR = 0.07  # half of the distance between the inner ends of the collar bones [m]
FOOT = 0.13  # from the ankle to the ball, forward [m]
SPINE = (person.LOINS + person.CHEST) / 4  # of three bones up to the chest's upper one, and to the neck [m]

# Name, parent, offset of a person [m]: x left, y up, z forward. ``s`` is +1 on the left.
_PAIRS = {
    "hip": ("pelvis", lambda s: (s * person.HIP_HALF, 0, 0)),
    "knee": ("hip", lambda s: (0, -person.THIGH, 0)),
    "ankle": ("knee", lambda s: (0, -person.SHANK, 0)),
    "foot": ("ankle", lambda s: (0, -person.ANKLE_HEIGHT, FOOT)),
    "collar": ("spine3", lambda s: (s * COLLAR, 0.7 * SPINE, 0)),
    "shoulder": ("collar", lambda s: (s * (person.SHOULDER_HALF - COLLAR), 0.1 * SPINE, 0)),
    "elbow": ("shoulder", lambda s: (s * person.UPPER_ARM, 0, 0)),
    "wrist": ("elbow", lambda s: (s * person.FOREARM, 0, 0)),
}
_MIDDLE: dict[str, tuple[str, tuple[float, float, float]]] = {
    "pelvis": ("", (0, 0, 0)), "spine1": ("pelvis", (0, SPINE, 0)), "spine2": ("spine1", (0, SPINE, 0)),
    "spine3": ("spine2", (0, SPINE, 0)), "neck": ("spine3", (0, SPINE, 0)), "head": ("neck", (0, person.NECK, 0)),
}  # fmt: skip
JOINTS = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
)  # fmt: skip


def _placed(name: str) -> tuple[str, tuple[float, ...]]:
    """Parent and offset of a joint."""
    if name in _MIDDLE:
        return _MIDDLE[name]
    side, _, joint = name.partition("_")
    parent, offset = _PAIRS[joint]
    return parent if parent in _MIDDLE else f"{side}_{parent}", offset(1.0 if side == "left" else -1.0)


def load(file: Path) -> Clip:
    """The clip of a file: metres, in the axes of its world."""
    try:
        with np.load(file, allow_pickle=False) as data:
            found = {key: data[key] for key in ("poses", "trans", "offsets", *RATE_NAMES) if key in data.files}
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{file}: cannot be read; allowed: an npz with poses, trans and mocap_framerate") from None
    for key in ("poses", "trans"):
        if key not in found:
            raise InputError(f"{file}: no array '{key}'; allowed: poses (F, 3 k), trans (F, 3), mocap_framerate")
    poses = _numbers(file, "poses", found)
    count = len(poses)
    if poses.ndim not in (2, 3) or not count or poses[0].size % 3 or poses[0].size < 3 * len(JOINTS):
        raise InputError(f"{file}: poses {poses.shape}; allowed: (F, 3 k) with {len(JOINTS)} joints or more")
    trans, offsets = _numbers(file, "trans", found), _offsets(file, found)
    if trans.shape != (count, 3):
        raise InputError(f"{file}: trans {trans.shape}; allowed: ({count}, 3), as there are poses")
    parents = tuple(JOINTS.index(parent) if parent else -1 for parent, _ in map(_placed, JOINTS))
    ends = tuple(
        (JOINTS.index(f"{side}_wrist"), (sign * person.HAND, 0.0, 0.0)) for side, sign in (("left", 1), ("right", -1))
    )
    skeleton = Skeleton(JOINTS, parents, offsets, ends)
    vectors = poses.reshape(count, -1, 3)[:, : len(JOINTS)]
    return Clip(file.stem, _rate(file, found), skeleton, trans, rot.exp(vectors))


def _numbers(file: Path, key: str, found: dict[str, Any]) -> Array:
    try:
        values = np.asarray(found[key], dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{file}: {key} are not numbers; allowed: an array of finite ones") from None
    if not (np.abs(values) <= LARGEST).all():
        raise InputError(f"{file}: {key} has a value that is not finite; allowed: up to {LARGEST:g}")
    return values


def _offsets(file: Path, found: dict[str, Any]) -> Array:
    if "offsets" not in found:
        return np.array([offset for _, offset in map(_placed, JOINTS)], dtype=float)
    offsets = _numbers(file, "offsets", found)
    if offsets.shape != (len(JOINTS), 3):
        raise InputError(f"{file}: offsets {offsets.shape}; allowed: ({len(JOINTS)}, 3)")
    return offsets


def _rate(file: Path, found: dict[str, Any]) -> float:
    for name in RATE_NAMES:
        if name in found:
            rate = _numbers(file, name, found)
            if rate.size == 1 and RATES[0] <= rate.item() <= RATES[1]:
                return float(rate.item())
            raise InputError(f"{file}: {name} is {rate.tolist()}; allowed: {RATES[0]:g} to {RATES[1]:g} per second")
    raise InputError(f"{file}: no frame rate; allowed: one of {', '.join(RATE_NAMES)}")
