"""Fragments of a walk (specification A2): from one landing to the next, on one stance leg, and which follows which."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from humanoid_balance.errors import InputError
from humanoid_balance.motions.feedback import Leg
from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.motions.pose import Pose
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

SMOOTH = 0.03  # standard deviation of the filter over time [s]
SHORTEST = 0.2  # a support that follows the last landing sooner is a flicker of the detection, not a step [s]
BEFORE = 1.0  # the fragment on both legs begins so long before the first foot leaves the ground, if the clip does [s]
CALM = 0.3  # of the clip's speed: fragments that are slower are no part of a cycle
TURNED = 0.35  # a cycle that turns by less is meant to go straight [rad]


@dataclass(frozen=True, slots=True)
class ClipMoment:
    """A clip at a time: what the pose is and how the pelvis stands over the stance foot; axes of the clip."""

    pose: Pose
    distance: Array  # of the pelvis from the stance ankle (3,) [m]
    velocity: Array  # of the pelvis (3,) [m/s]
    feet: tuple[Array, Array]  # their orientations (3, 3)
    height: float  # of the swing ankle above the ground [m]
    rise: float  # [m/s]


class Fragment:
    """A part of a clip on one stance leg, left landing to right landing or the other way round, or on both."""

    def __init__(
        self, robot: Robot, legs: tuple[Leg, ...], q: Array, rate: float, stance: int, name: str, leaves: float
    ) -> None:
        """``leaves``: the share of it after which the swing foot is off the ground; 1 if it stands on both legs."""
        self.stance, self.name, self.rate, self.leaves = stance, name, rate, leaves
        self.both = leaves >= 1.0
        self.duration = (len(q) - 1) / rate
        model, data = robot.model, robot.model.createData()
        count = len(q)
        turned = np.array([pin.Quaternion(p[3:7]).matrix() for p in q])
        self._first = turned[0]
        turns = np.array([pin.log3(turned[0].T @ r) for r in turned])
        ankles, feet = np.empty((count, 2, 3)), np.empty((count, 2, 3, 3))
        for k, pose in enumerate(q):
            pin.framesForwardKinematics(model, data, pose)
            for side, leg in enumerate(legs):
                ankles[k, side] = data.oMi[leg.ankle_joint].translation
                feet[k, side] = data.oMi[int(leg.ankle_last)].rotation
        self._feet = feet[0]
        foot_turns = [np.array([pin.log3(feet[0, side].T @ r) for r in feet[:, side]]) for side in range(2)]
        columns = [q[:, :3], turns, q[:, 7:], q[:, :3] - ankles[:, stance], ankles[:, 1 - stance, 2:], *foot_turns]
        self._edges = np.cumsum([0, *(c.shape[1] for c in columns)])
        spline = CubicSpline(np.arange(count) / rate, np.hstack(columns), bc_type="natural")
        self._c = np.ascontiguousarray(np.moveaxis(spline.c, 1, 0))
        self.heading = [float(np.arctan2(r[1, 0], r[0, 0])) for r in (turned[0], turned[-1])]  # begin, end [rad]
        self.ends = q[0, 7:], q[-1, 7:]

    def at(self, time: float) -> tuple[ClipMoment, Array]:
        """The clip so long after the fragment's begin [s], and the joints' velocities (n,); its end after the end."""
        time = min(max(time, 0.0), self.duration)
        piece = min(int(time * self.rate), len(self._c) - 1)
        a, b, c, d = self._c[piece]
        u = time - piece / self.rate
        x, dx = ((a * u + b) * u + c) * u + d, (3 * a * u + 2 * b) * u + c
        e = self._edges
        root, turn, joints, distance, height, left, right = (x[e[k] : e[k + 1]] for k in range(7))
        pose = Pose(root, self._first.dot(pin.exp3(turn)), joints)
        feet = self._feet[0].dot(pin.exp3(left)), self._feet[1].dot(pin.exp3(right))
        return (
            ClipMoment(pose, distance, dx[e[0] : e[1]], feet, float(height[0]), float(dx[e[4]])),
            dx[e[2] : e[3]],
        )


class Walk:
    """A clip as fragments: a start from standing, steps, a cycle that is repeated, and a stop."""

    def __init__(self, clip: RobotClip, robot: Robot) -> None:
        clip.check(robot)
        limbs = RobotLimbs(robot)
        self.legs = tuple(Leg(limbs, side) for side in range(2))
        feet = [clip.contacts.get(f"{side}_foot") for side in ("left", "right")]
        if any(f is None for f in feet):
            raise InputError(f"clip '{clip.name}' says nothing of its feet; allowed: one with contacts of both")
        q = _smooth(clip)
        landed = landings([np.asarray(f) for f in feet], clip.rate)
        if len(landed) < 4:
            raise InputError(f"clip '{clip.name}' has {len(landed)} landings of alternating feet; allowed: 4 or more")
        self.fragments: list[Fragment] = []
        self.frames: list[tuple[int, int]] = []
        first, side = landed[0]
        down = np.flatnonzero(np.asarray(feet[side])[:first])
        lifted = int(down[-1]) + 1 if len(down) else 0
        begin = max(0, lifted - round(BEFORE * clip.rate))
        cuts = [(begin, 1 - side), (lifted, 1 - side), *landed]
        for k, ((a, stance), (b, _)) in enumerate(itertools.pairwise(cuts)):
            if b - a >= 3:
                down = np.flatnonzero(np.asarray(feet[1 - stance])[a:b])
                leaves = 1.0 if b == lifted else (int(down[-1]) + 1) / (b - a) if len(down) else 0.0
                self.fragments.append(
                    Fragment(robot, self.legs, q[a : b + 1], clip.rate, stance, f"{clip.name} {k}", leaves)
                )
                self.frames.append((a, b))
        self.loop = self._cycle(q, clip.rate)  # first and last fragment of the cycle

    def _cycle(self, q: Array, rate: float) -> tuple[int, int]:
        """The two steps after which the body is most nearly as before them, in posture and velocity."""
        speed = [float(np.linalg.norm((q[b] - q[a])[:2])) * rate / (b - a) for a, b in self.frames]
        usual = float(np.median(speed[1:]))
        best, where = np.inf, (1, 2)
        velocity = np.gradient(q[:, 7:], axis=0) * rate
        for k in range(1, len(self.frames) - 1):
            if min(speed[k], speed[k + 1]) < max(CALM, 0.7) * usual:
                continue
            a, b = self.frames[k][0], self.frames[k + 1][1]
            apart = np.abs(q[b, 7:] - q[a, 7:]).sum() + 0.1 * np.abs(velocity[b] - velocity[a]).sum()
            if apart < best:
                best, where = apart, (k, k + 1)
        return where

    def next(self, present: int) -> tuple[int, float]:
        """The fragment after this one, and by how much it is turned against it beyond the clip [rad]."""
        first, last = self.loop
        if present != last:
            return present + 1, 0.0
        turn = self.fragments[last].heading[1] - self.fragments[first].heading[0]
        turn = (turn + np.pi) % (2 * np.pi) - np.pi
        return first, float(turn) if abs(turn) > TURNED else 0.0


def landings(feet: list[Array], rate: float) -> list[tuple[int, int]]:
    """Frames at which feet come down, left and right in turns, and which foot (A2: cut at contact changes)."""
    found = sorted(
        (int(k) + 1, side) for side in range(2) for k in np.flatnonzero(np.diff(feet[side].astype(int)) == 1)
    )
    out: list[tuple[int, int]] = []
    for frame, side in found:
        if out and (out[-1][1] == side or frame - out[-1][0] < SHORTEST * rate):
            continue
        out.append((frame, side))
    return out


def _smooth(clip: RobotClip) -> Array:
    q = clip.q.copy()
    quaternions = q[:, 3:7]
    for k in range(1, len(q)):
        if quaternions[k] @ quaternions[k - 1] < 0.0:
            quaternions[k] *= -1.0
    q = gaussian_filter1d(q, SMOOTH * clip.rate, axis=0, mode="nearest")
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return np.asarray(q)
