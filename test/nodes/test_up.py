"""``humanoid-balance up`` and ``replay``: a push experiment, recorded, and run again from the record."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcap.reader import make_reader
from nodes.graph import ROOT, Graph

CLI = "humanoid_balance.cli"
PUSHES = """
rest: 1.0
pushes:
  - {force: 250, duration: 0.1, direction: 180}
  - {force: 100, duration: 0.25, direction: 90, profile: half-sine}
"""


def replay(graph: Graph, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", CLI, "replay", *arguments]
    return subprocess.run(command, env=graph.environment, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_pushes_from_a_list_are_played_recorded_and_replayed(graph: Graph, tmp_path: Path) -> None:
    """The whole way: nodes without a launch system, a row for each push, a bag whose replay gives the same torques."""
    pushes, rows, bag = tmp_path / "pushes.yaml", tmp_path / "rows.csv", tmp_path / "run.mcap"
    pushes.write_text(PUSHES)
    up = graph.run(
        CLI, "up", "--robot", "human:mass=75", "--namespace", "lab", "--record", str(bag), "--pushes", str(pushes),
        "--csv", str(rows),
    )  # fmt: skip
    assert up.popen.wait(240) == 0, up.text
    assert "Traceback" not in up.text

    with rows.open() as file:
        told = list(csv.DictReader(file))
    assert [row["direction"] for row in told] == ["180", "90"]
    for row in told:
        assert row["fell"] == "False" and row["modes"].startswith("stable")
        assert float(row["dv"]) == pytest.approx(float(row["impulse"]) / 75.0, rel=1e-3)
        assert float(row["com_moved"]) > 0.005

    with bag.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None and summary.statistics is not None
    counts = {c.topic: summary.statistics.channel_message_counts.get(i, 0) for i, c in summary.channels.items()}
    # On a busy machine the nodes may find each other seconds late, and samples are lost.
    assert counts["/lab/joint_states"] > 200 and counts["/diagnostics"] > 5 and counts["/lab/balance/mode"] >= 1
    schemas = {schema.name for schema in summary.schemas.values()}
    assert schemas >= {"sensor_msgs/msg/JointState", "diagnostic_msgs/msg/DiagnosticArray"}

    done = replay(graph, str(bag), "--robot", "human:mass=75", "--namespace", "lab", "--rate", "1000", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["frames"] > 200 and figures["compared"] > 200
    if figures["begins"] == 0.0 and figures["frames"] == round(1000 * figures["seconds"]) + 1:
        # Where samples are missing the estimator cannot know the same.
        assert figures["torque_max"] < 1e-9 and figures["com_rms"] < 1e-9


def test_replay_of_a_complete_log_gives_the_same_states_and_torques(graph: Graph, tmp_path: Path) -> None:
    log = tmp_path / "push.mcap"
    push = ["push", "--force", "150", "--duration", "0.1", "--direction", "90", "--at", "0.1", "--time", "0.6"]
    command = [sys.executable, "-m", CLI, *push, "--log", str(log)]
    subprocess.run(command, env=graph.environment, cwd=ROOT, check=True, capture_output=True, timeout=120)
    figures = json.loads(replay(graph, str(log), "--rate", "1000", "--json").stdout)
    assert figures["frames"] == figures["compared"] == 600 and figures["trip"] is None
    assert figures["com_rms"] == figures["zmp_rms"] == figures["torque_max"] == 0.0


def test_up_ends_all_nodes_on_a_signal(graph: Graph) -> None:
    up = graph.run(CLI, "up", "--separate")
    assert up.says("mode: ", 90), up.text
    assert up.end(signal.SIGTERM, 30) == 0, up.text
    assert "Traceback" not in up.text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("up", "--robot", "r2d2"), "r2d2"),
        (("up", "--csv", "x.csv"), "--pushes"),
        (("up", "--record", str(Path(__file__).parent)), "is a folder"),
        (("replay", "nowhere.mcap"), "nowhere.mcap"),
        (("replay", __file__), "not an MCAP file"),
        (("replay", __file__, "--rate", "-5"), "rate is -5"),
    ],
)
def test_bad_input_gets_one_clear_line_and_2(graph: Graph, arguments: tuple[str, ...], told: str) -> None:
    command = [sys.executable, "-m", CLI, *arguments]
    done = subprocess.run(command, env=graph.environment, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and told in done.stderr, done.stderr
