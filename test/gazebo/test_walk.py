"""Walking on Gazebo with the gains of MuJoCo: at the commanded speed, and on after a push."""

import json
import subprocess
from typing import Any

import pytest
from gazebo.test_push import CLI


def walk(*options: str) -> dict[str, Any]:
    command = [*CLI, "walk", "--plant", "gazebo", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def assert_walked(result: dict[str, Any]) -> None:
    assert not result["fell"]
    assert result["velocity_error"] < 0.05 and result["heading_error_deg"] < 2.0
    assert result["estimation"]["odometry_drift"] < 0.02


def test_it_walks_at_the_commanded_speed() -> None:
    assert_walked(walk("--robot", "g1", "--velocity", "0.5", "--time", "6"))


def test_it_walks_on_after_a_push() -> None:
    """0.3 m/s within 0.2 s from the side."""
    result = walk("--robot", "g1", "--velocity", "0.5", "--time", "6", "--push", "50:0.2:90:2.5")
    assert not result["fell"] and result["pushes"][0]["dv"] == pytest.approx(0.3, rel=0.01)
    assert result["modes"][-1][1] == "walking"


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "speed"), [("human", 0.8), ("talos", 0.4), ("g1", 0.5)])
def test_it_walks_for_twenty_seconds(robot: str, speed: float) -> None:
    assert_walked(walk("--robot", robot, "--velocity", f"{speed}", "--time", "20"))


@pytest.mark.slow
@pytest.mark.parametrize("direction", range(0, 360, 45))
@pytest.mark.parametrize(("robot", "speed", "mass"), [("human", 0.8, 71.0), ("talos", 0.4, 90.3), ("g1", 0.5, 33.3)])
def test_it_walks_on_after_a_push_from_any_side(robot: str, speed: float, mass: float, direction: int) -> None:
    push = f"{0.3 * mass / 0.2:.1f}:0.2:{direction}:2.5"
    result = walk("--robot", robot, "--velocity", f"{speed}", "--time", "6.5", "--push", push)
    assert not result["fell"] and result["modes"][-1][1] == "walking"
