"""A clip whose body is understood: metres, z up, x forward where it begins, parts known, all joints turned from one
upright rest pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.motions import parts as body_parts
from humanoid_balance.motions.clip import Clip, Skeleton
from humanoid_balance.motions.parts import BoneChain, Parts
from humanoid_balance.types import Array

LEG = 0.83  # thigh and shank of a person [m]: 0.246 + 0.245 of 1.70 m (Drillis and Contini, 1966)
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "foot": 0.3048, "cmu": 0.0254 / 0.45}  # [m]
PLAUSIBLE = 1.3  # a unit fits when the legs become at most by this factor longer or shorter than a person's
ALONG = math.cos(math.radians(30.0))  # an axis this near to one of the file's is meant to be it
JUMP = 6.0  # a first frame is no part of the motion when it is this many times farther than others usually are,
LEAST_JUMP = 0.3  # and a joint turns, or the root moves by legs, at least by this [rad, legs]


@dataclass(frozen=True, eq=False)
class Subject:
    """``clip`` in metres with z up. Frames of all joints have x forward, y left, z up in the rest pose."""

    clip: Clip
    parts: Parts
    unit: str  # of the file; empty if none fits and the legs gave the scale
    scale: float  # metres per unit of the file
    places: Array  # of the joints in the world (F, k, 3) [m]
    turned: Array  # orientation of the joints in the world, of their rest pose the identity (F, k, 3, 3)

    @property
    def leg(self) -> float:
        """Thigh and shank, mean of both sides [m]."""
        return _leg(self.clip.skeleton, self.parts)

    def resampled(self, rate: float) -> Subject:
        """The same with another number of frames per second."""
        clip = self.clip.resampled(rate)
        return Subject(clip, self.parts, self.unit, self.scale, *clip.pose())

    def middle(self, chain: BoneChain) -> Array:
        """Knee or elbow (F, 3)."""
        return np.asarray(self.places[:, chain.middle])

    def end(self, chain: BoneChain) -> Array:
        """Ankle or wrist (F, 3)."""
        return self.tip(chain) if chain.lower == chain.middle else np.asarray(self.places[:, chain.lower])

    def tip(self, chain: BoneChain) -> Array:
        """Ball of the foot, or hand (F, 3)."""
        return np.asarray(self.places[:, chain.lower] + self.turned[:, chain.lower] @ np.array(chain.tip))


def understood(clip: Clip, mapping: Path | None = None) -> Subject:
    """Find the parts, the unit and the axes of a clip. A calibration pose before the motion is cut off."""
    parts = body_parts.find(clip.skeleton, clip.name, mapping)
    rest = _rest_axes(clip, parts)
    leg = _leg(clip.skeleton, parts)
    unit, scale = _unit(leg)
    clip = clip.cut(1) if _calibration_first(clip, leg) else clip
    world = _world_axes(clip, rest)
    rotations = rest.T @ clip.rotations @ rest
    rotations[:, 0] = world @ clip.rotations[:, 0] @ rest
    skeleton = Skeleton(
        clip.skeleton.names,
        clip.skeleton.parents,
        scale * clip.skeleton.offsets @ rest,
        tuple((k, _triple(scale * rest.T @ np.array(place))) for k, place in clip.skeleton.ends),
    )
    root = scale * (clip.root - clip.root[0]) @ world.T
    turned = Clip(clip.name, clip.rate, skeleton, root, rotations, clip.contacts)
    chains = [replace(c, tip=_triple(scale * rest.T @ np.array(c.tip))) for c in (*parts.legs, *(parts.arms or ()))]
    parts = replace(parts, legs=(chains[0], chains[1]), arms=(chains[2], chains[3]) if parts.arms else None)
    return Subject(turned, parts, unit, scale, *turned.pose())


def _triple(place: Array) -> tuple[float, float, float]:
    x, y, z = place.tolist()
    return x, y, z


def _leg(skeleton: Skeleton, parts: Parts) -> float:
    """Thigh and shank in the skeleton's unit, mean of both sides."""
    total = 0.0
    for leg in parts.legs:
        chain = skeleton.chain(leg.lower)
        total += float(np.linalg.norm(skeleton.offsets[chain[chain.index(leg.upper) + 1 :]], axis=1).sum())
    return total / 2


def _unit(leg: float) -> tuple[str, float]:
    """The unit in which legs are nearest to a person's, in metres."""
    if leg <= 0.0:
        raise InputError("the legs have no length; allowed: bones with an OFFSET")
    miss = {name: abs(math.log(leg * size / LEG)) for name, size in UNITS.items()}
    best = min(miss, key=lambda name: miss[name])
    return (best, UNITS[best]) if miss[best] < math.log(PLAUSIBLE) else ("", LEG / leg)


def _snapped(direction: Array) -> Array:
    """A unit vector, the axis that it is near to if there is one."""
    unit = direction / max(float(np.linalg.norm(direction)), 1e-12)
    k = int(np.argmax(np.abs(unit)))
    if abs(unit[k]) < ALONG:
        return np.asarray(unit)
    out = np.zeros(3)
    out[k] = np.sign(unit[k])
    return out


def _rest_axes(clip: Clip, parts: Parts) -> Array:
    """Forward, left and up of the untwisted skeleton, as columns: up from the feet, left from hip to hip."""
    rest = clip.skeleton.rest()
    hips, ankles = (np.array([rest[getattr(leg, k)] for leg in parts.legs]) for k in ("upper", "lower"))
    up = _snapped(hips.mean(axis=0) - ankles.mean(axis=0))
    across = hips[0] - hips[1] if np.linalg.norm(hips[0] - hips[1]) > 1e-6 else ankles[0] - ankles[1]
    left = _snapped(across - (across @ up) * up)
    left = left - (left @ up) * up
    if np.linalg.norm(left) < 1e-6:
        raise InputError(f"{clip.name}: the legs are not side by side; allowed: a rest pose that stands")
    left /= np.linalg.norm(left)
    return np.stack([np.cross(left, up), left, up], axis=1)


def _calibration_first(clip: Clip, leg: float) -> bool:
    """Frame 0 is a pose for itself, often a T: far from frame 1, while all others follow each other closely."""
    if clip.frames < 4:
        return False
    cosine = (np.einsum("fkij,fkij->fk", clip.rotations[1:], clip.rotations[:-1]) - 1.0) / 2.0
    angle = np.arccos(np.clip(cosine, -1.0, 1.0)).max(axis=1)
    apart = np.maximum(angle, np.linalg.norm(np.diff(clip.root, axis=0), axis=1) / leg)
    return bool(apart[0] > LEAST_JUMP and apart[0] > JUMP * np.median(apart[1:]))


def _world_axes(clip: Clip, rest: Array) -> Array:
    """From the file's world to z up, and x where the body looks at first."""
    up = _snapped((clip.rotations[:, 0] @ rest[:, 2]).mean(axis=0))
    if max(abs(up)) < 1.0:  # it lies, or tumbles
        up = rest[:, 2]
    ahead = clip.rotations[0, 0] @ rest[:, 0]
    level = ahead - (ahead @ up) * up
    if np.linalg.norm(level) < 0.5:  # it lies on its face or on its back
        level = clip.rotations[0, 0] @ rest[:, 2]
        level = level - (level @ up) * up
    level /= np.linalg.norm(level)
    return np.stack([level, np.cross(up, level), up])
