"""``humanoid-balance up`` and ``replay``: a push experiment, recorded, and run again from the record."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from geometry_msgs.msg import Twist
from mcap.reader import make_reader
from mcap.writer import Writer
from nodes.graph import ROOT, Graph
from std_msgs.msg import String

from humanoid_balance.nodes.qos import LATCHED

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
    assert [float(row["direction"]) for row in told] == [180.0, 90.0]
    for row in told:
        assert row["fell"] == "False" and row["modes"].startswith("stable")
        assert float(row["dv"]) == pytest.approx(float(row["impulse"]) / 75.0, rel=1e-3)
        assert float(row["com_moved"]) > 0.005

    with bag.open("rb") as stream:
        reader = make_reader(stream)
        summary, about = reader.get_summary(), next(iter(reader.iter_metadata())).metadata
    assert summary is not None and summary.statistics is not None
    counts = {c.topic: summary.statistics.channel_message_counts.get(i, 0) for i, c in summary.channels.items()}
    assert counts["/diagnostics"] > 5 and counts["/lab/balance/mode"] >= 1
    schemas = {schema.name for schema in summary.schemas.values()}
    assert schemas >= {"sensor_msgs/msg/JointState", "diagnostic_msgs/msg/DiagnosticArray"}

    # Whatever else the machine does: from the first frame on nothing is lost, and the replay is the run.
    assert about["lost"] == "0", about
    done = replay(graph, str(bag), "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["robot"] == "human:mass=75" and figures["rate"] == 1000.0
    assert figures["begins"] == 0.0 and figures["missing"] == figures["before"] == 0
    assert figures["frames"] == counts["/lab/joint_states"] == round(1000 * figures["seconds"]) + 1
    assert figures["compared"] > 1000 and figures["torque_max"] == figures["com_rms"] == 0.0

    gone = tmp_path / "gone.mcap"
    without(bag, gone, "/lab/imu", set(range(1000, 1100)))
    refused = replay(graph, str(gone))
    assert refused.returncode == 2 and "100 of" in refused.stderr and "missing" in refused.stderr, refused.stderr
    wrong = replay(graph, str(bag), "--robot", "g1")
    assert wrong.returncode == 2 and "--robot 'g1' does not fit" in wrong.stderr and "human:mass=75" in wrong.stderr
    assert replay(graph, str(gone), "--despite-gaps", "--policy", "kudoh", "--step-policy", "torres").returncode == 0


def without(source: Path, target: Path, topic: str, numbers: set[int]) -> None:
    """A copy of a bag that lacks some messages."""
    with source.open("rb") as stream, target.open("wb") as out:
        reader, writer = make_reader(stream), Writer(out)
        writer.start()
        channels: dict[str, int] = {}
        for schema, channel, message in reader.iter_messages():
            assert schema is not None
            if channel.topic not in channels:
                kind = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.topic] = writer.register_channel(channel.topic, "cdr", kind)
            if channel.topic != topic or message.sequence not in numbers:
                times = (message.log_time, message.data, message.publish_time, message.sequence)
                writer.add_message(channels[channel.topic], *times)
        writer.finish()


def test_replay_of_a_complete_log_gives_the_same_states_and_torques(graph: Graph, tmp_path: Path) -> None:
    log = tmp_path / "push.mcap"
    push = ["push", "--force", "150", "--duration", "0.1", "--direction", "90", "--at", "0.1", "--time", "0.6"]
    command = [sys.executable, "-m", CLI, *push, "--log", str(log)]
    subprocess.run(command, env=graph.environment, cwd=ROOT, check=True, capture_output=True, timeout=120)
    figures = json.loads(replay(graph, str(log), "--json").stdout)
    assert figures["frames"] == figures["compared"] == 600 and figures["trip"] is None
    assert figures["com_rms"] == figures["zmp_rms"] == figures["torque_max"] == 0.0


@pytest.mark.slow
def test_a_recorded_walk_walks_again(graph: Graph, tmp_path: Path) -> None:
    """Commands are in the bag, and the replay obeys them when they came; within a tick or two, so torques differ."""
    bag = tmp_path / "walk.mcap"
    modes = graph.listen(String, "balance/mode", LATCHED)
    up = graph.run(CLI, "up", "--robot", "g1", "--rate", "500", "--record", str(bag))
    assert graph.wait(lambda: bool(modes) and modes[-1].data == "stable", 120), up.text
    publisher, message = graph.node.create_publisher(Twist, "cmd_vel", 10), Twist()
    message.linear.x = 0.3
    assert graph.wait(lambda: publisher.get_subscription_count() == 2, 30), "controller and recorder"
    for _ in range(40):
        publisher.publish(message)
        graph.spin(0.1)
    assert graph.wait(lambda: modes[-1].data == "walking", 30), up.text
    assert graph.wait(lambda: modes[-1].data == "stable", 60), up.text
    assert up.end(signal.SIGINT, 60) == 0, up.text
    done = replay(graph, str(bag), "--json", "--despite-gaps")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert "walking" in figures["modes"] and "falling" not in figures["modes"], figures["modes"]
    assert "walking" in figures["modes_recorded"] and figures["modes"][-1] == "stable"


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
        (("up", "--rotate", "100"), "--rotate: only together with --record"),
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
