"""The launch files under the real launch system, where it is installed (it comes with ROS, not from PyPI)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes.graph import ROOT, Graph, Process
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED

pytest.importorskip("launch_ros", reason="launch and launch_ros come with a ROS installation only")

LAUNCH = Path(__file__).parent / "launch_main.py"
COMMON = {"robot", "namespace", "rate", "record", "rviz"}
ARGUMENTS = {
    "push": {"robot", "force", "duration", "direction"},
    "sim": COMMON | {"separate"},
    "hardware": COMMON | {"ports", "wiring", "torque", "separate"},
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


def test_hardware_is_brought_up_by_the_operator_and_let_go_at_the_end(prompt_graph: Graph, prefix: Path) -> None:
    graph = prompt_graph
    board = graph.run("humanoid_balance.cli", "board", "--robot", "talos", "--tcp", "0", "--json")
    assert board.says('"ports"'), board.text
    (port,) = json.loads(board.text.splitlines()[0])["ports"]
    process = launch(graph, prefix, "hardware", "robot:=talos", f"ports:={port}", "separate:=true")
    modes = graph.listen(String, "balance/mode", LATCHED)

    def granted(request: str) -> bool:
        return graph.call(Trigger, f"balance_controller/{request}", Trigger.Request()).success

    def armed() -> bool:
        return graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True)).success

    assert graph.wait(armed, 60), board.text + graph.told()
    assert graph.wait(lambda: granted("stand"), 10), board.text + graph.told()
    assert board.says("-> IMPEDANCE"), board.text
    assert graph.wait(lambda: granted("balance"), 30), board.text + graph.told()
    assert graph.wait(lambda: modes[-1].data == "stable", 10), board.text + graph.told()
    assert process.end(signal.SIGINT, 40) == 0, process.text
    assert board.says("-> DISARMED"), board.text
    assert "Traceback" not in process.text


def test_push_without_topics_tells_what_happened(graph: Graph, prefix: Path) -> None:
    process = launch(graph, prefix, "push", "robot:=g1", "force:=60", "direction:=180")
    assert process.popen.wait(60) == 0, process.text
    assert "g1: recovered" in process.text, process.text
