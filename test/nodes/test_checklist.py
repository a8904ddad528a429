"""docs/hardware.md followed step by step: wiring file, calibration, torque cap, hoist, ground, push, let down."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from nodes.graph import ROOT, Graph, Process, go_first
from nodes.lab import CLI, Lab, wiring_file

from humanoid_balance.robot import registry

STEPS = ["hoist", "boards", "calibration", "directions", "low torque", "stance, hanging", "emergency stop"]
STEPS += ["on the ground", "stand", "push", "let down"]
ROBOT = "g1"
# As a lab finds it: an encoder that counts the other way round, one that was mounted a little off, one behind a gear.
CALIBRATION = {
    "left_knee_joint": {"sign": -1},
    "right_elbow_joint": {"offset": 0.04},
    "waist_yaw_joint": {"ratio": 2.0},
}
SECONDS = 150.0  # of a whole checklist on a busy machine
SLOWLY = 8  # boards wait 20 ms for a tick: on a machine with other work everything may stand still for longer


class Checklist:
    """``humanoid-balance bringup`` with somebody who answers; ``before`` a question something may be done."""

    def __init__(
        self, graph: Graph, wiring: Path, before: dict[str, Callable[[], None]], *options: str, no: str = ""
    ) -> None:
        """``no``: words of the question that is answered with no."""
        command = [sys.executable, "-m", CLI, "bringup", "--wiring", str(wiring), *options]
        self._popen = subprocess.Popen(
            command, env=graph.environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, preexec_fn=go_first if graph.prompt else None,
        )  # fmt: skip
        self.text = ""
        watchdog = threading.Timer(SECONDS * int(graph.environment.get("SLOW_MOTION", "1")), self._popen.kill)
        watchdog.start()
        assert self._popen.stdout is not None and self._popen.stdin is not None
        while letter := self._popen.stdout.read(1):
            self.text += letter
            if self.text.endswith("[y/n] "):
                question = self.text[self.text.rindex("?") if not self.text else self.text.rindex(" ? ") :]
                for words, act in before.items():
                    if words in question:
                        act()
                self._popen.stdin.write("n\n" if no and no in question else "y\n")
                self._popen.stdin.flush()
        self.code = self._popen.wait()
        watchdog.cancel()

    @property
    def steps(self) -> list[str]:
        return [line[3:].split(":")[0] for line in self.text.splitlines() if line.startswith("== ")]


def board(graph: Graph, wiring: Path, *options: str) -> Process:
    made = graph.run(CLI, "board", "--wiring", str(wiring), "--json", *options)
    assert made.says('"ports"'), made.text
    return made


def free_port() -> str:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"socket://127.0.0.1:{probe.getsockname()[1]}"


def arms_on_servos() -> list[dict[str, object]]:
    """Buses: a board for legs, waist, IMU and soles, and two chains of Dynamixel servos for the arms."""
    robot = registry.load(ROBOT)
    buses: list[dict[str, object]] = [{"port": free_port()}]
    for side in ("left", "right"):
        arm = [k for k, name in enumerate(robot.joint_names) if re.match(f"{side}_(shoulder|elbow|wrist)", name)]
        servos = {
            robot.joint_names[k]: {
                "identifier": n,
                "torque_constant": robot.torque_limit[k] / 3.0,
                "current_limit": 4.0,
            }
            for n, k in enumerate(arm)
        }
        buses.append({"port": free_port(), "kind": "dynamixel", "servos": servos})
    return buses


@pytest.mark.slow  # two minutes long
@pytest.mark.parametrize("arms", ["on the board", "on servos"])
def test_the_checklist_from_the_hoist_to_the_first_push_and_down_again(
    prompt_graph: Graph, tmp_path: Path, arms: str
) -> None:
    more = {"buses": arms_on_servos()} if arms == "on servos" else {}
    prompt_graph.in_slow_motion(SLOWLY)
    wiring = wiring_file(tmp_path, ROBOT, free_port(), torque=1.0, calibration=CALIBRATION, **more)
    hanging = board(prompt_graph, wiring, "--hoist", "0.15")
    down: list[Process] = []

    def lower() -> None:
        hanging.popen.kill()
        hanging.popen.wait()
        down.append(board(prompt_graph, wiring))

    done = Checklist(prompt_graph, wiring, {"Lowered": lower})
    assert done.code == 0 and done.steps == STEPS, done.text + hanging.text
    assert "30% of the torque" in done.text and "100% of the torque" in done.text
    boards = "\n".join(line for line in hanging.text.splitlines() if "servos_" not in line)  # those know torque only
    assert "-> IMPEDANCE" in boards and "TORQUE" not in boards, "in the hoist the posture is held"
    assert "emergency_stop" in hanging.text, hanging.text
    assert "IMPEDANCE -> TORQUE" in down[0].text and "Traceback" not in done.text


def test_a_no_ends_the_checklist_with_the_step_and_the_motors_off(prompt_graph: Graph, tmp_path: Path) -> None:
    wiring = wiring_file(tmp_path, ROBOT, free_port(), torque=0.3)
    hanging = board(prompt_graph, wiring, "--hoist", "0.15")
    done = Checklist(prompt_graph, wiring, {}, no="resist like honey")
    assert done.code == 2 and "ended at 'low torque: 30%': answered 'n'" in done.text, done.text
    assert "DAMPING -> DISARMED" in hanging.text, hanging.text
    assert "port_closed" not in hanging.text, "boards that are off stay off when the nodes end, and need no reset"


def test_on_the_ground_hoist_mode_is_refused_with_the_reason(prompt_graph: Graph, tmp_path: Path) -> None:
    wiring = wiring_file(tmp_path, ROBOT, free_port())
    standing = board(prompt_graph, wiring)
    done = Checklist(prompt_graph, wiring, {})
    assert done.code == 2 and "hoist mode, but the soles carry" in done.text, done.text
    assert "IMPEDANCE" not in standing.text


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"torque": 7.0}, "torque"),
        ({"calibration": {"left_tail": {"sign": -1}}}, "left_tail"),
        ({"buses": [{"port": "/dev/nowhere", "kind": "telegraph"}]}, "telegraph"),
    ],
)
def test_a_wrong_wiring_file_is_one_line_and_2(
    graph: Graph, tmp_path: Path, entries: dict[str, object], told: str
) -> None:
    wiring = wiring_file(tmp_path, ROBOT, "/dev/nowhere", **entries)
    for command in (["bringup", "--wiring"], ["up", "--plant", "serial", "--wiring"]):
        done = subprocess.run(
            [sys.executable, "-m", CLI, *command, str(wiring)], env=graph.environment, cwd=ROOT, capture_output=True,
            text=True, timeout=60, input="",
        )  # fmt: skip
        assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_the_calibration_of_the_wiring_file_reaches_the_topics(prompt_graph: Graph, tmp_path: Path) -> None:
    """Board and host share the file: what the host sees is the robot, whatever the encoders count."""
    wiring = wiring_file(tmp_path, ROBOT, free_port(), torque=0.5, calibration=CALIBRATION)
    board(prompt_graph, wiring)
    lab = Lab.__new__(Lab)
    lab.graph, lab.robot, lab.ports = prompt_graph, registry.load(ROBOT), []
    lab.modes = []
    lab.up("--wiring", str(wiring))
    told = ""

    def checked() -> bool:
        nonlocal told
        answer = lab.ask("check", node="hardware")
        told = answer.message
        return bool(answer.success)

    assert prompt_graph.wait(checked), told + prompt_graph.told()
    assert "29 joints on 1 boards" in told and "50% of the torque" in told
    carried = re.search(r"soles carry (\d+)%", told)
    assert carried and abs(int(carried[1]) - 100) <= 2, told  # noise of two soles
    assert json.loads(wiring.read_text())["calibration"] == CALIBRATION
