"""The layout for Foxglove shows what logs and recordings really contain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from humanoid_balance.experiments import push
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

LAYOUT = json.loads((registry.config_folder() / "foxglove" / "balance.json").read_text())
LIVE = {"/balance/markers", "/diagnostics"}  # of running nodes only


def paths() -> list[str]:
    return [path["value"] for panel in LAYOUT["configById"].values() for path in panel.get("paths", ())]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The first message of each topic of a log."""
    file = tmp_path_factory.mktemp("log") / "push.mcap"
    push.run(RunSettings(robot="g1", time=0.3), [PushProfile(20.0, 0.1, 0.0, 0.1)], log=file)
    found: dict[str, Any] = {}
    with AnyReader([file], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        for connection, _, data in reader.messages():
            if connection.topic not in found:
                found[connection.topic] = reader.deserialize(data, connection.msgtype)
    return found


def panels(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    else:
        assert node["direction"] in ("row", "column") and 0 < node["splitPercentage"] < 100
        yield from panels(node["first"])
        yield from panels(node["second"])


def test_every_panel_has_a_place_and_every_place_a_panel() -> None:
    placed = list(panels(LAYOUT["layout"]))
    assert sorted(placed) == sorted(LAYOUT["configById"])
    assert all(re.fullmatch(r"(3D|Plot|StateTransitions|DiagnosticSummary)!\w+", name) for name in placed)


@pytest.mark.parametrize("path", paths())
def test_every_curve_is_a_number_or_a_word_of_a_log(path: str, first: dict[str, Any]) -> None:
    topic, *fields = path.split(".")
    value = reduce(getattr, fields, first[topic])
    assert isinstance(value, float | str)


def test_every_topic_in_the_view_is_in_a_log_or_live(first: dict[str, Any]) -> None:
    body = LAYOUT["configById"]["3D!body"]
    shown = {
        *body["topics"],
        body["layers"]["robot"]["topic"],
        LAYOUT["configById"]["DiagnosticSummary!nodes"]["topicToRender"],
    }
    assert shown <= {*first, *LIVE}
    assert shown >= LIVE


def test_live_topics_and_curves_are_what_the_recorder_records() -> None:
    recorder = pytest.importorskip("humanoid_balance.nodes.recorder")
    recorded = {f"/{topic.strip('/')}" for topic in (*recorder.TOPICS, *recorder.LATCHED_TOPICS)}
    assert recorded >= LIVE
    assert {path.split(".")[0] for path in paths()} - recorded == {"/solution/status"}  # of logs only


def test_the_page_names_a_file_that_is_there() -> None:
    page = (Path(__file__).parents[2] / "docs" / "foxglove.md").read_text()
    assert "config/foxglove/balance.json" in page
