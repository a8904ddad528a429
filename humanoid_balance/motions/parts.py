"""Which bone of an unknown skeleton is what: two legs, two arms, pelvis, chest and head.

The tree decides, names help: the two longest pairs of limbs that are mirror images are legs and arms. Names, which
every program has its own of, tell left from right, legs from arms and where a knee or an elbow is; without them lengths
and the toes do. A YAML may name any joint, see ``PLACES``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.motions.clip import Skeleton
from humanoid_balance.types import Array
from humanoid_balance.yaml_file import read

MIRRORED = 0.25  # by which share the lengths of the two limbs of a pair may differ; recorded bodies are not symmetric
LATER = (
    0.85  # the last joint between two bones this long, of the longest two, is the knee or elbow: collar bones are long
)
SIDES = ("left", "right")
LEFT_NAME = re.compile(r"left|(^|[^a-z])l([^a-z]|$)|(^|[^a-zA-Z])[lL](?=[A-Z])", re.IGNORECASE)
RIGHT_NAME = re.compile(r"right|(^|[^a-z])r([^a-z]|$)|(^|[^a-zA-Z])[rR](?=[A-Z])", re.IGNORECASE)
LEG_NAME = re.compile(r"leg|thigh|femur|knee|shin|calf|tibia|foot|ankle|toe|hip", re.IGNORECASE)
ARM_NAME = re.compile(r"arm|shoulder|humerus|elbow|radius|wrist|hand|clav|finger|collar", re.IGNORECASE)
KNEE_NAME = re.compile(r"knee|shin|calf|tibia|low(er)?_?-?leg|(left|right|^|[^a-z])[lr]?_?leg($|[^a-z])", re.IGNORECASE)
ELBOW_NAME = re.compile(r"elbow|fore_?-?arm|low(er)?_?-?arm|radius", re.IGNORECASE)

JOINTS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
PLACES = ("pelvis", "chest", "head", *(f"{side}_{joint}" for side in SIDES for joint in JOINTS))


@dataclass(frozen=True)
class BoneChain:
    """A limb by its joints: hip, knee and ankle, or shoulder, elbow and wrist; ``tip`` is in the last one's frame.

    An arm that ends in an End Site has no wrist: ``lower`` is its elbow then, and ``tip`` where the wrist would be.
    """

    upper: int
    middle: int
    lower: int
    tip: tuple[float, float, float]  # ball of the foot, or the hand; the file's axes


@dataclass(frozen=True)
class Parts:
    """Joints by number."""

    pelvis: int
    chest: int
    head: int | None
    legs: tuple[BoneChain, BoneChain]  # left, right
    arms: tuple[BoneChain, BoneChain] | None


@dataclass(frozen=True)
class _Pair:
    """Two limbs that hang from one joint, by their joints below it."""

    stem: int
    limbs: tuple[list[int], list[int]]
    length: float


def find(skeleton: Skeleton, name: str, mapping: Path | None = None) -> Parts:
    """``name`` stands in complaints; ``mapping``: a YAML of joints that are known better."""
    given = {} if mapping is None else _given(skeleton, mapping)
    pairs = _pairs(skeleton)[:2]
    if not pairs:
        raise InputError(f"{name}: no two legs found; allowed: a skeleton with two limbs that are mirror images")
    legs, arms = _told_apart(skeleton, pairs)
    left, right = _sided(skeleton, legs)
    leg_chains = tuple(
        _chain(skeleton, [legs.stem, *limb], KNEE_NAME, side, ("hip", "knee", "ankle"), given, name)
        for side, limb in zip(SIDES, (left, right), strict=True)
    )
    arm_chains, chest = None, given.get("chest", legs.stem)
    if arms is not None:
        limbs = _sided(skeleton, arms, (left, right))
        chest = given.get("chest", arms.stem)
        arm_chains = tuple(
            _chain(skeleton, [arms.stem, *limb], ELBOW_NAME, side, ("shoulder", "elbow", "wrist"), given, name)
            for side, limb in zip(SIDES, limbs, strict=True)
        )
    head = given.get("head", _head(skeleton, chest, arms))
    pelvis = given.get("pelvis", legs.stem)
    return Parts(pelvis, chest, head, leg_chains, arm_chains)  # type: ignore[arg-type]


def _given(skeleton: Skeleton, file: Path) -> dict[str, int]:
    reader, out = read(file), {}
    for place in PLACES:
        joint = reader.text(place, None)
        if joint is not None and joint not in skeleton.names:
            raise reader.bad(place, joint, f"joints of the clip: {', '.join(skeleton.names)}")
        if joint is not None:
            out[place] = skeleton.names.index(joint)
    reader.done(", ".join(PLACES))
    return out


# ---- pairs of limbs ----


def _pairs(skeleton: Skeleton) -> list[_Pair]:
    """The longest pair of mirrored limbs of every joint from which some hang, the longest first."""
    leaves = sorted(set(range(len(skeleton.names))) - set(skeleton.parents))
    chains = {leaf: skeleton.chain(leaf) for leaf in leaves}
    best: dict[int, _Pair] = {}
    for a, b in combinations(leaves, 2):
        shared = [i for i, j in zip(chains[a], chains[b], strict=False) if i == j]
        limbs = chains[a][len(shared) :], chains[b][len(shared) :]
        lengths = [_length(skeleton, limb) for limb in limbs]
        alike = len(limbs[0]) == len(limbs[1]) and min(lengths) > (1 - MIRRORED) * max(lengths)
        stem = shared[-1]
        if alike and len(limbs[0]) > 1 and (stem not in best or min(lengths) > best[stem].length):
            best[stem] = _Pair(stem, limbs, min(lengths))
    # A body whose arms and legs hang from one joint has its second pair there, too.
    out = sorted(best.values(), key=lambda pair: -pair.length)
    if len(out) == 1 or (len(out) > 1 and out[1].length < 0.4 * out[0].length):
        out = [out[0], *_second(skeleton, out[0], leaves, chains)]
    return out


def _second(skeleton: Skeleton, first: _Pair, leaves: list[int], chains: dict[int, list[int]]) -> list[_Pair]:
    taken = {limb[0] for limb in first.limbs}
    depth = len(skeleton.chain(first.stem))
    found = []
    for a, b in combinations(leaves, 2):
        limbs = chains[a][depth:], chains[b][depth:]
        if not limbs[0] or not limbs[1] or skeleton.chain(first.stem) != chains[a][:depth] != chains[b][:depth]:
            continue
        if limbs[0][0] == limbs[1][0] or {limbs[0][0], limbs[1][0]} & taken:
            continue
        lengths = [_length(skeleton, limb) for limb in limbs]
        if len(limbs[0]) == len(limbs[1]) > 1 and min(lengths) > (1 - MIRRORED) * max(lengths):
            found.append(_Pair(first.stem, limbs, min(lengths)))
    return sorted(found, key=lambda pair: -pair.length)[:1]


def _length(skeleton: Skeleton, limb: list[int]) -> float:
    return float(np.linalg.norm(skeleton.offsets[limb], axis=1).sum())


def _told_apart(skeleton: Skeleton, pairs: list[_Pair]) -> tuple[_Pair, _Pair | None]:
    """Legs, arms: by names, by who is nearer to the root, by length."""
    if len(pairs) == 1 or pairs[1].length < 0.4 * pairs[0].length:
        return pairs[0], None

    def rank(pair: _Pair) -> tuple[int, int, float]:
        names = [skeleton.names[k] for limb in pair.limbs for k in limb]
        votes = sum(bool(LEG_NAME.search(n)) for n in names) - sum(bool(ARM_NAME.search(n)) for n in names)
        return -votes, len(skeleton.chain(pair.stem)), -pair.length

    legs, arms = sorted(pairs[:2], key=rank)
    return legs, arms


def _sided(
    skeleton: Skeleton, pair: _Pair, legs: tuple[list[int], list[int]] | None = None
) -> tuple[list[int], list[int]]:
    """The left limb, then the right one: by names, otherwise as the legs are, and legs by where the toes point."""
    votes = []
    for limb in pair.limbs:
        names = [skeleton.names[k] for k in limb]
        votes.append(sum(bool(LEFT_NAME.search(n)) for n in names) - sum(bool(RIGHT_NAME.search(n)) for n in names))
    if votes[0] != votes[1]:
        return pair.limbs if votes[0] > votes[1] else pair.limbs[::-1]
    rest = skeleton.rest()
    ends = dict(skeleton.ends)
    tips = [rest[limb[-1]] + np.array(ends.get(limb[-1], (0.0, 0.0, 0.0))) for limb in pair.limbs]
    if legs is not None:
        left = rest[legs[0][-1]] - rest[legs[1][-1]]
        return pair.limbs if (tips[0] - tips[1]) @ left > 0.0 else pair.limbs[::-1]
    hips = rest[[limb[0] for limb in pair.limbs]]
    drop = np.mean(tips, axis=0) - hips.mean(axis=0)
    up = np.zeros(3)
    up[np.argmax(np.abs(drop))] = -np.sign(drop[np.argmax(np.abs(drop))])
    forward = drop - (drop @ up) * up
    left = np.cross(up, forward)
    return pair.limbs if (tips[0] - tips[1]) @ left > 0.0 else pair.limbs[::-1]


# ---- within a limb ----


def _chain(
    skeleton: Skeleton, joints: list[int], middle_name: re.Pattern[str], side: str, roles: tuple[str, str, str],
    given: dict[str, int], name: str,
) -> BoneChain:  # fmt: skip
    """``joints``: the limb, and the joint that it hangs from before it."""
    upper_role, middle_role, lower_role = (f"{side}_{role}" for role in roles)
    bones = np.linalg.norm(skeleton.offsets[joints[1:]], axis=1)  # bones[k] ends in joints[k + 1]
    tips = [place for joint, place in skeleton.ends if joint == joints[-1]]
    own = np.array(tips[0]) if tips else np.zeros(3)
    bones = np.append(bones, np.linalg.norm(own))
    long = bones > 0.1 * bones.max()  # others only turn or twist
    named = [k for k in range(1, len(joints)) if middle_name.search(skeleton.names[joints[k]])]
    if middle_role in given and given[middle_role] in joints:
        middle = joints.index(given[middle_role])
    elif named and long[named[0] - 1] and long[named[0] :].any():
        middle = named[0]
    else:
        sums = bones[:-1] + bones[1:]  # of the bones before and after each joint but the stem
        middle = 1 + int(np.flatnonzero(sums > LATER * sums.max())[-1])
    upper = max((k for k in range(1, middle) if long[k]), default=middle - 1)
    lower = min((k + 1 for k in range(middle, len(joints) - 1) if long[k]), default=len(joints))
    if lower == len(joints) and lower_role not in given and roles[2] == "ankle":
        raise InputError(
            f"{name}: no {lower_role} after '{skeleton.names[joints[middle]]}'; allowed: a leg with a foot"
        )
    lower_joint = joints[lower if lower < len(joints) else middle]
    tip = _tip(skeleton, joints, joints.index(lower_joint), own, long)
    return BoneChain(
        given.get(upper_role, joints[max(upper, 1)]), joints[middle], given.get(lower_role, lower_joint), tip
    )


def _tip(skeleton: Skeleton, joints: list[int], lower: int, own: Array, long: Array) -> tuple[float, float, float]:
    """The next place after a joint: the ball of the foot, the hand."""
    place = np.zeros(3)
    for k in range(lower + 1, len(joints)):
        place = place + skeleton.offsets[joints[k]]
        if long[k - 1]:
            return float(place[0]), float(place[1]), float(place[2])
    place = place + own
    return float(place[0]), float(place[1]), float(place[2])


def _head(skeleton: Skeleton, chest: int, arms: _Pair | None) -> int | None:
    """The last joint above the chest that belongs to no arm."""
    taken = {k for limb in (arms.limbs if arms else ()) for k in limb}
    above = [
        k for k in range(len(skeleton.names)) if chest in skeleton.chain(k)[:-1] and not taken & {*skeleton.chain(k)}
    ]
    return max(above, key=lambda k: len(skeleton.chain(k)), default=None)
