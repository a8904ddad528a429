"""Synchronisation by contact (specification A5): the reference is as far in its step as the body.

Early landing: what is left of a fragment is dropped, and the next one is warped to begin where the target is,

    M(t) = M'(t) (x) (P^ (/) M'(0))^r(t)

with r = 1 - s over the whole fragment, but for the stance ankle over its first fifth, which ends where the foot is to
the ground as in the clip. Late landing: joints go on at their last velocity, but for the stance leg, which keeps its
angles.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.motions.fragments import ClipMoment, Fragment, Walk
from humanoid_balance.motions.pose import Pose, ease
from humanoid_balance.types import Array

ANKLE = 0.2  # of a fragment, in which the stance foot comes to the ground as in the clip
EARLIEST = 0.7  # of a fragment from which on a touch of the swing foot is its landing
LAST = 0.1  # velocity of the extension is the mean over this time [s]: three frames
LONGEST = 0.6  # the extension goes on no longer than this [s]; then the pose is held


class Synchronised:
    """The reference M of a walk. ``update`` once per tick; ``pose`` is what to modulate then."""

    def __init__(self, walk: Walk, stamp: float, heading: float, begin: Pose, synchronise: bool = True) -> None:
        """From the joints ``begin``, whose root is turned as the body is; heading of the feet [rad]."""
        self.walk, self.synchronise = walk, synchronise
        self.present, self.steps = 0, 0
        self.fragment: Fragment = walk.fragments[0]
        self.yaw = heading - self.fragment.heading[0]
        self._start(stamp, begin)

    @property
    def stance(self) -> int:
        return self.fragment.stance

    def phase(self, stamp: float) -> float:
        """Share of the fragment that is over; beyond 1 it is extended."""
        return (stamp - self.began) / self.fragment.duration

    def late(self, stamp: float) -> bool:
        return self.phase(stamp) > 1.0

    def update(self, stamp: float, touching: bool, target: Array, pelvis: Array, of: float | None = None) -> bool:
        """Whether the next fragment begins now: ``touching`` is the swing foot, ``target`` the joints of P^ (n,) and
        ``pelvis`` the orientation of the reference's root (3, 3). Both are of the time ``of`` [s], from which the
        fragment runs: begun now, the target would stand still for as long as that is past.
        """
        phase, both = self.phase(stamp), self.fragment.both
        due = phase >= EARLIEST and touching if self.synchronise and not both else phase >= 1.0
        if not due:
            return False
        self.present, turn = self.walk.next(self.present)
        self.yaw += turn
        self.fragment = self.walk.fragments[self.present]
        self.steps += not both
        self._start(stamp if of is None else of, Pose(np.zeros(3), pelvis, target))
        return True

    def _start(self, stamp: float, begin: Pose) -> None:
        self.began = stamp
        first = self._turned(self.fragment.at(0.0)[0]).pose
        self.displacement = Pose(first.position, begin.rotation, begin.joints) / first  # P^ (/) M'(0)

    def _turned(self, sample: ClipMoment) -> ClipMoment:
        """Rigidly attached: the clip turned about the vertical to where the walk goes."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pose = Pose(R.dot(sample.pose.position), R.dot(sample.pose.rotation), sample.pose.joints)
        return ClipMoment(
            pose, R.dot(sample.distance), R.dot(sample.velocity), (R.dot(sample.feet[0]), R.dot(sample.feet[1])),
            sample.height, sample.rise,
        )  # fmt: skip

    def sample(self, stamp: float) -> ClipMoment:
        """The clip as it is, attached."""
        return self._turned(self.fragment.at(stamp - self.began)[0])

    def at(self, stamp: float) -> tuple[Pose, ClipMoment]:
        """The warped or extended reference, and the clip as it is, attached."""
        fragment, age = self.fragment, stamp - self.began
        sample = self._turned(fragment.at(age)[0])
        phase = age / fragment.duration
        r = 1.0 - ease(phase)
        pose = sample.pose @ self.displacement**r
        joints = pose.joints
        # The stance ankle: from where it was to where the foot is to the ground as in the clip.
        s = ease(phase, 0.0, ANKLE)
        for side, leg in enumerate(self.walk.legs):
            if side == self.stance or fragment.both:
                shank = pose.rotation.dot(leg.hip.rotation(joints)).dot(leg.knee.rotation(joints))
                flat = leg.ankle.angles(shank.T.dot(sample.feet[side]), joints)
                joints[leg.ankle.index] += s * (flat - joints[leg.ankle.index])
        over = min(age - fragment.duration, LONGEST)
        if over > 0.0:
            before = fragment.at(fragment.duration - LAST)[0].pose.joints
            velocity = (sample.pose.joints - before) / LAST
            velocity[self.walk.legs[self.stance].index] = 0.0
            joints += over * velocity
        return Pose(pose.position, pose.rotation, joints), sample
