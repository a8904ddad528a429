"""From a recorded person to a robot: directions of bones, turns of pelvis and chest, steps scaled by the legs.

What counts are directions and places in the world, not angles of joints, so no mapping of axes is needed. A clip that
asks for more speed than the joints have is played slower until the standing soles stay.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.motions import feet as ground_contacts
from humanoid_balance.motions import fit
from humanoid_balance.motions.clip import Clip
from humanoid_balance.motions.feet import Touching, runs
from humanoid_balance.motions.foothold import relax
from humanoid_balance.motions.footing import Moves, SoleTrack, track
from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.motions.posing import Poser, PoseWish
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.motions.subject import Subject, understood
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

RATE = 30.0  # frames per second of a robot's clip; the thesis of Lee has as many
REACH = 0.985  # of a straight leg: hips come down where a foot would be farther away
FIRST, NEXT, MOST = 60, 2, 12  # iterations of the first frame; of the others, which begin near their goal
SLOWER = (1.3, 2.0, 3.0)  # times that a clip may take of its own
HELPS = 0.6  # of the slip must be left, or less, for a slower clip to be worth it
SLIP = 0.003  # above which it is tried slower [m]
SMOOTH = 0.15  # over which the hips come down [s]
ROUNDS = 3  # in which footholds are moved
REJOINED = 1e-3  # a pose so near to the one of the round before goes on as that did [m, rad]
INSIDE = 1e-3  # joints stay so far from their stops [rad]


def retarget(clip: Clip, robot: Robot, mapping: Path | None = None) -> RobotClip:
    """Fit a clip to a robot."""
    begin = time.perf_counter()
    limbs = RobotLimbs(robot)
    subject = understood(clip, mapping)
    if subject.parts.arms is None:
        raise InputError(f"{clip.name}: no two arms found; allowed: a skeleton with two legs and two arms")
    if subject.clip.rate > 4 / 3 * RATE:
        subject = subject.resampled(RATE)
    touching = ground_contacts.find(subject)
    rate = subject.clip.rate
    moves: tuple[Moves, Moves] = ({}, {})
    wishes, tracks = _wishes(subject, touching, limbs, moves)
    q = _poses(wishes, limbs, 1.0 / rate)
    found = fit.measure(q, wishes, tracks, limbs)
    for _ in range(ROUNDS):  # footholds that the legs cannot keep are moved
        if found["slip_max"] < SLIP:
            break
        loose = [relax(moves[side], side, q, wishes, tracks[side], limbs) for side in range(2)]
        if not any(loose):
            break
        before = wishes
        wishes, tracks = _wishes(subject, touching, limbs, moves)
        q = _poses(wishes, limbs, 1.0 / rate, q, before)
        found = fit.measure(q, wishes, tracks, limbs)
    slower = 1.0
    for more in SLOWER:
        if found["slip_max"] < SLIP:
            break
        slow = _poses(wishes, limbs, more / rate, q)
        other = fit.measure(slow, wishes, tracks, limbs)
        if other["slip_max"] > HELPS * found["slip_max"]:  # it is not the speed
            break
        slower, q, found = more, slow, other
    contacts = {name: flags.copy() for name, flags in touching.contacts.items()}
    report: dict[str, Any] = {
        "robot": robot.spec, "frames": len(q), "rate": rate / slower, "duration": (len(q) - 1) * slower / rate,
        **found, "contacts": {n: {"share": float(f.mean()), "count": len(runs(f))} for n, f in contacts.items()},
        "slower": slower, "scale": limbs.leg / subject.leg, "seconds": time.perf_counter() - begin,
    }  # fmt: skip
    return RobotClip(clip.name, robot.spec, robot.joint_names, rate / slower, q, contacts, report)


def _wishes(
    subject: Subject, touching: Touching, limbs: RobotLimbs, moves: tuple[Moves, Moves]
) -> tuple[list[PoseWish], tuple[SoleTrack, SoleTrack]]:
    robot, parts = limbs.robot, subject.parts
    scale = limbs.leg / subject.leg
    pelvis, chest = subject.turned[:, parts.pelvis], subject.turned[:, parts.chest]
    hips = [subject.places[:, leg.upper] for leg in parts.legs]
    middle = (hips[0] + hips[1]) / 2
    half = float(np.linalg.norm(hips[0] - hips[1], axis=1).mean()) / 2
    wider = abs(limbs.hip_places[0, 1] - limbs.hip_places[1, 1]) / 2 - scale * half
    across = pelvis[:, :2, 1] / np.maximum(np.linalg.norm(pelvis[:, :2, 1], axis=1, keepdims=True), 0.5)
    stand = _ankle_height(touching)
    above = limbs.ankle_places[:, 2].mean()
    tracks = []
    for side, (foot, sign) in enumerate(zip(touching.feet, (1.0, -1.0), strict=True)):
        ankle = scale * foot.ankle
        ankle[:, :2] += sign * wider * across
        ankle[:, 2] = above + scale * (foot.ankle[:, 2] - stand)
        place = limbs.ankle_places[side]
        tracks.append(track(foot, ankle, touching.ground, robot.soles[side], place, scale, moves[side]))
    goal = scale * middle
    goal[:, 2] = above + scale * (middle[:, 2] - stand)
    turned = pelvis @ limbs.base_rotation
    _within_reach(goal, turned, tracks, limbs, subject.clip.rate)
    torso = chest @ robot.torso_nominal
    bones = np.stack([b for arm in parts.arms or () for b in _directions(subject, arm)], axis=1)
    left, right = (t.support.tolist() for t in tracks)
    level = np.stack([t.level for t in tracks], axis=1)
    soles = np.stack([t.position for t in tracks], axis=1)
    rotations = np.stack([t.rotation for t in tracks], axis=1)
    wishes = [
        PoseWish(soles[k], rotations[k], (left[k], right[k]), level[k], goal[k], turned[k], torso[k], bones[k])
        for k in range(len(goal))
    ]
    return wishes, (tracks[0], tracks[1])


def _ankle_height(touching: Touching) -> float:
    """Of an ankle whose foot stands flat on the ground, the person's [m]."""
    heights = [f.ankle[f.heel_down & f.ball_down, 2] for f in touching.feet]
    heights = [h[h < touching.ground + ground_contacts.LOW] for h in heights]
    flat = np.concatenate(heights)
    return float(np.median(flat)) if len(flat) else touching.ground + max(f.ankle_height for f in touching.feet)


def _directions(subject: Subject, arm: Any) -> tuple[Array, Array]:
    """Of upper arm and forearm (F, 3)."""
    shoulder, elbow, wrist = subject.places[:, arm.upper], subject.middle(arm), subject.end(arm)
    out = []
    for way in (elbow - shoulder, wrist - elbow):
        out.append(way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9))
    return out[0], out[1]


def _within_reach(goal: Array, turned: Array, tracks: list[SoleTrack], limbs: RobotLimbs, rate: float) -> None:
    """Lower the hips where a leg would be too short."""
    longest = REACH * limbs.leg
    middle = limbs.hip_places.mean(axis=0)
    drop = np.zeros(len(goal))
    for side, sole in enumerate(tracks):
        hip = goal + turned @ (limbs.hip_places[side] - middle)
        ankle = sole.position + sole.rotation @ limbs.ankle_places[side]
        aside = np.linalg.norm((hip - ankle)[:, :2], axis=1)
        highest = np.sqrt(np.maximum(longest**2 - aside**2, 0.0))
        drop = np.maximum(drop, np.where(sole.support, (hip - ankle)[:, 2] - highest, 0.0))
    width = max(1, round(SMOOTH * rate))
    padded = np.pad(drop, width, mode="edge")
    most = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1).max(axis=1)
    padded = np.pad(most, width, mode="edge")
    window = np.hanning(2 * width + 3)[1:-1]
    goal[:, 2] -= np.convolve(padded, window / window.sum(), mode="valid")


def _poses(
    wishes: list[PoseWish], limbs: RobotLimbs, period: float, old: Array | None = None,
    old_wishes: Sequence[PoseWish] = (),
) -> Array:  # fmt: skip
    """All frames, begun from ``old`` ones; where neither wish nor frame before are others, the old pose is kept."""
    robot, poser = limbs.robot, Poser(limbs)
    lower, upper = robot.lower + INSIDE, robot.upper - INSIDE
    most = robot.velocity_limit * period
    out = np.empty((len(wishes), 7 + robot.n))
    if old is None:
        poser.q[:3], poser.q[3:7] = wishes[0].hips, pin.Quaternion(wishes[0].pelvis).coeffs()
        poser.ground = False
        poser.solve(wishes[0], lower, upper, FIRST, FIRST)
        poser.ground = True
        out[0] = poser.solve(wishes[0], lower, upper, FIRST, FIRST)
    else:
        poser.q = old[0].copy()
        out[0] = poser.solve(wishes[0], lower, upper, NEXT, MOST)
    for k, wish in enumerate(wishes[1:], start=1):
        last = out[k - 1, 7:]
        if old is not None and k < len(old_wishes) and wish.same(old_wishes[k]) and _follows(old, out, k, most):
            out[k] = poser.q = old[k].copy()
            continue
        out[k] = poser.solve(wish, np.maximum(lower, last - most), np.minimum(upper, last + most), NEXT, MOST)
    return out


def _follows(old: Array, new: Array, k: int, most: Array) -> bool:
    """The old pose of a frame can follow the new one of the frame before."""
    same = np.abs(new[k - 1] - old[k - 1]).max() < REJOINED
    return bool(same and (np.abs(old[k, 7:] - new[k - 1, 7:]) <= most).all())
