"""A clip as a picture and as a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from motions.person import walk, write

from humanoid_balance import cli


def test_a_clip_becomes_a_picture_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, clip = write(tmp_path, walk(0.2)), tmp_path / "walk.npz"
    assert cli.main(["motion", "import", str(file), "--robot", "g1", "-o", str(clip)]) == 0
    assert cli.main(["motion", "view", str(clip), "--plot", str(tmp_path / "strip.png")]) == 0
    assert capsys.readouterr().out.endswith(f"{tmp_path / 'walk.html'}\n")
    assert (tmp_path / "strip.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "walk.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html") and len(page) > 100_000
