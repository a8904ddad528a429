"""The report of a push: complete in itself, and its replay shows what the log tells."""

from __future__ import annotations

import re
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard
from mcap.reader import make_reader
from rosbags.typesys import Stores, get_typestore

from humanoid_balance.experiments import push
from humanoid_balance.figures import report
from humanoid_balance.figures.playback import Puppet
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer import recording
from humanoid_balance.viewer.stage import ROOT

sys.path.insert(0, str(Path(__file__).parents[1] / "viewer"))
from browser import BROWSER, DRIVER, MISSING, browser, errors


def messages(data: bytes) -> list[tuple[float, dict[str, Any]]]:
    """Time since the start and content of what a recording plays."""
    inner = zstandard.ZstdDecompressor().decompressobj().decompress(data[8:])
    (length,) = struct.unpack("<Q", inner[:8])
    return list(msgspec.msgpack.decode(inner[8 : 8 + length])["messages"])


def logged_base(file: Path) -> dict[float, np.ndarray]:
    """Time -> true position of the base."""
    store, found = get_typestore(Stores.ROS2_JAZZY), {}
    with file.open("rb") as stream:
        for _, _, message in make_reader(stream).iter_messages(topics=["/truth/base"]):
            pose: Any = store.deserialize_cdr(message.data, "geometry_msgs/msg/PoseStamped")
            place = pose.pose.position
            found[round(message.log_time * 1e-9, 4)] = np.array([place.x, place.y, place.z])
    return found


def test_the_replay_matches_the_log(tmp_path: Path) -> None:
    done = push.run(RunSettings(time=0.6), [PushProfile(150.0, 0.1, 0.0, 0.1)], log=tmp_path / "run.mcap")
    log = logged_base(tmp_path / "run.mcap")
    base = Puppet.of(done).model.body(1).id
    shown, rows = {}, recording.rows(done)
    for start, message in messages(recording.data(done)):
        if message.get("type") == "SetPositionMessage" and message["name"] == f"{ROOT}/body/{base}":
            shown[round(start * recording.RATE)] = np.array(message["position"])
    moved = 0.0
    for number, k in enumerate(rows):
        last = max(n for n in shown if n <= number)
        there = log[round(float(done.record["time"][k]), 4)]
        assert shown[last] == pytest.approx(there, abs=1e-4)
        moved = max(moved, float(np.linalg.norm(there - log[0.0])))
    assert moved > 0.005
    assert rows[-1] - rows[0] >= 0.9 * done.record.length


def test_the_players_slider_shows_the_time_of_the_run() -> None:
    """A push late in the run, too: the clock above the robot and the slider agree."""
    done = push.run(RunSettings(time=1.2), [PushProfile(80.0, 0.1, 0.0, 1.0)])
    clocks = [
        (start, float(message["updates"]["text"].split()[-2]))
        for start, message in messages(recording.data(done))
        if message.get("type") == "SceneNodeUpdateMessage" and "text" in message["updates"]
    ]
    assert len(clocks) > 20
    assert all(abs(start - clock) < 1.5 / recording.RATE for start, clock in clocks)


def test_a_report_is_one_file_that_asks_nobody(short_run: Callable[..., Run], tmp_path: Path) -> None:
    done = short_run()
    file = tmp_path / "push.html"
    report.save(done, recording.page(done), "humanoid-balance push --force 80 <now>", file, "a story")
    page = file.read_text(encoding="utf-8")
    outer = re.sub(r'srcdoc="[^"]*"', "", page)
    assert set(re.findall(r'(?:src|href)="(.{5})', outer)) == {"data:"}
    assert "humanoid-balance push --force 80 &lt;now&gt;" in outer and "a story" in outer
    for told in ("recovery time", "push impulse ratio", "friction", "mujoco", "stable"):
        assert told in outer
    assert file.stat().st_size < 4e6


@pytest.mark.skipif(BROWSER is None or DRIVER is None, reason=MISSING)
def test_a_report_opens_offline_and_its_slider_moves_the_robot(short_run: Callable[..., Run], tmp_path: Path) -> None:
    done = short_run()
    file = tmp_path / "push.html"
    report.save(done, recording.page(done), "humanoid-balance push", file)
    with browser(tmp_path / "profile", 900, 700) as page:
        page.get(file.as_uri())
        assert page.execute_script("return [...document.images].every(i => i.naturalWidth > 1000)")
        page.switch_to.frame(0)
        end = time.monotonic() + 60.0
        while not page.execute_script("return document.querySelector('[role=slider]') != null"):
            assert time.monotonic() < end, "the replay has not begun"
            time.sleep(0.2)
        asked = page.execute_script("return performance.getEntriesByType('resource').map(r => r.name)")
        assert [name for name in asked if not name.startswith(("blob:", "data:"))] == []
        value = "return document.querySelector('[role=slider]').getAttribute('aria-valuenow')"
        first = page.execute_script(value)
        while page.execute_script(value) == first:
            assert time.monotonic() < end, "the replay stands still"
            time.sleep(0.1)
        assert errors(page) == []
