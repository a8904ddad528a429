"""kill -9 of any single process, at random moments: how long until the robot is braked, and how the graph comes back.

Nothing is tried twice. Braked is: the boards' own report of the change of mode, the simulator's own measure of the age
of the last command, or, when the simulator itself is killed, the controller's trip. ``KILLS=30 pytest -s -m slow
test/nodes/test_killed.py`` prints the distribution of 30 kills per test.
"""

from __future__ import annotations

import random
import re
import signal
import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from nodes.graph import Graph, Process, alive, wait_until
from nodes.lab import Lab
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.qos import LATCHED

BRAKED = 0.050  # [s]: the watchdog of 20 ms, a tick, and what a machine with other work takes to run it
BRAKING = "-> (DAMPING|LAPSED|STOPPING)"  # what a board says then
WITHIN = 1.5  # a kill comes so long after the robot is driven, or less [s]


@dataclass
class Kills:
    """Times to braking [s], by process."""

    times: dict[str, list[float]] = field(default_factory=dict)

    def add(self, who: str, braked: float) -> None:
        self.times.setdefault(who, []).append(braked)

    def show(self) -> None:
        for who, times in self.times.items():
            ms = 1e3 * np.array(times)
            print(
                f"\n{who:20} {ms.size:4d} kills, braked after [ms]: median {np.median(ms):.1f}, longest {ms.max():.1f}"
            )

    @property
    def longest(self) -> float:
        return max(max(times) for times in self.times.values())


def lines_since(process: Process, count: int, pattern: str) -> list[str]:
    """Lines that a process printed after its first ``count``, and that match."""
    return [line for line in process.text.splitlines()[count:] if re.search(pattern, line)]


@pytest.mark.slow
def test_a_simulated_robot_is_braked_whoever_is_killed_and_comes_back_with_the_restarted_process(
    prompt_graph: Graph, kills_wanted: int
) -> None:
    graph, chance, kills = prompt_graph, random.Random(1), Kills()
    modes: list[String] = graph.listen(String, "balance/mode", LATCHED)
    common = {"autostart": True, "rate": 500}
    nodes = {"simulator": common, "state_estimator": common, "balance_controller": common}
    running = {name: graph.start(name, **parameters) for name, parameters in nodes.items()}

    def driven() -> bool:
        armed = graph.call(SetBool, "balance_controller/arm", SetBool.Request(data=True)).success
        return armed and graph.wait(lambda: bool(modes) and modes[-1].data == "stable", 5)

    def reset() -> bool:
        return bool(graph.call(Trigger, "balance_controller/reset", Trigger.Request()).success)

    for _ in range(kills_wanted):
        assert graph.wait(driven), graph.told()
        graph.spin(chance.uniform(0.2, WITHIN))
        who = chance.choice(list(nodes))
        witness = running["simulator" if who != "simulator" else "balance_controller"]
        words = r"damping: " if who != "simulator" else r"mode: tripped"
        before, killed = len(witness.text.splitlines()), time.time()
        running[who].end(signal.SIGKILL)
        assert wait_until(lambda w=witness, n=before, p=words: bool(lines_since(w, n, p)), 5), graph.told()
        line = lines_since(witness, before, words)[0]
        age = re.search(r"no command for (\d+) ms", line)
        stamp = re.search(r"\[(\d+\.\d+)\]", line)
        assert stamp is not None
        kills.add(who, 1e-3 * float(age[1]) if age else float(stamp[1]) - killed)
        assert not alive(running[who].popen.pid), "a zombie is left"
        running[who] = graph.start(who, **nodes[who])
        assert running[who].says("configured"), running[who].text
        modes.clear()
        assert graph.wait(lambda: graph.call(Trigger, "balance_controller/reset", Trigger.Request()).success), (
            graph.told()
        )
    kills.show()
    assert kills.longest <= BRAKED, kills


@pytest.mark.slow
def test_boards_brake_whoever_is_killed_and_the_robot_comes_back_with_the_restarted_process(
    prompt_graph: Graph, kills_wanted: int
) -> None:
    graph, chance, kills = prompt_graph, random.Random(2), Kills()
    lab = Lab(graph, "g1", "--tcp", "0")
    lab.controller = "balance_controller"
    common = {"autostart": True, "rate": 500, "robot": "g1"}
    nodes = {"hardware": {**common, "ports": lab.ports}, "state_estimator": common}
    nodes["balance_controller"] = {**common, "staged": True}
    running = {name: graph.start(name, **parameters) for name, parameters in nodes.items()}
    for _ in range(kills_wanted):
        lab.granted("arm", True)
        lab.granted("stand", seconds=5)
        graph.spin(chance.uniform(0.2, WITHIN))
        who = chance.choice(list(nodes))
        before, killed = len(lab.board.text.splitlines()), time.monotonic()
        running[who].end(signal.SIGKILL)
        assert wait_until(lambda n=before: bool(lines_since(lab.board, n, BRAKING)), 5), graph.told()
        kills.add(who, float(lines_since(lab.board, before, BRAKING)[0].split()[0]) - killed)
        assert not alive(running[who].popen.pid), "a zombie is left"
        running[who] = graph.start(who, **nodes[who])
        assert running[who].says("configured"), running[who].text
        before = len(lab.board.text.splitlines())
        if "STOP" not in lab.board.text.splitlines()[-1]:  # people lift a robot that sank to the ground: stop, reset
            assert lab.ask("estop", node="hardware").success
            assert wait_until(lambda n=before: bool(lines_since(lab.board, n, "-> STOPPED")), 5), graph.told()
        lab.modes.clear()
        assert graph.wait(lambda: lab.ask("reset").success), graph.told()
    kills.show()
    assert kills.longest <= BRAKED, kills
