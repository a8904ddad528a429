"""A long recording at full rate is complete: HUMANOID_BALANCE_MINUTES=10 makes it as long as in docs/results.md."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from mcap.reader import make_reader
from nodes.graph import Graph
from nodes.test_up import CLI
from std_msgs.msg import Bool

from humanoid_balance.nodes.qos import LATCHED

MINUTES = float(os.environ.get("HUMANOID_BALANCE_MINUTES", "1"))
FILE = 100  # size of one file of the rotation [MB]


@pytest.mark.slow
def test_minutes_at_1_khz_lose_nothing(graph: Graph, tmp_path: Path) -> None:
    """Simulator, estimator, controller and recorder on the same cores. How fast they are is not the question here."""
    ready = graph.listen(Bool, "recorder/ready", LATCHED)
    bag = tmp_path / "run.mcap"
    up = graph.run(CLI, "up", "--rate", "1000", "--record", str(bag), "--rotate", str(FILE))
    assert graph.wait(lambda: bool(ready), 120), up.text
    graph.spin(60.0 * MINUTES)
    assert up.end(signal.SIGINT, 120) == 0, up.text
    assert "none lost" in up.text, up.text

    frames, size, numbers = 0, 0, []
    for file in sorted(tmp_path.glob("run*.mcap"), key=lambda path: path.stat().st_mtime):
        size += file.stat().st_size
        with file.open("rb") as stream:
            reader = make_reader(stream)
            about = next(iter(reader.iter_metadata())).metadata
            numbers += [message.sequence for _, _, message in reader.iter_messages(topics=["/joint_states"])]
        assert about["lost"] == "0", about
    frames = len(numbers)
    assert numbers == list(range(1, frames + 1)), "from the first frame on, over all files, none is missing"
    print(f"\n{frames} frames in {MINUTES:g} min of the clock, {1e-6 * size:.0f} MB, {size / frames:.0f} B per frame")
    assert frames > 60e3 * MINUTES * 0.1, "the robot hardly ran"
