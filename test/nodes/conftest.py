"""A ROS graph for each test; without ROS 2 there is nothing to test here."""

from __future__ import annotations

import os
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


@pytest.fixture
def prompt_graph(tmp_path: Path) -> Iterator[Graph]:
    """All processes before other work, where that is permitted: boards watch the clock, whatever else runs."""
    made = Graph(tmp_path, prompt=True)
    yield made
    made.close()


@pytest.fixture
def kills_wanted() -> int:
    """Of each test that kills processes; the environment variable KILLS sets another number."""
    return int(os.environ.get("KILLS", "100"))
