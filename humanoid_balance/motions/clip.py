"""A recorded motion: a skeleton and, frame by frame, where its root is and how its joints are turned."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_balance.motions import rotations as rot
from humanoid_balance.types import Array, Flags


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Rigid bones in a tree. Parents stand before their children; the first joint is the root, its parent is -1."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array  # of each joint in the frame of its parent (k, 3)
    ends: tuple[tuple[int, tuple[float, float, float]], ...] = ()  # tips of the last bones: joint, place in its frame

    def children(self, joint: int) -> list[int]:
        return [k for k, parent in enumerate(self.parents) if parent == joint]

    def chain(self, joint: int) -> list[int]:
        """The joint and those above it, from the root on."""
        out = [joint]
        while self.parents[out[-1]] >= 0:
            out.append(self.parents[out[-1]])
        return out[::-1]

    def rest(self) -> Array:
        """Places of the joints while none is turned and the root is at the origin (k, 3)."""
        out = np.zeros_like(self.offsets)
        for k, parent in enumerate(self.parents):
            if parent >= 0:
                out[k] = out[parent] + self.offsets[k]
        return out


@dataclass(frozen=True, eq=False)
class Clip:
    """F frames of a skeleton of k joints. Axes and unit are those of its file until ``subject.upright`` has seen it."""

    name: str
    rate: float  # frames per second
    skeleton: Skeleton
    root: Array  # position of the root (F, 3)
    rotations: Array  # of each joint against its parent, of the root against the world (F, k, 3, 3)
    contacts: dict[str, Flags] = field(default_factory=dict)  # what touches the ground: name -> (F,)

    @property
    def frames(self) -> int:
        return len(self.root)

    @property
    def duration(self) -> float:
        """[s]"""
        return (self.frames - 1) / self.rate

    def resampled(self, rate: float) -> Clip:
        """The same motion with another number of frames per second."""
        count = int(np.floor(self.duration * rate + 1e-6)) + 1
        at = np.minimum(np.arange(count) * (self.rate / rate), self.frames - 1)
        frames = np.arange(self.frames)
        root = np.stack([np.interp(at, frames, self.root[:, k]) for k in range(3)], axis=1)
        nearest = np.rint(at).astype(int)
        contacts = {name: flags[nearest] for name, flags in self.contacts.items()}
        return Clip(self.name, rate, self.skeleton, root, rot.resampled(self.rotations, at), contacts)

    def cut(self, begin: int, end: int | None = None) -> Clip:
        """The frames from ``begin`` to before ``end``."""
        part = slice(begin, end)
        contacts = {name: flags[part] for name, flags in self.contacts.items()}
        return Clip(self.name, self.rate, self.skeleton, self.root[part], self.rotations[part], contacts)

    def pose(self) -> tuple[Array, Array]:
        """Places (F, k, 3) and orientations (F, k, 3, 3) of all joints in the world."""
        places, turned = np.empty((*self.rotations.shape[:2], 3)), np.empty_like(self.rotations)
        places[:, 0], turned[:, 0] = self.root, self.rotations[:, 0]
        for k, parent in enumerate(self.skeleton.parents):
            if parent >= 0:
                places[:, k] = places[:, parent] + turned[:, parent] @ self.skeleton.offsets[k]
                turned[:, k] = turned[:, parent] @ self.rotations[:, k]
        return places, turned
