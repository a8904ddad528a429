"""The short form of a lab day, for every robot: virtual boards over ROS, three processes at 500 Hz.

Here in lock-step, so that a busy machine makes no difference; in real time, ten rounds over both kinds of lines, in one
process and in three, it is ``benchmarks/lab_day.py``.
"""

from __future__ import annotations

import signal

import pytest
from nodes.graph import Graph
from nodes.lab import Lab

DV = 0.3  # of a push [m/s]


@pytest.mark.parametrize("robot", ["human", "talos", "g1"])
def test_armed_standing_balancing_pushed_stopped_reset_and_again(graph: Graph, robot: str) -> None:
    lab = Lab(graph, robot, "--tcp", "0")
    lab.in_lockstep()
    lab.balances()
    assert "DAMPING -> IMPEDANCE" in lab.board.text, "the posture is held by the drives"
    assert lab.board.says("IMPEDANCE -> TORQUE", 20), lab.board.text
    lab.stands(0.2)
    where = lab.com[-1].point.x
    lab.push(180.0, DV)
    lab.stands(2.5)
    assert min(m.point.x for m in lab.com) < where - 0.01, "the push was not felt"
    lab.stopped_and_reset()
    lab.balances()
    lab.stands(0.5)
    for process in (lab.nodes, lab.hardware):
        assert process.end(signal.SIGINT, 30) == 0 and "Traceback" not in process.text, process.text


@pytest.mark.slow
def test_one_process_at_1_khz_does_the_same_in_real_time(prompt_graph: Graph) -> None:
    lab = Lab(prompt_graph, "g1", "--tcp", "0")
    nodes = lab.up("--together")
    lab.balances()
    lab.push(0.0, DV)
    lab.stands(2.5)
    lab.stopped_and_reset()
    lab.granted("arm", True)
    assert nodes.end(signal.SIGINT, 30) == 0 and "Traceback" not in nodes.text, nodes.text
