"""What touches the ground in a recorded motion: heels, balls, knees and hands, by height and speed. A clip that knows
when its heels and balls do (``left_heel``, ``left_ball``, …) is believed.

A recorded foot frame says nothing about its sole. That is flat where the foot stands, so its up direction is the mean
of the vertical over the frames in which ankle and ball are low and still.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_balance.motions.parts import SIDES, BoneChain
from humanoid_balance.motions.subject import LEG, Subject
from humanoid_balance.types import Array, Flags

# Of a person with 0.83 m of thigh and shank; feet of walking people move by over 1 m/s while they swing.
SLOW = 0.35  # of a point that rests on the ground [m/s]
NEAR = 0.05  # height of a heel or ball that rests, above where most do [m]
LIMB = 0.13  # the same of a knee or a wrist, whose joints lie inside [m]
LOW = 0.25  # feet lower than this, above the lowest, may stand [m]
TILTED = np.cos(np.radians(50.0))  # a foot that is more tilted does not stand
TURNING = 1.2  # a foot that turns faster about the vertical pivots and does not stand [rad/s]
RUNNING = 0.2  # feet that hardly come to rest: slower than this share of the body's speed counts as slow, too
STRIDE = 0.4  # over which the body's speed is measured [s]
WINDOW = 1 / 15  # over which speeds are measured: recordings have noise [s]
SHORTEST = 0.08  # a shorter contact, or gap between two, is noise [s]
HEEL = 0.3  # of the distance from ankle to ball: how far the heel is behind the ankle


@dataclass(frozen=True, eq=False)
class FootMotion:
    """One foot: its sole's frame, x to the toes and z up where it stands flat, and what of it rests."""

    sole: Array  # orientation (F, 3, 3)
    ankle: Array  # (F, 3) [m]
    ball: Array
    heel: Array
    ankle_height: float  # above the ball, flat [m]
    heel_down: Flags  # (F,)
    ball_down: Flags


@dataclass(frozen=True, eq=False)
class Touching:
    """Feet and the ground that they found."""

    feet: tuple[FootMotion, FootMotion]
    ground: float  # height of most resting balls and heels, in the subject's world [m]
    others: dict[str, Flags]  # hands and knees

    @property
    def contacts(self) -> dict[str, Flags]:
        """All that touches, by name."""
        soles = {f"{s}_foot": f.heel_down | f.ball_down for s, f in zip(SIDES, self.feet, strict=True)}
        return soles | self.others


def speed(points: Array, rate: float, window: float = WINDOW) -> Array:
    """Of points over time (F, 3) -> (F,) [m/s], over two frames at 30 Hz and as long at any rate."""
    frames, step = np.arange(len(points)), max(1, round(rate * window / 2))
    before, after = np.maximum(frames - step, 0), np.minimum(frames + step, len(points) - 1)
    way = np.linalg.norm(points[after] - points[before], axis=1)
    return np.asarray(way * rate / np.maximum(after - before, 1))


def steady(flags: Flags, rate: float, shortest: float = SHORTEST) -> Flags:
    """Short gaps closed, then short contacts taken out."""
    out, least = flags.copy(), round(shortest * rate)
    for value in (False, True):
        for begin, end in runs(out == value):
            if end - begin < least and begin > 0 and end < len(out):
                out[begin:end] = not value
    return out


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Begin and end of each stretch that is True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def find(subject: Subject) -> Touching:
    rate = subject.clip.rate
    scale = subject.leg / LEG
    balls = [subject.tip(leg) for leg in subject.parts.legs]
    ankles = [subject.end(leg) for leg in subject.parts.legs]
    lowest = min(float(np.percentile(p[:, 2], 2)) for p in balls)
    soles = [
        _flat(subject, leg, ankle, ball, lowest, rate, scale)
        for leg, ankle, ball in zip(subject.parts.legs, ankles, balls, strict=True)
    ]
    heels, heights = [], []
    for sole, ankle, ball in zip(soles, ankles, balls, strict=True):
        in_sole = sole[0].T @ (ball - ankle)[0]  # constant: the ball is part of the foot
        heights.append(float(-in_sole[2]))
        heels.append(ankle + sole @ np.array([-HEEL * in_sole[0], 0.0, in_sole[2]]))
    ground = _ground([*balls, *heels], rate, scale, lowest)
    hurry = _hurry(subject, rate, scale)
    feet: list[FootMotion] = []
    for sole, ankle, ball, heel, height in zip(soles, ankles, balls, heels, heights, strict=True):
        upright = (sole[:, 2, 2] > TILTED) & (_turning(sole, rate) < TURNING * hurry)
        down = [upright & _rests(p, rate, scale, hurry, _level(p, rate, scale, ground)) for p in (heel, ball)]
        known = [subject.clip.contacts.get(f"{SIDES[len(feet)]}_{end}") for end in ("heel", "ball")]
        flags = [steady(d, rate) if k is None else k for d, k in zip(down, known, strict=True)]
        feet.append(FootMotion(sole, ankle, ball, heel, height, *flags))
    return Touching((feet[0], feet[1]), ground, _limbs(subject, ground, rate, scale))


def _flat(
    subject: Subject, leg: BoneChain, ankle: Array, ball: Array, lowest: float, rate: float, scale: float
) -> Array:
    """The sole's frame over time: up as the foot has it while it stands, forward to the ball."""
    turned = subject.turned[:, leg.lower]
    vertical = turned[:, 2, :]  # the world's z in the foot's frame
    stands = (speed(ankle, rate) < SLOW * scale) & (speed(ball, rate) < SLOW * scale)
    stands &= (ball[:, 2] < lowest + LOW * scale) & (vertical[:, 2] > TILTED)
    up = vertical[stands].mean(axis=0) if stands.sum() >= 3 else np.array([0.0, 0.0, 1.0])
    up /= np.linalg.norm(up)
    forward = np.array(leg.tip) if np.linalg.norm(np.array(leg.tip)[:2]) > 1e-3 else np.array([1.0, 0.0, 0.0])
    forward = forward - (forward @ up) * up
    forward /= np.linalg.norm(forward)
    return np.asarray(turned @ np.stack([forward, np.cross(up, forward), up], axis=1))


def _ground(points: list[Array], rate: float, scale: float, lowest: float) -> float:
    """Where most of the resting points are."""
    heights = np.concatenate([p[speed(p, rate) < SLOW * scale / 2, 2] for p in points])
    heights = heights[heights < lowest + LOW * scale]
    return float(np.median(heights)) if len(heights) >= 3 else lowest


def _level(point: Array, rate: float, scale: float, ground: float) -> Array:
    """Height of the ground below a point over time: stairs and slopes are where it rests for long."""
    still = speed(point, rate) < SLOW * scale / 2
    level = np.full(len(point), ground)
    for begin, end in runs(steady(still, rate)):
        height = float(np.median(point[begin:end, 2]))
        if (end - begin) / rate >= 2 * SHORTEST and height - ground > NEAR * scale:
            level[max(begin - 2, 0) : end + 2] = height
    return level


def _turning(sole: Array, rate: float) -> Array:
    """How fast the heading of a foot changes (F,) [rad/s]; zero for a single frame."""
    heading = np.unwrap(np.arctan2(sole[:, 1, 0], sole[:, 0, 0]))
    return speed(np.stack([heading, 0 * heading, 0 * heading], axis=1), rate)


def _hurry(subject: Subject, rate: float, scale: float) -> Array:
    """How many times faster than usual a resting foot may be: 1 up to a fast walk, more in a run (F,)."""
    level = subject.places[:, subject.parts.pelvis] * (1.0, 1.0, 0.0)
    return np.maximum(1.0, RUNNING * speed(level, rate, STRIDE) / (SLOW * scale))


def _rests(point: Array, rate: float, scale: float, hurry: Array, level: Array) -> Flags:
    return np.asarray((speed(point, rate) < SLOW * scale * hurry) & (point[:, 2] - level < NEAR * scale))


def _limbs(subject: Subject, ground: float, rate: float, scale: float) -> dict[str, Flags]:
    """Knees and hands near the ground that do not move."""
    out = {}
    for part, chains in (("knee", subject.parts.legs), ("hand", subject.parts.arms or ())):
        for side, chain in zip(SIDES, chains, strict=False):
            point = subject.middle(chain) if part == "knee" else subject.end(chain)
            low = (speed(point, rate) < SLOW * scale) & (point[:, 2] - ground < LIMB * scale)
            out[f"{side}_{part}"] = steady(low, rate)
    return out
