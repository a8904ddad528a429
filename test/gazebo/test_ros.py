"""The ROS nodes on Gazebo: pushed over the topic ``push``."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

CLI = (sys.executable, "-c", "import sys; from humanoid_balance.cli import main; sys.exit(main())")


def test_a_push_over_the_topic_is_recovered(tmp_path: Path) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    pushes, told = tmp_path / "pushes.yaml", tmp_path / "told.csv"
    pushes.write_text("rest: 1.0\npushes:\n  - {force: 80, duration: 0.1, direction: 90}\n")
    command = [*CLI, "up", "--plant", "gazebo", "--robot", "g1", "--pushes", str(pushes), "--csv", str(told)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    with told.open() as file:
        (row,) = csv.DictReader(file)
    assert row["fell"] == "False" and float(row["com_moved"]) > 0.005
