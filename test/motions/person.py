"""BVH files of a person who walks, in any spelling of the format: tests need no recordings of anybody."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

THIGH, SHANK, ANKLE = 0.42, 0.41, 0.07  # [m]
STRIDE, PERIOD, STANCE = 0.9, 1.2, 0.6  # of one foot [m, s, share]
LIFT, HEIGHT = 0.10, 0.86  # of a swinging foot, of the hips [m]
COMMON = {
    "hips": "Hips", "spine": "Spine", "chest": "Chest", "head": "Head", "hip": "{}UpLeg", "knee": "{}Leg",
    "ankle": "{}Foot", "shoulder": "{}Arm", "elbow": "{}ForeArm", "wrist": "{}Hand",
}  # fmt: skip
ANATOMICAL = {
    "hips": "pelvis", "spine": "lumbar", "chest": "thorax", "head": "skull", "hip": "{}_thigh", "knee": "{}_shin",
    "ankle": "{}_foot", "shoulder": "{}_upperarm", "elbow": "{}_lowerarm", "wrist": "{}_hand",
}  # fmt: skip


@dataclass(frozen=True)
class Spelling:
    """How a program writes the same motion."""

    order: str = "ZXY"  # of rotations
    unit: float = 1.0  # length of the file's unit [m]
    rate: float = 30.0
    names: dict[str, str] = field(default_factory=lambda: COMMON)
    sides: tuple[str, str] = ("Left", "Right")
    arms: float = 0.0  # how far the arms of the rest pose hang [rad]: 0 is a T-pose, 0.8 an A-pose
    up: str = "Y"
    reference: bool = False  # a root that stands still above the hips
    all_positions: bool = False  # every joint has six channels
    calibration: bool = False  # frame 0 is the rest pose


def walk(seconds: float = 4.0, spelling: Spelling | None = None, speed: float = 1.0) -> str:
    """The text of a BVH; ``speed`` 0 stands, with swinging arms."""
    s = spelling or Spelling()
    time = np.arange(round(seconds * s.rate) + 1) / s.rate
    bones, ends = _bones(s)
    turned = {key: np.tile(np.eye(3), (len(time), 1, 1)) for key in bones}
    hips = np.stack([speed * STRIDE / PERIOD * time, 0 * time, np.full(len(time), HEIGHT)], axis=1)
    for side, phase in (("l", 0.0), ("r", 0.5)):
        x, z = foot(time, phase, speed)
        down, ahead = hips[:, 2] - z - ANKLE, x - hips[:, 0]
        reach = np.hypot(ahead, down)
        knee = np.pi - np.arccos(np.clip((THIGH**2 + SHANK**2 - reach**2) / (2 * THIGH * SHANK), -1, 1))
        lean = np.arctan2(ahead, down) + np.arctan2(SHANK * np.sin(knee), THIGH + SHANK * np.cos(knee))
        swing = 0.4 * np.sin(2 * np.pi * (time / PERIOD + phase))
        for joint, angle in (("hip", -lean), ("knee", knee), ("ankle", lean - knee)):
            turned[f"{side}_{joint}"] = _about("y", angle)
        drop = (1 if side == "r" else -1) * (np.pi / 2 - s.arms)
        turned[f"{side}_shoulder"] = _about("y", swing) @ _about("x", np.full(len(time), drop))
        turned[f"{side}_elbow"] = _elbow(side, s.arms, 0.3 + 0 * time)
    return _text(s, bones, ends, hips, turned, time)


def foot(time: np.ndarray, phase: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Forward place and lift of an ankle that stands for 60 % of its cycle."""
    if speed == 0.0:
        return np.zeros_like(time), np.zeros_like(time)
    cycle = time / PERIOD + phase
    begun, share = np.floor(cycle), cycle % 1.0
    swing = np.clip((share - STANCE) / (1.0 - STANCE), 0.0, 1.0)
    smooth = swing**2 * (3 - 2 * swing)
    stride = speed * STRIDE
    return (begun - phase + smooth + STANCE / 2) * stride, LIFT * np.sin(np.pi * swing) ** 2


def _about(axis: str, angle: np.ndarray) -> np.ndarray:
    return Rotation.from_euler(axis, np.asarray(angle)[:, None]).as_matrix()


def _elbow(side: str, drop: float, bend: np.ndarray) -> np.ndarray:
    """Bends the forearm forward: about the axis across the upper arm, in the frame of a T-pose about z."""
    sign = 1.0 if side == "r" else -1.0
    rest = _about("x", np.array([sign * drop]))[0]
    return rest @ _about("z", sign * bend) @ rest.T


def _bones(s: Spelling) -> tuple[dict[str, tuple[str | None, tuple[float, ...]]], dict[str, tuple[float, ...]]]:
    bones: dict[str, tuple[str | None, tuple[float, ...]]] = {
        "hips": (None, (0, 0, 0)), "spine": ("hips", (0, 0, 0.12)), "chest": ("spine", (0, 0, 0.25)),
        "head": ("chest", (0, 0, 0.2)),
    }  # fmt: skip
    ends: dict[str, tuple[float, ...]] = {"head": (0, 0, 0.2)}
    for side, sign in (("l", 1.0), ("r", -1.0)):
        along = np.array([0, sign * np.cos(s.arms), -np.sin(s.arms)])
        bones |= {
            f"{side}_hip": ("hips", (0, sign * 0.09, 0)), f"{side}_knee": (f"{side}_hip", (0, 0, -THIGH)),
            f"{side}_ankle": (f"{side}_knee", (0, 0, -SHANK)), f"{side}_shoulder": ("chest", (0, sign * 0.17, 0.1)),
            f"{side}_elbow": (f"{side}_shoulder", tuple(0.28 * along)),
            f"{side}_wrist": (f"{side}_elbow", tuple(0.25 * along)),
        }  # fmt: skip
        ends |= {f"{side}_ankle": (0.14, 0, -ANKLE), f"{side}_wrist": tuple(0.09 * along)}
    return bones, ends


def _text(s: Spelling, bones: dict, ends: dict, hips: np.ndarray, turned: dict, time: np.ndarray) -> str:
    # The file's axes: x left, y up, z forward; or x left, y back, z up.
    axes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]] if s.up == "Y" else [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], float)
    rotations = " ".join(f"{a}rotation" for a in s.order)
    lines, columns, depth = ["HIERARCHY"], [], 0

    def put(text: str) -> None:
        lines.append("\t" * depth + text)

    def name(key: str) -> str:
        side, _, joint = key.rpartition("_")
        return s.names[joint].format(s.sides["lr".index(side)] if side else "")

    def write(key: str, parent: str | None, offset: tuple[float, ...]) -> None:
        nonlocal depth
        put(f"{'ROOT' if parent is None and not s.reference else 'JOINT'} {name(key)}")
        put("{")
        depth += 1
        place = axes @ np.array(offset, float) / s.unit
        put("OFFSET " + " ".join(f"{v:.6f}" for v in place))
        six = parent is None or s.all_positions
        put(f"CHANNELS {6 if six else 3} " + ("Xposition Yposition Zposition " if six else "") + rotations)
        if six:
            columns.append(hips @ axes.T / s.unit if parent is None else np.tile(place, (len(time), 1)))
        matrices = axes @ turned[key] @ axes.T
        with warnings.catch_warnings():  # any of the angles that mean a rotation will do
            warnings.simplefilter("ignore", UserWarning)
            columns.append(Rotation.from_matrix(matrices).as_euler(s.order, degrees=True))
        for child, (above, there) in bones.items():
            if above == key:
                write(child, key, there)
        if key in ends:
            tip = " ".join(f"{v:.6f}" for v in axes @ np.array(ends[key], float) / s.unit)
            put("End Site")
            put("{")
            put(f"\tOFFSET {tip}")
            put("}")
        depth -= 1
        put("}")

    if s.reference:
        lines += ["ROOT reference", "{", "OFFSET 0 0 0", f"CHANNELS 6 Xposition Yposition Zposition {rotations}"]
        columns.append(np.zeros((len(time), 6)))
    write("hips", None, (0, 0, 0))
    if s.reference:
        lines.append("}")
    values = np.concatenate(columns, axis=1)
    if s.calibration:
        values = np.concatenate([np.zeros((1, values.shape[1])), values])
    lines += ["MOTION", f"Frames: {len(values)}", f"Frame Time: {1 / s.rate:.7f}"]
    return "\n".join([*lines, *(" ".join(f"{v:.5f}" for v in row) for row in values)]) + "\n"


def write(folder: Path, text: str, name: str = "walk.bvh") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
