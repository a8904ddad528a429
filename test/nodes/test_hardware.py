"""The hardware node on a virtual motor board: ports, arming, emergency stop."""

from __future__ import annotations

import json
import re
import signal
import time

import numpy as np
from nodes.graph import Graph
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import SENSOR
from humanoid_balance.robot import registry


def test_boards_on_topics_armed_stopped_and_armed_again(graph: Graph) -> None:
    joints = graph.listen(JointState, "joint_states", SENSOR)
    board = graph.run("humanoid_balance.cli", "board", "--json")
    assert board.says('"ports"'), board.text
    (port,) = json.loads(board.text.splitlines()[0])["ports"]
    hardware = graph.start("hardware", autostart=True, ports=[port], rate=200)
    # On a busy machine some samples are too old by the time they are read; these are not numbers.
    assert graph.wait(lambda: bool(joints) and bool(np.isfinite(joints[-1].position).all())), graph.told()
    human, measured = registry.load("human"), joints[-1]
    assert tuple(measured.name) == human.joint_names
    np.testing.assert_allclose(measured.position, human.posture, atol=0.15)

    def arm(on: bool) -> SetBool.Response:
        return graph.call(SetBool, "hardware/arm", SetBool.Request(data=on))

    assert graph.wait(lambda: arm(True).success, 20)
    assert board.says("DISARMED -> DAMPING"), board.text
    assert graph.call(Trigger, "hardware/estop", Trigger.Request()).success
    assert board.says("-> STOPPED"), board.text
    refused = arm(True)
    assert not refused.success and "emergency stop" in refused.message
    assert graph.wait(lambda: graph.call(Trigger, "hardware/reset", Trigger.Request()).success, 20)
    assert graph.wait(lambda: board.text.count("-> DISARMED") == 2, 20), board.text
    assert graph.wait(lambda: arm(True).success, 20)
    assert hardware.end() == 0 and "Traceback" not in hardware.text, hardware.text


def test_boards_that_dropped_out_are_armed_again_only_after_they_were_disarmed(graph: Graph) -> None:
    board = graph.run("humanoid_balance.cli", "board", "--json")
    assert board.says('"ports"'), board.text
    (port,) = json.loads(board.text.splitlines()[0])["ports"]
    hardware = graph.start("hardware", autostart=True, ports=[port], rate=200)

    def arm(on: bool) -> SetBool.Response:
        return graph.call(SetBool, "hardware/arm", SetBool.Request(data=on))

    assert graph.wait(lambda: arm(True).success), graph.told()
    assert board.says("DISARMED -> DAMPING"), board.text
    board.popen.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    board.popen.send_signal(signal.SIGCONT)
    assert graph.wait(lambda: "LAPSED" in (told := arm(True).message) and "next: reset" in told, 20), graph.told()
    assert graph.call(Trigger, "hardware/reset", Trigger.Request()).success
    assert graph.wait(lambda: arm(True).success, 20)
    assert hardware.end() == 0 and "Traceback" not in hardware.text, hardware.text


def test_ports_that_are_not_there_are_refused_by_name(graph: Graph) -> None:
    hardware = graph.start("hardware", autostart=True, ports=["/dev/nowhere"])
    assert hardware.popen.wait(60) == 2
    assert re.search(r"not configured: port .*nowhere", hardware.text), hardware.text
