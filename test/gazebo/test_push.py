"""The command line on Gazebo: the controller of MuJoCo, unchanged, keeps the robot on its feet here too."""

import json
import subprocess
import sys
from typing import Any

import pytest

CLI = (sys.executable, "-c", "import sys; from humanoid_balance.cli import main; sys.exit(main())")
NEVER_EQUAL = ("tick", "rtf")  # depend on the machine


def push(*options: str, plant: str = "gazebo") -> dict[str, Any]:
    command = [*CLI, "push", "--plant", plant, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def hit(robot: str, force: float, duration: float, direction: float) -> list[str]:
    return ["--robot", robot, "--force", f"{force}", "--duration", f"{duration}", "--direction", f"{direction}"]


@pytest.mark.parametrize(("robot", "seed"), [("human", 0), ("talos", 0), ("g1", 0), ("g1", 6)])
def test_stands_still(robot: str, seed: int) -> None:
    result = push(*hit(robot, 0, 0, 0), "--time", "3", "--seed", str(seed))
    assert not result["fell"] and result["steps"] == 0
    assert result["feet_slip_max"] < 1e-3
    assert result["torso_lean_max_deg"] < 1.0
    assert result["estimation"]["com_velocity_rms"] < 0.01


@pytest.mark.parametrize("direction", [0, 180], ids=["KE1", "KE2"])
def test_a_late_answer_recovers_with_the_feet_in_place(direction: float) -> None:
    options = ["--strategy", "in-place", "--delay", "0.2", "--time", "4"]
    result = push(*hit("human", 300, 0.1, direction), *options)
    assert not result["fell"] and result["steps"] == 0
    assert result["recovery_time"] is not None
    assert result["feet_slip_max"] < 0.01
    assert result["estimation"]["com_rms"] < 0.01
    assert result["estimation"]["push_direction_error_deg"] < 10.0


def test_steps_when_asked_to() -> None:
    """KE5."""
    result = push(*hit("human", 300, 0.1, 0), "--strategy", "step", "--time", "6")
    assert not result["fell"] and 1 <= result["steps"] <= 3


@pytest.mark.parametrize(("robot", "mass", "direction"), [("talos", 90.3, 180), ("talos", 90.3, 315), ("g1", 33.3, 45)])
def test_other_robots_take_a_push_of_0_3_metres_a_second(robot: str, mass: float, direction: float) -> None:
    result = push(*hit(robot, 3.0 * mass, 0.1, direction), "--time", "3.5")
    assert not result["fell"]
    assert result["dv"] == pytest.approx(0.3, rel=0.01)


def test_the_same_seed_gives_the_same_run_and_the_json_of_mujoco() -> None:
    options = [*hit("g1", 60, 0.1, 20), "--at", "0.1", "--time", "0.6", "--seed", "4"]
    first, again = push(*options), push(*options)
    for result in (first, again):
        for key in NEVER_EQUAL:
            result.pop(key)
    assert first == again
    assert set(first) == set(push(*options, plant="mujoco")) - set(NEVER_EQUAL)


def test_envelope_runs_on_gazebo() -> None:
    options = ["--robot", "g1", "--directions", "1", "--duration", "0.1", "--resolution", "9", "--workers", "1"]
    command = [*CLI, "envelope", "--plant", "gazebo", "--json", *options, "--strategy", "in-place"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["directions"]
    assert 0.2 < row["dv"] < 1.5 and row["steps"] == 0
