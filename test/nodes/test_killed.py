"""kill -9 of any single process, at random moments: how long until the robot is braked, and how the graph comes back.

Nothing is tried twice: every kill counts. Braked is: the boards' own report of the change of mode, the simulator's own
measure of the age of the last command, or, when the simulator itself is killed, the controller's trip. A virtual board
also reports by how much its own process was late in the last tenth of a second: a machine with other work lets it wait,
a real board would not have; that much later is allowed. ``KILLS=30 pytest -s -m slow test/nodes/test_killed.py`` prints
the distribution of 30 kills per test, with and without that, and how often a machine that stood still for 20 ms made
the robot brake before anybody was killed.
"""

from __future__ import annotations

import random
import re
import signal
import time
from dataclasses import dataclass, field
from functools import partial

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
RATE = 500  # of three processes [Hz]
UNASKED = 2.0  # brakings that nobody caused, per kill: a machine that stands still more often can show nothing
BALANCING = 0.3  # share of the kills on boards that come after the ramp, when the controller has taken over


@dataclass
class Kills:
    """Times to braking [s], by process."""

    times: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # and how late the witness was
    unasked: int = 0  # times that the robot was braked before the kill

    def add(self, who: str, braked: float, late: float = 0.0) -> None:
        """A time below zero: the robot was braked already when the kill came."""
        if braked < 0.0:
            self.unasked += 1
        else:
            self.times.setdefault(who, []).append((braked, late))

    def show(self) -> None:
        for who, times in self.times.items():
            ms, late = 1e3 * np.array(times).T
            told = f"median {np.median(ms):.1f}, longest {ms.max():.1f}, by a witness in time {(ms - late).max():.1f}"
            print(f"\n{who:20} {ms.size:4d} kills, braked after [ms]: {told}")
        print(f"braked {self.unasked} times before anybody was killed")

    @property
    def count(self) -> int:
        return sum(len(times) for times in self.times.values())

    @property
    def longest(self) -> float:
        """Without the time for which the witness itself had to wait."""
        return max(braked - late for times in self.times.values() for braked, late in times)


def lines_since(process: Process, count: int, pattern: str) -> list[str]:
    """Lines that a process printed after its first ``count``, and that match."""
    return [line for line in process.text.splitlines()[count:] if re.search(pattern, line)]


@pytest.mark.slow
def test_a_simulated_robot_is_braked_whoever_is_killed_and_comes_back_with_the_restarted_process(
    prompt_graph: Graph, kills_wanted: int
) -> None:
    graph, chance, kills = prompt_graph, random.Random(1), Kills()
    modes: list[String] = graph.listen(String, "balance/mode", LATCHED)
    common = {"autostart": True, "rate": RATE}
    nodes = {"simulator": common, "state_estimator": common, "balance_controller": common}
    running = {name: graph.start(name, **parameters) for name, parameters in nodes.items()}

    def reset() -> None:
        modes.clear()
        again = Trigger.Request()
        assert graph.wait(lambda: graph.call(Trigger, "balance_controller/reset", again).success), graph.told()

    def driven() -> bool:
        """Up to a random moment; False if it was braked on the way, as by a stall."""
        arm = SetBool.Request(data=True)
        assert graph.wait(lambda: graph.call(SetBool, "balance_controller/arm", arm).success), graph.told()
        graph.wait(lambda: bool(modes) and modes[-1].data != "disarmed", 5)
        graph.spin(chance.uniform(0.2, WITHIN))
        return bool(modes) and modes[-1].data not in ("disarmed", "tripped", "falling")

    while kills.count < kills_wanted:
        assert kills.unasked <= UNASKED * kills_wanted, graph.told()
        said = {name: len(process.text.splitlines()) for name, process in running.items()}
        if not driven():
            kills.unasked += 1
            reset()
            continue
        who = chance.choice(list(nodes))
        witness = "simulator" if who != "simulator" else "balance_controller"
        words = r"damping: " if who != "simulator" else r"mode: tripped"
        killed = time.time()
        running[who].end(signal.SIGKILL)
        seen = partial(lines_since, running[witness], said[witness], words)
        assert wait_until(lambda seen=seen: bool(seen()), 5), graph.told()
        age, stamp = (re.search(form, seen()[0]) for form in (r"no command for (\d+) ms", r"\[(\d+\.\d+)\]"))
        assert stamp is not None
        after = float(stamp[1]) - killed
        kills.add(who, 1e-3 * float(age[1]) if age and after > 0.0 else after)
        assert not alive(running[who].popen.pid), "a zombie is left"
        running[who] = graph.start(who, **nodes[who])
        assert running[who].says("configured"), running[who].text
        reset()
    kills.show()
    assert kills.longest <= BRAKED, kills


class Boards(Lab):
    """g1 on boards in a process of their own, and three nodes of which any may be killed."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, "g1", "--tcp", "0")
        self.controller = "balance_controller"
        common = {"autostart": True, "rate": RATE, "robot": "g1"}
        self.parameters: dict[str, dict[str, object]] = {
            "hardware": {**common, "ports": self.ports},
            "state_estimator": common,
            "balance_controller": {**common, "staged": True},
        }
        self.running = {name: graph.start(name, **parameters) for name, parameters in self.parameters.items()}

    @property
    def told(self) -> int:
        """Lines that the board has printed."""
        return len(self.board.text.splitlines())

    def braked(self, since: int) -> list[str]:
        return lines_since(self.board, since, BRAKING)

    def lifted(self) -> None:
        """People lift a robot that sank to the ground: stop, reset."""
        before = self.told
        if "STOP" not in self.board.text.splitlines()[-1]:
            assert self.ask("estop", node="hardware").success
            assert wait_until(lambda: bool(lines_since(self.board, before, "-> STOPPED")), 5), self.graph.told()
        self.modes.clear()
        assert self.graph.wait(lambda: self.ask("reset").success), self.graph.told()

    def driven(self, chance: random.Random) -> bool:
        """Up to a random moment on the ramp, or of balancing; False if it was braked on the way, as by a stall."""
        assert self.graph.wait(lambda: self.ask("arm", True).success), self.graph.told()
        before, more = self.told, chance.uniform(0.2, WITHIN)
        self.ask("stand")
        if chance.random() < BALANCING:
            self.graph.wait(lambda: self.ask("balance").success or bool(self.braked(before)), 20)
        self.graph.spin(more)
        return not self.braked(before)


@pytest.mark.slow
def test_boards_brake_whoever_is_killed_and_the_robot_comes_back_with_the_restarted_process(
    prompt_graph: Graph, kills_wanted: int
) -> None:
    graph, chance, kills = prompt_graph, random.Random(2), Kills()
    lab = Boards(graph)
    while kills.count < kills_wanted:
        assert kills.unasked <= UNASKED * kills_wanted, graph.told()
        if not lab.driven(chance):
            kills.unasked += 1
            lab.lifted()
            continue
        who = chance.choice(list(lab.running))
        before, killed = lab.told, time.monotonic()
        lab.running[who].end(signal.SIGKILL)
        last = partial(lines_since, lab.board, before - 1, BRAKING)  # or it was braked a moment before
        assert wait_until(lambda last=last: bool(last()), 5), graph.told()
        said = last()[0]
        late = re.search(r"([\d.]+) ms late at most", said)
        assert late is not None, said
        kills.add(who, float(said.split()[0]) - killed, 1e-3 * float(late[1]))
        assert not alive(lab.running[who].popen.pid), "a zombie is left"
        lab.running[who] = graph.start(who, **lab.parameters[who])
        assert lab.running[who].says("configured"), lab.running[who].text
        lab.lifted()
    kills.show()
    assert kills.longest <= BRAKED, kills
