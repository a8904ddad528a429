"""The video of a run: a playable file, or one line that says why not and no file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from humanoid_balance.figures import playback as replay
from humanoid_balance.figures import video
from humanoid_balance.plants.pushes import PushProfile


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the frames."""
    monkeypatch.setattr(video, "AFTER", 0.1)
    monkeypatch.setattr(video, "RATE", 12)


@pytest.mark.usefixtures("brief")
def test_the_video_plays_and_the_robot_is_in_it(short_run: Callable[..., Any], tmp_path: Path) -> None:
    shares: list[float] = []
    told = video.save(short_run(), tmp_path / "a.mp4", shares.append)
    if told and "OpenGL" in told:
        pytest.skip(told)
    assert told is None
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    about = next(frames)
    assert about["size"] == (video.WIDTH, video.HEIGHT)
    assert about["codec"] == "h264" and about["pix_fmt"].startswith("yuv420p")
    pictures = [np.frombuffer(frame, np.uint8).reshape(video.HEIGHT, video.WIDTH, 3) for frame in frames]
    assert len(pictures) == len(shares) and shares[-1] == 1.0
    body = pictures[0][100:450, 380:600].astype(int)
    skin = (body[..., 0] > body[..., 2] + 15).mean()  # the human is brown before a blue sky and a grey ground
    assert skin > 0.1


@pytest.mark.usefixtures("brief")
def test_a_small_animation_for_a_readme(short_run: Callable[..., Any], tmp_path: Path) -> None:
    told = video.save(short_run(), tmp_path / "a.webp")
    if told and "OpenGL" in told:
        pytest.skip(told)
    assert told is None and (tmp_path / "a.webp").stat().st_size < 300_000
    with Image.open(tmp_path / "a.webp") as moving:
        assert moving.size == (video.WIDTH // 2, video.HEIGHT // 2) and getattr(moving, "n_frames", 1) >= 3


@pytest.mark.parametrize(("robot", "direction"), [("human", 0.0), ("talos", 90.0), ("g1", 180.0)])
def test_only_one_shape_of_each_link_is_seen(short_run: Callable[..., Any], robot: str, direction: float) -> None:
    puppet = replay.Puppet.of(short_run(robot, direction))
    collision = puppet.model.geom_contype | puppet.model.geom_conaffinity
    assert len(puppet.shapes) >= 10
    assert not collision[puppet.shapes].any()


def test_without_opengl_one_line_and_no_file(
    short_run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ImportError("libEGL.so.1:\ncannot open shared object file")

    monkeypatch.setattr(video, "_gl_context", broken)
    told = video.save(short_run(), tmp_path / "a.mp4")
    assert told is not None and "OpenGL" in told and "\n" not in told
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("brief")
def test_when_the_encoder_fails_one_line_and_no_file(
    short_run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        video._Film, "frames", lambda *_: iter([np.zeros((video.HEIGHT, video.WIDTH, 3), np.uint8)] * 3)
    )
    monkeypatch.setattr(video, "_Camera", lambda *_: type("Dark", (), {"close": lambda self: None})())
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", sys.executable)  # something that is no ffmpeg
    told = video.save(short_run(), tmp_path / "a.mp4")
    assert told is not None and "\n" not in told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("direction", "azimuth"), [(0.0, 115.0), (90.0, 155.0), (180.0, 115.0), (270.0, 155.0), (45.0, 135.0)]
)
def test_the_camera_looks_across_the_push_from_the_front_right(direction: float, azimuth: float) -> None:
    assert video._azimuth(PushProfile(1.0, 0.1, direction)) == pytest.approx(azimuth)
