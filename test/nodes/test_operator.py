"""One state for the operator: controller and motors agree on what is armed; what cannot be granted is refused."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from nodes.graph import ROOT, Graph, Process, alive, wait_until
from nodes.lab import CLI, Lab
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.balance_controller import GONE
from humanoid_balance.nodes.qos import LATCHED
from humanoid_balance.plants.ros.status import SILENCE, Motors, PlantStatus

KNOWN = SILENCE + 0.1  # a board that is gone is known to the controller: silence, and a look at a busy machine [s]


def said_at(process: Process, words: str) -> float:
    """When a node logged something, system clock [s]."""
    assert process.says(words, 10), process.text
    (stamp,) = re.findall(rf"\[(\d+\.\d+)\] \[\S+\]: {re.escape(words)}", process.text)[:1]
    return float(stamp)


@pytest.fixture
def lab(graph: Graph) -> Lab:
    made = Lab(graph, "g1", "--tcp", "0")
    made.in_lockstep()
    return made


def test_one_request_arms_boards_and_controller_and_one_disarms_both(lab: Lab) -> None:
    graph = lab.graph
    reports: list[DiagnosticStatus] = graph.listen(DiagnosticStatus, "plant/status", LATCHED)

    def motors() -> Motors | None:
        status = PlantStatus.of(reports[-1]) if reports else None
        return None if status is None else status.motors

    assert graph.wait(lambda: motors() is Motors.DISARMED), graph.told()
    assert graph.wait(lambda: lab.mode == "disarmed"), graph.told()
    assert graph.wait(lambda: "no sensors" not in lab.ask("stand").message), graph.told()
    for stage in ("stand", "balance"):
        refused = lab.ask(stage)
        assert not refused.success and "disarmed" in refused.message and refused.message, refused.message
    lab.granted("arm", True)
    assert graph.wait(lambda: lab.mode == "armed" and motors() is Motors.BRAKING, 20), graph.told()
    assert lab.ask("arm", True).success, "armed already is as good as armed"
    assert lab.ask("arm", False).success
    assert graph.wait(lambda: lab.mode == "disarmed" and motors() is Motors.DISARMED, 20), graph.told()
    assert lab.board.says("DAMPING -> DISARMED", 20), lab.board.text


def test_a_board_that_is_stopped_behind_its_back_trips_the_controller_with_the_reason(lab: Lab) -> None:
    graph = lab.graph
    lab.granted("arm", True)
    lab.granted("stand", seconds=5)
    assert graph.wait(lambda: lab.mode == "stand", 20)
    assert lab.ask("estop", node="hardware").success
    assert graph.wait(lambda: lab.mode == "tripped", 20), graph.told()
    assert lab.nodes.says("mode: tripped", 20), lab.nodes.text
    assert re.search(r"mode: tripped \(.*(STOP|stop).*\); next: reset", lab.nodes.text), lab.nodes.text
    refused = lab.ask("arm", True)
    assert not refused.success and "next: reset" in refused.message
    assert lab.board.says("-> STOPPED", 20), lab.board.text
    lab.granted_reset()
    lab.granted("arm", True)


def test_a_reset_right_behind_a_stop_does_not_overtake_it(lab: Lab) -> None:
    """The plant hears of both at once, and nothing says in which order it takes them."""
    graph = lab.graph
    lab.granted("arm", True)
    os.kill(lab.hardware.popen.pid, signal.SIGSTOP)
    assert lab.ask("estop").success
    client = graph.node.create_client(Trigger, f"{lab.controller}/reset")
    assert client.wait_for_service(20)
    answer = client.call_async(Trigger.Request())
    graph.spin(0.3)
    os.kill(lab.hardware.popen.pid, signal.SIGCONT)
    assert graph.wait(answer.done, 30), graph.told()
    if not answer.result().success:  # a slow machine brakes slowly
        assert "still stopping" in answer.result().message, answer.result().message
        assert graph.wait(lambda: lab.ask("reset").success, 30), graph.told()
    assert "-> STOPPED" in lab.board.text, "the stop came first"
    graph.spin(0.5)
    assert lab.board.text.splitlines()[-1].count("-> DISARMED") == 1, "and not again"
    lab.granted("arm", True, seconds=10)


def test_a_killed_board_is_known_at_once_and_nothing_is_granted_without_it(prompt_graph: Graph) -> None:
    """In real time."""
    graph, lab = prompt_graph, Lab(prompt_graph, "g1", "--tcp", "0")
    lab.up()
    lab.granted("arm", True)
    killed = time.time()
    lab.board.end(signal.SIGKILL)
    assert graph.wait(lambda: lab.mode == "tripped", 2), graph.told()
    assert said_at(lab.nodes, "mode: tripped") - killed < KNOWN
    assert "port lost" in lab.nodes.text, "logged where it happens"
    refused = lab.ask("reset")
    assert not refused.success and "port" in refused.message, refused.message
    for request in (("arm", True), ("stand",), ("balance",)):
        refused = lab.ask(*request)
        assert not refused.success and refused.message, request


def test_boards_that_were_disarmed_behind_its_back_trip_the_controller(lab: Lab) -> None:
    lab.granted("arm", True)
    assert lab.ask("arm", False, node="hardware").success
    assert lab.graph.wait(lambda: lab.mode == "tripped", 20), lab.graph.told()
    assert lab.nodes.says("mode: tripped (motors are disarm", 20), lab.nodes.text


def test_motors_need_the_stages(prompt_graph: Graph) -> None:
    lab = Lab(prompt_graph, "g1", "--tcp", "0")
    common = {"autostart": True, "rate": 500, "robot": "g1"}
    prompt_graph.start("hardware", ports=lab.ports, **common)
    prompt_graph.start("state_estimator", **common)
    prompt_graph.start("balance_controller", **common)
    lab.controller = "balance_controller"

    def staged() -> bool:
        return "'staged'" in lab.ask("arm", True).message

    assert prompt_graph.wait(staged), prompt_graph.told()
    assert "-> DAMPING" not in lab.board.text


# ---- one-liners ----


def one_liner(graph: Graph, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", CLI, *arguments]
    return subprocess.run(command, env=graph.environment, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_one_liners_print_one_line_and_end_with_0_or_2(graph: Graph) -> None:
    # Slow motion: the ramp outlasts the start of the process that asks to balance too early.
    stack = graph.start("balance_stack", "-r", "__ns:=/lab", autostart=True, staged=True, rate=200, speed=0.2)
    assert stack.says("mode: disarmed"), stack.text
    story = [
        ("stand", 2, "disarmed"),
        ("arm", 0, "armed"),
        ("stand", 0, "standing up"),
        ("balance", 2, "the ramp is at"),
    ]
    story += [
        ("stop", 0, "stopped"),
        ("arm", 2, "reset"),
        ("reset", 0, "reset"),
        ("arm", 0, "armed"),
        ("disarm", 0, ""),
    ]
    for command, code, words in story:
        while "at rest" in (done := one_liner(graph, command, "--namespace", "lab")).stderr:
            graph.spin(1.0)  # a robot that was let go still swings in its harness
        lines = (done.stdout + done.stderr).splitlines()
        assert done.returncode == code and len(lines) == 1 and words in lines[0], (command, done)
        assert bool(done.stdout) == (code == 0)
    done = one_liner(graph, "arm")
    assert done.returncode == 2 and "no controller runs" in done.stderr


# ---- one stack a namespace, no orphans ----


def test_a_second_stack_in_a_namespace_is_refused_and_the_first_goes_on(graph: Graph) -> None:
    first = graph.start("balance_stack", autostart=True, auto_arm=True, rate=200)
    assert first.says("mode: stable"), first.text
    for node in ("simulator", "state_estimator", "balance_controller"):
        second = graph.start(node, autostart=True, rate=200)
        assert second.says("'/balance_stack' (process ") and "already the" in second.text, second.text
        if "fault, latched" not in second.text:  # it heard of the first before it began
            assert second.popen.wait(20) == 2, second.text
        second.popen.kill()
    elsewhere = graph.start("balance_stack", "-r", "__ns:=/right", autostart=True, auto_arm=True, rate=200)
    assert elsewhere.says("mode: stable"), elsewhere.text
    assert first.popen.poll() is None and "tripped" not in first.text, first.text


def test_who_was_killed_does_not_stand_in_the_way_of_its_successor(graph: Graph) -> None:
    first = graph.start("state_estimator", autostart=True)
    assert first.says("configured")
    graph.spin(1.0)
    first.end(signal.SIGKILL)
    second = graph.start("state_estimator", autostart=True)
    assert second.says("configured")
    graph.spin(1.5)
    assert second.popen.poll() is None and "already" not in second.text, second.text


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def test_nodes_end_when_up_is_killed(graph: Graph) -> None:
    up = graph.run(CLI, "up", "--separate")
    assert up.says("mode: ", 90), up.text
    nodes = children(up.popen.pid)
    assert len(nodes) == 3 and all(map(alive, nodes))
    up.end(signal.SIGKILL)
    assert wait_until(lambda: not any(map(alive, nodes)), 20), [pid for pid in nodes if alive(pid)]


def test_a_node_without_such_a_parent_outlives_its_shell(graph: Graph) -> None:
    """As with nohup: only who asks for it takes its nodes along."""
    assert "HUMANOID_BALANCE_PARENT" not in os.environ
    shell = [sys.executable, "-m", "humanoid_balance.nodes", "state_estimator", "--ros-args", "-p", "autostart:=true"]
    quiet = "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"  # or its output would keep this test waiting
    text = f"import subprocess; print(subprocess.Popen({shell!r}, {quiet}).pid)"
    done = subprocess.run([sys.executable, "-c", text], env=graph.environment, capture_output=True, text=True, cwd=ROOT)
    pid = int(done.stdout)
    time.sleep(1.0)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_a_request_to_a_controller_without_motors_is_as_before(graph: Graph) -> None:
    """A simulation: nobody has to arm anything else."""
    graph.start("simulator", autostart=True, rate=500, lockstep=True, lockstep_timeout=60)
    graph.start("state_estimator", autostart=True, rate=500, sync_wait=3600)
    graph.start("balance_controller", autostart=True, rate=500, sensor_timeout=60)

    def armed() -> bool:
        return bool(graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True)).success)

    assert graph.wait(armed), graph.told()


def test_without_sensors_nothing_is_armed_and_with_a_new_estimator_it_is(graph: Graph) -> None:
    """An estimator that was killed is missed, and what is armed waits until the new one has been discovered."""
    graph.start("simulator", autostart=True, rate=200)
    estimator = graph.start("state_estimator", autostart=True, rate=200)
    graph.start("balance_controller", autostart=True, rate=200)

    def arm() -> SetBool.Response:
        return graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True))

    states: list[Float64MultiArray] = graph.listen(Float64MultiArray, "robot_state")
    assert graph.wait(lambda: len(states) > 20), graph.told()  # the simulated robot hangs in its harness meanwhile
    estimator.end(signal.SIGKILL)
    time.sleep(GONE + 0.2)
    refused = arm()
    assert not refused.success and "no sensors" in refused.message, refused.message
    graph.start("state_estimator", autostart=True, rate=200)
    assert graph.wait(lambda: arm().success), graph.told()
