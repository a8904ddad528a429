"""The launch files under the real launch system, where it is installed (it comes with ROS, not from PyPI)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes.graph import ROOT, Graph, Process, wait_until
from nodes.lab import Lab
from std_msgs.msg import String

from humanoid_balance.nodes.qos import LATCHED

pytest.importorskip("launch_ros", reason="launch and launch_ros come with a ROS installation only")

LAUNCH = Path(__file__).parent / "launch_main.py"
COMMON = {"robot", "namespace", "rate", "record", "rviz"}
ARGUMENTS = {
    "push": {"robot", "force", "duration", "direction"},
    "sim": COMMON | {"separate"},
    "hardware": COMMON | {"ports", "wiring", "torque", "separate", "priority"},
    "teleop": COMMON,
    "push_experiment": COMMON | {"pushes", "csv"},
    "ros2_control": COMMON,
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_launch_file_declares_its_arguments_with_descriptions(name: str) -> None:
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    description = get_launch_description_from_python_launch_file(str(ROOT / "launch" / f"{name}.launch.py"))
    arguments = description.get_launch_arguments()
    assert {argument.name for argument in arguments} == ARGUMENTS[name]
    assert all(argument.description for argument in arguments)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package as colcon installs it: launch finds executables there."""
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "src").mkdir()
    (workspace / "src" / "humanoid_balance").symlink_to(ROOT)
    colcon = [str(Path(sys.executable).with_name("colcon")), "--log-base", "log", "build", "--executor", "sequential"]
    done = subprocess.run(colcon, cwd=workspace, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    yield workspace / "install" / "humanoid_balance"


def launch(graph: Graph, prefix: Path, file: str, *arguments: str) -> Process:
    """As after ``source install/setup.bash``."""
    (site,) = prefix.glob("lib/python*/site-packages")
    graph.environment["AMENT_PREFIX_PATH"] = str(prefix)
    graph.environment["PYTHONPATH"] = os.pathsep.join([str(site), *filter(None, sys.path)])
    return graph.run_script(LAUNCH, str(ROOT / "launch" / f"{file}.launch.py"), *arguments)


def test_two_robots_stand_side_by_side_in_two_namespaces(graph: Graph, prefix: Path) -> None:
    modes = {name: graph.listen(String, f"/{name}/balance/mode", LATCHED) for name in ("left", "right")}
    left = launch(graph, prefix, "sim", "robot:=human:mass=80", "namespace:=left", "rate:=200")
    right = launch(graph, prefix, "sim", "robot:=g1", "namespace:=right", "rate:=200")
    assert graph.wait(lambda: all(heard and heard[-1].data == "stable" for heard in modes.values()), 120), graph.told()
    for process in (left, right):
        assert process.end(signal.SIGINT, 40) == 0, process.text
        assert "Traceback" not in process.text


def test_separate_nodes_under_launch_and_a_recording(graph: Graph, prefix: Path, tmp_path: Path) -> None:
    modes = graph.listen(String, "balance/mode", LATCHED)
    bag = tmp_path / "run.mcap"
    process = launch(graph, prefix, "sim", "separate:=true", f"record:={bag}")
    assert graph.wait(lambda: bool(modes), 120), graph.told()
    assert process.end(signal.SIGINT, 40) == 0, process.text
    assert bag.stat().st_size > 1000


def test_push_experiment_ends_by_itself_with_a_row_for_each_push(graph: Graph, prefix: Path, tmp_path: Path) -> None:
    pushes, csv = tmp_path / "pushes.yaml", tmp_path / "out.csv"
    pushes.write_text("rest: 1.5\npushes: [{force: 100, duration: 0.1, direction: 180}]\n")
    process = launch(graph, prefix, "push_experiment", f"pushes:={pushes}", f"csv:={csv}")
    assert process.popen.wait(180) == 0, process.text
    assert len(csv.read_text().splitlines()) == 2


class LaunchedLab(Lab):
    """Boards in a process of their own, all else by ``hardware.launch.py``."""

    def launch(self, prefix: Path, *arguments: str) -> Process:
        self.controller = "balance_controller"
        ports = ",".join(self.ports)
        return launch(self.graph, prefix, "hardware", f"robot:={self.robot.spec}", f"ports:={ports}", *arguments)


def test_hardware_is_brought_up_by_the_operator_and_let_go_at_the_end(prompt_graph: Graph, prefix: Path) -> None:
    lab = LaunchedLab(prompt_graph, "talos", "--tcp", "0")
    process = lab.launch(prefix, "separate:=true")
    lab.balances()
    assert "-> IMPEDANCE" in lab.board.text, "gains and ramp are in the drive"
    assert process.end(signal.SIGINT, 40) == 0, process.text
    assert lab.board.says("-> DISARMED"), lab.board.text
    assert "Traceback" not in process.text


@pytest.mark.slow
def test_ten_rounds_of_a_lab_day_under_launch(prompt_graph: Graph, prefix: Path) -> None:
    """Stand, balance, be pushed from four sides, stop, reset, again."""
    lab = LaunchedLab(prompt_graph, "talos", "--tcp", "0")
    lab.launch(prefix, "separate:=true")
    for _ in range(10):
        lab.balances()
        for direction in (0.0, 90.0, 180.0, 270.0):
            lab.push(direction, 0.3)
            lab.stands(2.5)
        stops = lab.board.text.count("-> STOPPED")
        assert lab.ask("estop").success
        assert wait_until(lambda n=stops: lab.board.text.count("-> STOPPED") > n, 20), lab.board.text
        lab.granted_reset()


def test_push_without_topics_tells_what_happened(graph: Graph, prefix: Path) -> None:
    process = launch(graph, prefix, "push", "robot:=g1", "force:=60", "direction:=180")
    assert process.popen.wait(60) == 0, process.text
    assert "g1: recovered" in process.text, process.text
