"""Pushing by hand: a keyboard on a pseudo-terminal, a joystick."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nodes.graph import ROOT, Graph
from sensor_msgs.msg import Joy
from std_msgs.msg import String

from humanoid_balance.nodes.qos import LATCHED, PUSH


def pushed(messages: list[WrenchStamped]) -> np.ndarray:
    return np.array([(m.wrench.force.x, m.wrench.force.y) for m in messages])


def test_keys_choose_force_and_direction_and_space_pushes(graph: Graph) -> None:
    heard = graph.listen(WrenchStamped, "push", PUSH)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "humanoid_balance.nodes", "push_teleop", "--ros-args", "-p", "autostart:=true"],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=graph.environment,
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        shown = b""
        while b"arrows" not in shown:
            shown += os.read(ours, 1000)
        assert graph.wait(lambda: graph.node.count_publishers("/push") > 0)
        graph.spin(0.5)
        os.write(ours, b"\x1b[D++++ ")  # left, 40 N more, push
        assert graph.wait(lambda: len(heard) > 2 and not pushed(heard)[-1].any()), shown
        np.testing.assert_allclose(pushed(heard)[0], (0.0, 140.0), atol=1e-9)
        while b"140 N" not in shown:
            shown += os.read(ours, 4000)
        assert b"left" in shown and b"silent" in shown  # no robot is there
        os.write(ours, b"q")
        assert process.wait(20) == 0
    finally:
        if process.poll() is None:
            process.kill()
        os.close(ours)
        os.close(theirs)


def test_the_help_is_that_of_the_device_in_use_and_the_status_line_follows_the_robot(graph: Graph) -> None:
    modes = graph.node.create_publisher(String, "balance/mode", LATCHED)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "humanoid_balance.nodes", "push_teleop", "--ros-args", "-p", "autostart:=true", "-p",
         "input:=joy"],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, env=graph.environment, cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip
    try:
        shown = b""
        for mode in ("stable", "in place"):
            assert graph.wait(lambda: modes.get_subscription_count() > 0)
            modes.publish(String(data=mode))
            while f"robot: {mode}".encode() not in shown:
                shown += os.read(ours, 1000)
        assert b"stick" in shown and b"arrows" not in shown
    finally:
        process.terminate()
        assert process.wait(20) == 0
        os.close(ours)
        os.close(theirs)


def test_a_joystick_points_and_pushes(graph: Graph) -> None:
    heard = graph.listen(WrenchStamped, "push", PUSH)
    teleop = graph.start("push_teleop", autostart=True, input="joy", force=200)
    stick = graph.node.create_publisher(Joy, "joy", 10)
    assert graph.wait(lambda: stick.get_subscription_count() > 0 and graph.node.count_publishers("/push") > 0)
    graph.spin(0.5)
    pointing = [0.0, -1.0]  # stick pulled back
    stick.publish(Joy(axes=pointing, buttons=[1, 0, 0, 0, 0, 1]))  # stronger, push
    assert graph.wait(lambda: len(heard) > 2 and not pushed(heard)[-1].any()), teleop.text
    np.testing.assert_allclose(pushed(heard)[0], (-210.0, 0.0), atol=1e-9)
    assert teleop.end(signal.SIGTERM) == 0, teleop.text


def test_keyboard_without_a_terminal_is_refused_in_one_line(graph: Graph) -> None:
    teleop = graph.start("push_teleop", autostart=True)
    assert teleop.popen.wait(60) == 2
    assert "there is no terminal" in teleop.text and "Traceback" not in teleop.text
