"""BVH, the Biovision hierarchy: a tree of bones, then a line of numbers per frame.

Any order of channels and rotations is read. What the format leaves open is read as most programs write it: positions of
the root are absolute and its OFFSET does not count then; bones do not stretch, so positions of other joints matter only
where their OFFSET is zero, or where they carry the body below a root that is no part of it. A file is read or refused
in one line that names the file, the line and what is allowed.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.motions import rotations as rot
from humanoid_balance.motions.clip import Clip, Skeleton
from humanoid_balance.types import Array

MOST_JOINTS = 1000  # a body with all its fingers has 80
RATES = (1.0, 2000.0)  # frames per second that are a recording of motion
LARGEST = 1e6  # numbers beyond are not places or angles, whatever their unit
AXES = "XYZ"
KINDS = ("POSITION", "ROTATION")


@dataclass
class _Bone:
    name: str
    parent: int
    line: int
    offset: tuple[float, float, float] | None = None
    channels: list[tuple[str, int]] | None = None  # kind and axis, in the order of the file
    first: int = 0  # column of the first


@dataclass
class _Tree:
    bones: list[_Bone] = field(default_factory=list)
    ends: list[tuple[int, tuple[float, float, float]]] = field(default_factory=list)
    width: int = 0  # numbers per frame


class _Lines:
    """The words of a text with their line numbers."""

    def __init__(self, file: Path, text: str) -> None:
        self.file, self.lines = file, text.splitlines()
        self.at = -1

    def next(self) -> list[str]:
        """Words of the next line that has any."""
        while self.at + 1 < len(self.lines):
            self.at += 1
            words = self.lines[self.at].split()
            if words:
                return words
        self.at = len(self.lines)
        raise self.bad("the end of the file", "the rest of a BVH: HIERARCHY, MOTION, Frames, Frame Time, frames")

    def bad(self, found: str, allowed: str, line: int | None = None) -> InputError:
        number = min((self.at if line is None else line) + 1, max(len(self.lines), 1))
        return InputError(f"{self.file}: line {number}: {_short(found)}; allowed: {allowed}")

    def number(self, word: str, allowed: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not abs(value) <= LARGEST:
            raise self.bad(f"'{word}'", allowed)
        return value


def _short(text: str) -> str:
    """One printable line."""
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean if len(clean) <= 60 else clean[:57] + "..."


def load(file: Path) -> Clip:
    """The clip of a file, in its axes and unit; angles in radians."""
    try:
        text = file.read_bytes().decode("utf-8-sig", errors="replace")
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    lines = _Lines(file, text)
    words = lines.next()
    if words[0].upper() != "HIERARCHY":
        raise lines.bad(f"'{words[0]}'", "HIERARCHY, with which a BVH begins")
    tree = _hierarchy(lines)
    count, rate = _header(lines)
    return _clip(file.stem, rate, tree, _numbers(lines, count, tree.width))


def _hierarchy(lines: _Lines) -> _Tree:
    """All up to MOTION. ``open`` are the bones, or None for End Sites, whose braces are open."""
    tree, opened = _Tree(), list[int | None]()
    while True:
        words = lines.next()
        word = words[0].upper()
        here = opened[-1] if opened else None
        if word == "MOTION" and not opened:
            if not tree.bones:
                raise lines.bad("MOTION", "ROOT before it")
            return tree
        if word == "}" and opened:
            _closed(lines, tree, here)
            opened.pop()
        elif word == "ROOT" and not tree.bones:
            opened.append(_open(lines, tree, words, -1))
        elif word == "JOINT" and here is not None:
            opened.append(_open(lines, tree, words, here))
        elif word == "END" and here is not None:
            _brace(lines, words)
            tree.ends.append((here, (math.nan,) * 3))
            opened.append(None)
        elif word == "OFFSET" and opened:
            _offset(lines, tree, here, words)
        elif word == "CHANNELS" and here is not None:
            _channels(lines, tree, tree.bones[here], words)
        elif word == "ROOT":
            raise lines.bad("a second ROOT", "one body per file")
        else:
            known = "OFFSET, CHANNELS, JOINT, End Site, }" if opened else "ROOT once, then MOTION"
            raise lines.bad(f"'{words[0]}'", known)


def _open(lines: _Lines, tree: _Tree, words: list[str], parent: int) -> int:
    if len(tree.bones) == MOST_JOINTS:
        raise lines.bad(f"joint number {MOST_JOINTS + 1}", f"at most {MOST_JOINTS} joints")
    name = " ".join(w for w in words[1:] if w != "{") or f"joint{len(tree.bones)}"
    line = lines.at
    _brace(lines, words)
    tree.bones.append(_Bone(name, parent, line))
    return len(tree.bones) - 1


def _brace(lines: _Lines, words: list[str]) -> None:
    """The opening brace, at the end of the line or alone on the next."""
    if words[-1] == "{":
        return
    found = lines.next()
    if found != ["{"]:
        raise lines.bad(f"'{' '.join(found)}'", "{")


def _closed(lines: _Lines, tree: _Tree, here: int | None) -> None:
    if here is None:
        if math.isnan(tree.ends[-1][1][0]):
            raise lines.bad("an End Site without OFFSET", "OFFSET x y z")
    elif tree.bones[here].offset is None:
        raise lines.bad(f"joint '{tree.bones[here].name}' without OFFSET", "OFFSET x y z")


def _offset(lines: _Lines, tree: _Tree, here: int | None, words: list[str]) -> None:
    if len(words) != 4:
        raise lines.bad(f"OFFSET with {len(words) - 1} numbers", "OFFSET x y z")
    x, y, z = (lines.number(word, "OFFSET and three finite numbers") for word in words[1:])
    if here is None:
        tree.ends[-1] = (tree.ends[-1][0], (x, y, z))
    elif tree.bones[here].offset is not None:
        raise lines.bad("a second OFFSET", "one for each joint")
    else:
        tree.bones[here].offset = (x, y, z)


def _channels(lines: _Lines, tree: _Tree, bone: _Bone, words: list[str]) -> None:
    names = words[2:]
    allowed = "CHANNELS, their number and as many of Xposition Yposition Zposition Xrotation Yrotation Zrotation"
    if bone.channels is not None:
        raise lines.bad("a second line CHANNELS", "one for each joint")
    if len(words) < 2 or not words[1].isdecimal() or len(words[1]) > 9 or int(words[1]) != len(names):
        raise lines.bad(f"'{' '.join(words[:3])}' and {len(names)} names", allowed)
    found = []
    for name in names:
        upper = name.upper()
        if len(upper) != 9 or upper[0] not in AXES or upper[1:] not in KINDS:
            raise lines.bad(f"channel '{name}'", allowed)
        found.append((upper[1:], AXES.index(upper[0])))
    if len(set(found)) < len(found):
        raise lines.bad("a channel that is there twice", allowed)
    bone.channels, bone.first = found, tree.width
    tree.width += len(found)


def _header(lines: _Lines) -> tuple[int, float]:
    """Number of frames and frames per second."""
    words = lines.next()
    count = words[-1]
    if words[0].upper().rstrip(":") != "FRAMES" or not count.isdecimal() or len(count) > 9 or not int(count):
        raise lines.bad(f"'{' '.join(words)}'", "Frames: and their number, 1 or more")
    words = lines.next()
    low, high = RATES
    allowed = f"Frame Time: and {1 / high:g} to {1 / low:g} seconds"
    if len(words) < 3 or [w.upper().rstrip(":") for w in words[:2]] != ["FRAME", "TIME"]:
        raise lines.bad(f"'{' '.join(words)}'", allowed)
    period = lines.number(words[-1], allowed)
    if not 1 / high <= period <= 1 / low:
        raise lines.bad(f"'{words[-1]}'", allowed)
    return int(count), _nominal(1.0 / period)


def _nominal(rate: float) -> float:
    """Files round the frame time: 0.033333 s means 30 frames per second."""
    whole = round(rate)
    return float(whole) if abs(rate - whole) < 1e-3 * rate else rate


def _numbers(lines: _Lines, count: int, width: int) -> Array:
    """The frames (count, width); the fast way first, then a look for what is wrong."""
    if width == 0:
        raise lines.bad("a body without channels", "at least one line CHANNELS")
    begin = lines.at + 1
    with warnings.catch_warnings():  # it stops at what is not a number and warns; the count tells
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            values = np.fromstring(" ".join(lines.lines[begin:]), sep=" ")
        except ValueError:
            values = np.zeros(0)
    if len(values) == count * width and np.abs(values).max() <= LARGEST:  # NaN is not
        return values.reshape(count, width)
    found = 0
    for at in range(begin, len(lines.lines)):
        words = lines.lines[at].split()
        if not words:
            continue
        lines.at, found = at, found + 1
        for word in words:
            lines.number(word, f"finite numbers up to {LARGEST:g}")
        if len(words) != width:
            raise lines.bad(f"{len(words)} numbers", f"{width}, one for each channel")
    lines.at = len(lines.lines)
    raise lines.bad(f"{found} frames", f"{count}, as 'Frames:' says")


def _clip(name: str, rate: float, tree: _Tree, values: Array) -> Clip:
    bones, count = tree.bones, len(values)
    turned = np.empty((count, len(bones), 3, 3))
    for axes, members in _by_order(bones).items():
        columns = [[b.first + (b.channels or []).index(("ROTATION", a)) for a in axes] for b in members.values()]
        index = np.array(columns, dtype=int).reshape(len(members), len(axes))
        turned[:, list(members)] = rot.euler(axes, np.radians(values[:, index]))
    offsets = np.array([bone.offset for bone in bones], dtype=float)
    moved = {k: place for k, bone in enumerate(bones) if (place := _positions(bone, values)) is not None}
    first, root = _body(bones, offsets, turned, moved)
    for k, places in moved.items():
        if k > first and not offsets[k].any():
            offsets[k] = np.median(places, axis=0)
    offsets[first] = 0.0
    skeleton = Skeleton(
        tuple(bone.name for bone in bones[first:]),
        tuple(max(bone.parent - first, -1) for bone in bones[first:]),
        offsets[first:],
        tuple((joint - first, place) for joint, place in tree.ends if joint >= first),
    )
    return Clip(name, rate, skeleton, root, turned[:, first:])


def _by_order(bones: list[_Bone]) -> dict[tuple[int, ...], dict[int, _Bone]]:
    """Bones by the order of their rotations."""
    out: dict[tuple[int, ...], dict[int, _Bone]] = {}
    for k, bone in enumerate(bones):
        axes = tuple(axis for kind, axis in bone.channels or [] if kind == "ROTATION")
        out.setdefault(axes, {})[k] = bone
    return out


def _positions(bone: _Bone, values: Array) -> Array | None:
    """What its position channels say, its OFFSET where one is missing (F, 3); None without any."""
    columns = {a: bone.first + k for k, (kind, a) in enumerate(bone.channels or []) if kind == "POSITION"}
    if not columns:
        return None
    out = np.tile(np.array(bone.offset, dtype=float), (len(values), 1))
    for axis, column in columns.items():
        out[:, axis] = values[:, column]
    return out


def _body(bones: list[_Bone], offsets: Array, turned: Array, moved: dict[int, Array]) -> tuple[int, Array]:
    """Where the body begins, and the place of that joint (F, 3); ``turned`` there becomes the world's.

    Some programs write the hips as the only child of a root that stands still: a child that moves on its own.
    """
    first = 0
    root = moved.get(0, np.tile(offsets[0], (len(turned), 1)))
    while first + 1 in moved and [b.parent for b in bones].count(first) == 1 and np.ptp(moved[first + 1], axis=0).any():
        root = root + (turned[:, first] @ moved[first + 1][..., None])[..., 0]
        turned[:, first + 1] = turned[:, first] @ turned[:, first + 1]
        first += 1
    return first, root
