"""Where the soles of a robot go when it does what a recorded person does: standing ones stay, none is in the ground.

While heel or ball of the person rest, the sole has one place and heading. It rolls about its own front edge when the
heel is up and about its rear edge when the ball is, so the edge that touches does not move at all. Between two supports
the recorded path is followed, corrected by what the supports on both sides were corrected by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_balance.motions import rotations as rot
from humanoid_balance.motions.feet import NEAR, FootMotion, runs
from humanoid_balance.types import Array, Flags

STILL_FLAT = np.radians(4.0)  # a sole that is tilted by less is flat: recorded ankles are no better [rad]


@dataclass(frozen=True, eq=False)
class SoleTrack:
    """Wanted pose of a sole's frame over time."""

    position: Array  # (F, 3) [m]
    rotation: Array  # (F, 3, 3)
    support: Flags  # it stands: flat, or on its front or rear edge (F,)
    edge: Array  # x of the edge that it rolls about in the sole's frame, 0 where it is flat (F,) [m]
    level: Array  # height of the ground below (F,) [m]


Moves = dict[tuple[int, int], Array]  # supports by begin and end: x, y [m] and heading [rad] by which they are moved


def track(
    foot: FootMotion, ankle: Array, ground: float, corners: Array, ankle_place: Array, scale: float, moves: Moves
) -> SoleTrack:
    """``ankle``: where the robot's should be (F, 3); ``ankle_place``: it, in the sole's frame; ``scale``: lengths."""
    support = foot.heel_down | foot.ball_down
    raw = ankle - foot.sole @ ankle_place
    position, rotation = raw.copy(), foot.sole.copy()
    edge, level = np.zeros(len(raw)), np.zeros(len(raw))
    lowest = np.minimum(foot.heel[:, 2], foot.ball[:, 2])
    spans = runs(support)
    for begin, end in spans:
        part = slice(begin, end)
        flat = foot.heel_down[part] & foot.ball_down[part]
        flat = flat if flat.any() else np.ones(end - begin, dtype=bool)
        height = float(np.median(lowest[part][flat])) - ground
        level[part] = scale * height if abs(height) > NEAR else 0.0
        ahead = foot.sole[part, :2, 0][flat].mean(axis=0)
        heading = rot.about(2, np.array(np.arctan2(ahead[1], ahead[0])))
        place = np.append(ankle[part, :2][flat].mean(axis=0), level[begin])
        place[:2] -= (heading @ ankle_place)[:2]
        if (begin, end) in moves:
            x, y, turn = moves[begin, end]
            place[:2] += x, y
            heading = rot.about(2, np.array(turn)) @ heading
        pitch = _rolling(foot, part)
        edge[part] = np.where(pitch > 0, corners[:, 0].max(), np.where(pitch < 0, corners[:, 0].min(), 0.0))
        pivot = np.stack([edge[part], 0 * pitch, 0 * pitch], axis=1)
        rolled = rot.about(1, pitch)
        position[part] = place + (pivot - (rolled @ pivot[..., None])[..., 0]) @ heading.T
        rotation[part] = heading @ rolled
    _correct_between(position, rotation, level, raw, foot.sole, spans)
    corner_height = (rotation @ corners.T)[:, 2] + position[:, 2:]
    position[:, 2] += np.maximum(level - corner_height.min(axis=1), 0.0)
    return SoleTrack(position, rotation, support, edge, level)


def _rolling(foot: FootMotion, part: slice) -> Array:
    """Pitch of a standing sole: heel up is positive; zero while both ends rest [rad]."""
    pitch = -np.arcsin(np.clip(foot.sole[part, 2, 0], -1.0, 1.0))
    pitch = np.sign(pitch) * np.maximum(np.abs(pitch) - STILL_FLAT, 0.0)
    heel, ball = foot.heel_down[part], foot.ball_down[part]
    up, down = np.where(heel, 0.0, np.inf), np.where(ball, 0.0, np.inf)
    return np.clip(pitch, -down, up)


def _correct_between(
    position: Array, rotation: Array, level: Array, raw: Array, sole: Array, spans: list[tuple[int, int]]
) -> None:
    """What the supports were corrected by, from one to the next; before the first and after the last it stays."""
    if not spans:
        return
    keys = np.array([k for begin, end in spans for k in (begin, end - 1)])
    frames = np.arange(len(raw))
    free = np.ones(len(raw), dtype=bool)
    for begin, end in spans:
        free[begin:end] = False
    moved, turned = position[keys] - raw[keys], rot.log(rotation[keys] @ np.swapaxes(sole[keys], 1, 2))

    def between(values: Array) -> Array:
        return np.stack([np.interp(frames[free], keys, values[:, k]) for k in range(3)], axis=1)

    position[free] = raw[free] + between(moved)
    rotation[free] = rot.exp(between(turned)) @ sole[free]
    before = np.clip(np.searchsorted(keys, frames, side="right") - 1, 0, len(keys) - 1)
    after = np.clip(np.searchsorted(keys, frames), 0, len(keys) - 1)
    level[free] = np.minimum(level[keys[before]], level[keys[after]])[free]
