"""A ROS graph for each test; without ROS 2 there is nothing to test here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: pip install -e .[ros]")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nodes.graph import Graph


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    made = Graph(tmp_path)
    yield made
    made.close()
