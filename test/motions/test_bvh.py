"""BVH: any spelling of it is read, anything else is refused in one line."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from motions.person import ANATOMICAL, HEIGHT, Spelling, walk, write

from humanoid_balance.errors import InputError
from humanoid_balance.motions import bvh, rotations
from humanoid_balance.motions.subject import understood

SPELLINGS = {
    "plain": Spelling(),
    "XYZ": Spelling(order="XYZ"),
    "YZX": Spelling(order="YZX"),
    "centimetres": Spelling(unit=0.01),
    "inches": Spelling(unit=0.0254),
    "millimetres": Spelling(unit=0.001),
    "a unit of its own": Spelling(unit=0.4321),
    "A-pose": Spelling(arms=0.8),
    "other names": Spelling(names=ANATOMICAL, sides=("l", "r")),
    "names that say nothing": Spelling(
        names={k: f"{k[::-1]}{{}}" for k in ANATOMICAL}, sides=("0", "1")
    ),
    "z up": Spelling(up="Z"),
    "reference above the hips": Spelling(reference=True),
    "six channels everywhere": Spelling(all_positions=True),
    "calibration pose first": Spelling(calibration=True),
    "120 Hz": Spelling(rate=120.0),
}  # fmt: skip
HOSTILE = 240  # files; ten seeds are 24 kinds of damage each


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Wrists, elbows, knees and ankles of the plain spelling over time."""
    return points(write(tmp_path_factory.mktemp("plain"), walk(2.0)))


def points(file: Path) -> np.ndarray:
    subject = understood(bvh.load(file))
    chains = (*subject.parts.legs, *subject.parts.arms)
    scale = 0.83 / subject.leg
    found = np.stack([f(c) for c in chains for f in (subject.middle, subject.end)], axis=1)
    return scale * (found - found[:1].mean(axis=1, keepdims=True))


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_means_the_same_motion(spelling: Spelling, tmp_path: Path, plain: np.ndarray) -> None:
    found = points(write(tmp_path, walk(2.0, spelling)))
    step = round(spelling.rate / 30.0)
    assert np.abs(found[::step] - plain).max() < 2e-3  # the files have five digits


def test_lengths_are_metres_and_the_root_is_where_the_hips_are(tmp_path: Path) -> None:
    subject = understood(bvh.load(write(tmp_path, walk(2.0, Spelling(unit=0.01)))))
    assert subject.unit == "cm" and subject.leg == pytest.approx(0.83, abs=1e-5)
    ankles = np.stack([subject.end(leg)[:, 2] for leg in subject.parts.legs])
    assert ankles.min() == pytest.approx(0.07 - HEIGHT, abs=1e-3)
    assert subject.clip.root[-1, 0] == pytest.approx(1.5, abs=1e-3)  # 0.75 m/s for 2 s


def test_a_calibration_pose_is_left_out(tmp_path: Path) -> None:
    clip = bvh.load(write(tmp_path, walk(2.0, Spelling(calibration=True))))
    assert understood(clip).clip.frames == clip.frames - 1 == 61


def test_831_frames_of_38_joints_are_read_in_little_more_than_the_time_of_their_numbers(tmp_path: Path) -> None:
    """50 ms where a number takes 0.15 us; how fast a machine is says a yardstick that is timed beside it."""
    chain = "".join(f"JOINT j{k}\n{{\nOFFSET 0 0.1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n" for k in range(37))
    head = f"HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS 6 {CHANNELS}\n{chain}End Site\n{{\nOFFSET 0 1 0\n}}\n"
    values = np.random.default_rng(1).normal(size=(831, 6 + 3 * 37)) * 30
    rows = "\n".join(" ".join(f"{v:.4f}" for v in row) for row in values)
    file = write(tmp_path, f"{head}{'}' * 1}\n" + "}\n" * 37 + f"MOTION\nFrames: 831\nFrame Time: 0.0083333\n{rows}\n")
    pairs = [(_timed(lambda: _read(file)), _timed(lambda: list(map(float, rows.split())))) for _ in range(7)]
    reading, numbers = (min(times) for times in zip(*pairs, strict=True))
    assert reading < 2.5 * numbers


@pytest.mark.parametrize("axes", [*itertools.permutations(range(3)), (0, 1, 0), (2,), (1, 2)])
def test_rotations_are_applied_one_after_the_other(axes: tuple[int, ...]) -> None:
    angles = np.random.default_rng(2).normal(size=(5, 4, len(axes)))
    wanted = np.broadcast_to(np.eye(3), (5, 4, 3, 3))
    for k, axis in enumerate(axes):
        wanted = wanted @ rotations.about(axis, angles[..., k])
    np.testing.assert_allclose(rotations.euler(axes, angles), wanted, atol=1e-12)


CHANNELS = "Xposition Yposition Zposition Zrotation Xrotation Yrotation"


def _timed(work: Callable[[], object]) -> float:
    """CPU time [s]: the machine may be busy with other things."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _read(file: Path) -> None:
    assert bvh.load(file).rotations.shape == (831, 38, 3, 3)


ROOT = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\n"
BAD = {
    "empty": ("", "line 1"),
    "blank": ("\n \n", "HIERARCHY"),
    "binary": ("\x00\x01\x7f\x80", "line 1"),
    "not a BVH": ("solid cube\n", "line 1: 'solid'"),
    "no motion": (walk(0.1).split("MOTION")[0], "end of the file"),
    "one number too many": (walk(0.1).rstrip() + " 1.0\n", "52 numbers; allowed: 51"),
    "a line too few": (walk(0.1).rsplit("\n", 2)[0], "3 frames; allowed: 4"),
    "NaN": (walk(0.1).replace("0.86000", "nan", 1), "'nan'; allowed: finite"),
    "infinite": (walk(0.1).replace("0.86000", "1e999", 1), "'1e999'"),
    "words": (walk(0.1).replace("0.86000", "high", 1), "'high'"),
    "no frames": (walk(0.1).replace("Frames: 4", "Frames: 0"), "'Frames: 0'"),
    "frames beyond count": (walk(0.1).replace("Frames: 4", f"Frames: {'9' * 40}"), "Frames: and their number"),
    "frame time zero": (walk(0.1).replace("Frame Time: 0.0333333", "Frame Time: 0"), "Frame Time"),
    "negative frame time": (walk(0.1).replace("Frame Time: 0.0333333", "Frame Time: -0.03"), "Frame Time"),
    "two roots": (walk(0.1).replace("MOTION", "ROOT Other\n{\nOFFSET 0 0 0\n}\nMOTION"), "one body per file"),
    "unknown channel": (walk(0.1).replace("Zrotation", "Wrotation", 1), "channel 'Wrotation'"),
    "channel twice": (walk(0.1).replace("Zrotation", "Xrotation", 1), "twice"),
    "a million channels": (walk(0.1).replace("CHANNELS 3", "CHANNELS 1000000", 1), "line 9: 'CHANNELS 1000000"),
    "a million real channels": (f"{ROOT}CHANNELS 1000000 {'Xrotation ' * 10**6}\n", "twice"),
    "too many joints": (ROOT + "JOINT j\n{\nOFFSET 0 1 0\n" * 1001, "at most 1000 joints"),
    "offset of two numbers": (walk(0.1).replace("OFFSET 0.000000 0.000000 0.000000", "OFFSET 0 0", 1), "OFFSET x y z"),
    "brace missing": (walk(0.1).replace("{", "", 1), "allowed: {"),
    "no channels": ("HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n", "CHANNELS"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BAD.values(), ids=BAD)
def test_a_file_that_is_no_motion_is_refused_in_one_line(text: str, told: str, tmp_path: Path) -> None:
    file = write(tmp_path, text, "bad.bvh")
    with pytest.raises(InputError) as refused:
        bvh.load(file)
    line = str(refused.value)
    assert told in line and "bad.bvh: line " in line and "allowed: " in line
    assert len(line.splitlines()) == 1 and len(line) < 400


def test_one_frame_is_a_clip(tmp_path: Path) -> None:
    clip = bvh.load(write(tmp_path, walk(0.0)))
    assert clip.frames == 1 and clip.duration == 0.0
    assert understood(clip).leg == pytest.approx(0.83, abs=1e-5)


def damaged(text: str, dice: random.Random) -> bytes:
    """One to three accidents."""
    data = bytearray(text.encode())
    for _ in range(dice.randint(1, 3)):
        begin = dice.randrange(len(data))
        end = min(len(data), begin + dice.choice([1, 1, 4, 40, 400]))
        kind = dice.randrange(8)
        if kind == 0:
            del data[begin:]
        elif kind == 1:
            del data[begin:end]
        elif kind == 2:
            data[begin:end] = bytes(dice.randrange(256) for _ in range(end - begin))
        elif kind == 3:
            data[begin:begin] = data[begin:end]
        elif kind == 4:
            data[begin:begin] = dice.choice(
                [b" nan ", b" inf ", b" 1e400 ", b" -- ", b"{", b"}", b"\n", b" 7 ", b"\x00"]
            )
        elif kind == 5:
            words = data.split(b" ")
            dice.shuffle(words[: len(words) // 50])
            data = bytearray(b" ".join(words[dice.randrange(3) :]))
        elif kind == 6:
            lines = data.split(b"\n")
            k = dice.randrange(len(lines))
            lines[k : k + dice.randint(1, 3)] = [lines[dice.randrange(len(lines))]] * dice.randint(0, 3)
            data = bytearray(b"\n".join(lines))
        else:
            data = bytearray(
                data.replace(*dice.choice([(b"3", b"9"), (b"JOINT", b"ROOT"), (b"0.", b"."), (b"{", b"}")]), 2)
            )
        if not data:
            break
    return bytes(data)


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    dice, text, file = random.Random(24), walk(0.3), tmp_path / "damaged.bvh"
    read = 0
    for _ in range(HOSTILE):
        file.write_bytes(damaged(text, dice))
        try:
            clip = bvh.load(file)
        except InputError as error:
            assert str(error).startswith(f"{file}: line ") and "allowed: " in str(error), error
            assert str(error).isprintable() and len(str(error)) < 500
        else:
            read += 1
            assert clip.frames > 0 and np.isfinite(clip.rotations).all() and np.isfinite(clip.root).all()
            assert np.abs(np.linalg.det(clip.rotations) - 1.0).max() < 1e-9
    assert 0 < read < HOSTILE / 2  # some accidents do no harm
