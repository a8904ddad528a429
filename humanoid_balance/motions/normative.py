"""A normal person's walk, made from published joint angles and nobody's recording.

The angles are those that Perry gives for the events of the cycle ("Gait Analysis: Normal and Pathological Function",
1992), as are stance, cadence and the turns of pelvis and arms; each curve is the periodic spline through them, reduced
to its first six harmonics, of which a walk has no more (Winter, "Biomechanics and Motor Control of Human Movement").
Where the pelvis goes follows from the feet: the lowest point of both neither sinks nor slides.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import CubicSpline

from humanoid_balance.motions import rotations as rot
from humanoid_balance.motions.clip import Clip, Skeleton
from humanoid_balance.types import Array, Flags

CYCLE = 2 * 60 / 113  # [s] of two steps, 113 per minute
RATE = 30.0  # frames per second
HEEL_DOWN, BALL_DOWN = (0.0, 0.31), (0.12, 0.62)  # shares of the cycle in which they are on the ground
HARMONICS = 6
# Share of the cycle from heel strike: initial contact, loading response, mid and terminal stance, preswing, initial,
# mid and terminal swing, whose ends they are; then angles there [deg].
EVENTS = (0.0, 0.12, 0.31, 0.50, 0.62, 0.75, 0.87)
HIP = (20.0, 20.0, 0.0, -20.0, -10.0, 15.0, 25.0)  # flexion of the thigh against the vertical
KNEE = (5.0, 15.0, 5.0, 10.0, 40.0, 60.0, 25.0)  # flexion
ANKLE = (0.0, -5.0, 5.0, 10.0, -15.0, -5.0, 0.0)  # dorsiflexion
PELVIS_TURN, PELVIS_DROP, CHEST_TURN = 5.0, 4.0, 5.0  # to both sides [deg]
SHOULDER = (-24.0, 8.0)  # flexion at the heel strike of its own leg, and half a cycle later [deg]
ELBOW = (20.0, 45.0)  # flexion then [deg]
SWAY = 0.02  # of the pelvis to both sides, over the leg that stands [m]
# Lengths of a person of 1.70 m (Drillis and Contini, 1966) [m].
THIGH, SHANK, ANKLE_HEIGHT, TOE, HEEL = 0.417, 0.418, 0.066, 0.185, 0.055
HIP_HALF, SHOULDER_HALF, UPPER_ARM, FOREARM, HAND = 0.085, 0.20, 0.316, 0.248, 0.10
LOINS, CHEST, NECK = 0.187, 0.28, 0.10

JOINTS: tuple[tuple[str, str, tuple[float, float, float]], ...] = (
    ("hips", "", (0, 0, 0)),
    ("chest", "hips", (0, 0, LOINS)),
    ("head", "chest", (0, 0, CHEST + NECK)),
    *(
        joint
        for side, sign in (("left", 1.0), ("right", -1.0))
        for joint in (
            (f"{side}_hip", "hips", (0, sign * HIP_HALF, 0)),
            (f"{side}_knee", f"{side}_hip", (0, 0, -THIGH)),
            (f"{side}_ankle", f"{side}_knee", (0, 0, -SHANK)),
            (f"{side}_shoulder", "chest", (0, sign * SHOULDER_HALF, CHEST)),
            (f"{side}_elbow", f"{side}_shoulder", (0, 0, -UPPER_ARM)),
            (f"{side}_wrist", f"{side}_elbow", (0, 0, -FOREARM)),
        )
    ),
)


def skeleton() -> Skeleton:
    """Upright, arms hanging: x forward, y left, z up, metres."""
    names = [name for name, _, _ in JOINTS]
    parents = tuple(names.index(parent) if parent else -1 for _, parent, _ in JOINTS)
    ends = {"head": (0.0, 0.0, 0.2)}
    for side in ("left", "right"):
        ends |= {f"{side}_ankle": (TOE, 0.0, -ANKLE_HEIGHT), f"{side}_wrist": (0.0, 0.0, -HAND)}
    offsets = np.array([offset for _, _, offset in JOINTS], dtype=float)
    return Skeleton(tuple(names), parents, offsets, tuple((names.index(k), place) for k, place in ends.items()))


def harmonics(angles: tuple[float, ...]) -> Array:
    """Complex coefficients of exp(2 pi i k phase), k = 0 … HARMONICS, of a curve through angles at the events [rad]."""
    curve = CubicSpline((*EVENTS, 1.0), np.radians((*angles, angles[0])), bc_type="periodic")
    samples = curve(np.arange(128) / 128)
    return np.asarray(np.fft.rfft(samples)[: HARMONICS + 1] / 128 * np.where(np.arange(HARMONICS + 1), 2, 1))


def angle(coefficients: Array, phase: Array) -> Array:
    """The curve at phases in cycles (F,) [rad]."""
    return np.asarray((np.exp(2j * math.pi * np.outer(phase, np.arange(len(coefficients)))) @ coefficients).real)


def walk(strides: int = 4) -> Clip:
    """So many cycles, the left heel first."""
    body = skeleton()
    names = list(body.names)
    time = np.arange(round(strides * CYCLE * RATE) + 1) / RATE
    turned = np.tile(np.eye(3), (len(time), len(names), 1, 1))
    cycle = 2 * math.pi * time / CYCLE
    # At its heel strike the side of the pelvis is ahead, and the other one, about to swing, drops soon after.
    turn, drop = math.radians(PELVIS_TURN) * np.cos(cycle), math.radians(PELVIS_DROP) * np.sin(cycle)
    turned[:, 0] = rot.about(2, -turn) @ rot.about(0, drop)
    chest = math.radians(CHEST_TURN) * np.cos(cycle)
    turned[:, 1] = np.swapaxes(turned[:, 0], 1, 2) @ rot.about(2, chest)
    contacts = dict[str, Flags]()
    curves = [harmonics(angles) for angles in (HIP, KNEE, ANKLE)]
    for side, begin in (("left", 0.0), ("right", 0.5)):
        phase = time / CYCLE + begin
        hip, knee, ankle = (angle(curve, phase) for curve in curves)
        upright = np.swapaxes(turned[:, 0], 1, 2)  # angles of the thigh are against the vertical
        turned[:, names.index(f"{side}_hip")] = upright @ rot.about(1, -hip)
        turned[:, names.index(f"{side}_knee")] = rot.about(1, knee)
        turned[:, names.index(f"{side}_ankle")] = rot.about(1, -ankle)
        swing = (1 - np.cos(2 * math.pi * phase)) / 2  # 0 at heel strike, 1 half a cycle later
        shoulder, elbow = (np.radians(a + (b - a) * swing) for a, b in (SHOULDER, ELBOW))
        turned[:, names.index(f"{side}_shoulder")] = rot.about(1, -shoulder)
        turned[:, names.index(f"{side}_elbow")] = rot.about(1, -elbow)
        for end, (first, last) in (("heel", HEEL_DOWN), ("ball", BALL_DOWN)):
            contacts[f"{side}_{end}"] = (phase % 1.0 >= first) & (phase % 1.0 < last)
    root = np.stack([0 * time, SWAY * np.sin(cycle), 0 * time], axis=1)
    clip = Clip("normative walk", RATE, body, root, turned)
    return Clip(clip.name, RATE, body, root + _carried(clip), turned, contacts)


def _carried(clip: Clip) -> Array:
    """How the standing feet carry the root (F, 3): what is lowest stays on the ground; forward at its mean speed."""
    places, turned = clip.pose()
    names = clip.skeleton.names
    ends = np.array([[TOE, 0.0, -ANKLE_HEIGHT], [-HEEL, 0.0, -ANKLE_HEIGHT]])
    feet = []
    for side, begin in (("left", 0.0), ("right", 0.5)):
        k = names.index(f"{side}_ankle")
        points = places[:, k, None] + np.einsum("fij,pj->fpi", turned[:, k], ends)
        swings = (np.arange(clip.frames) / RATE / CYCLE + begin) % 1.0 > BALL_DOWN[1]
        points[swings, :, 2] = np.inf
        feet.append(points)
    points = np.concatenate(feet, axis=1)
    lowest = points[..., 2].argmin(axis=1)
    frames = np.arange(clip.frames - 1)
    back = points[frames + 1, lowest[:-1], 0] - points[frames, lowest[:-1], 0]
    out = np.zeros((clip.frames, 3))
    out[:, 0] = -back.mean() * np.arange(clip.frames)
    out[:, 2] = -points[..., 2].min(axis=1)
    return out
