"""Bring a robot on motor boards up, step by step: the checklist of docs/hardware.md in a terminal."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humanoid_balance.commands import up
from humanoid_balance.commands.common import namespace, number
from humanoid_balance.errors import InputError
from humanoid_balance.nodes import start
from humanoid_balance.plants.serial import config
from humanoid_balance.robot import registry

if TYPE_CHECKING:
    from humanoid_balance.commands.operator_node import OperatorNode

LOW = 0.3  # share of the torque limits with which a robot hangs in its hoist for the first time
APPEAR = 60.0  # nodes and boards get so long to appear [s]
ANSWER = 15.0  # [s]
RAMP = 30.0  # the way into the stance takes at most so long [s]
WATCH = 2.0  # so long a robot that was pushed is watched [s]
FINGER = 0.05  # the push of one finger, as a change of speed [m/s]


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--robot", metavar="SPEC", help="name, name:option=value or path to a YAML; default: the wiring file's")
    add("--wiring", type=Path, required=True, metavar="W.yaml", help="ports, calibration, servos, torque")
    add("--torque", type=number, default=LOW, metavar="X", help="share of the torque limits in the hoist; default: 0.3")
    add("--namespace", type=namespace, default="", metavar="NAME", help="of all nodes")
    rate = "of the loop; default: the wiring file's, or 500, with --together 1000"
    add("--rate", type=number, default=0.0, metavar="HZ", help=rate)
    add("--together", action="store_true", help="one process instead of three")
    add("--yes", action="store_true", help="answer every question with yes: for virtual boards and for tests")


@dataclass
class Terminal:
    """Tells what happens and asks."""

    yes: bool
    step: str = ""

    def begin(self, step: str) -> None:
        self.step = step
        print(f"\n== {step}", flush=True)

    def tell(self, text: str) -> None:
        print(f"   {text}", flush=True)

    def confirm(self, question: str) -> None:
        """Go on with yes only."""
        print(f" ? {question} [y/n] ", end="", flush=True)
        answer = "y" if self.yes else sys.stdin.readline().strip().lower()
        if self.yes:
            print("y")
        if answer not in ("y", "yes"):
            raise self.refused(f"answered '{answer or 'nothing'}'")

    def refused(self, why: str) -> InputError:
        return InputError(f"ended at '{self.step}': {why}")


class Graph:
    """The nodes of one part of the checklist, and the requests to them; the robot is disarmed at its end."""

    def __init__(self, options: argparse.Namespace, terminal: Terminal, torque: float, operator: OperatorNode) -> None:
        self._terminal, self._operator = terminal, operator
        boards: dict[str, Any] = {"wiring": str(options.wiring.resolve()), "torque": torque}
        nodes = start.boards(options.robot, options.rate, not options.together, **boards)
        self._running = up.start_nodes(nodes, options.robot, options.namespace)
        self.plant = f"{operator.namespace}/{'balance_stack' if options.together else 'hardware'}"
        self.controller = ""

    def __enter__(self) -> Graph:
        try:
            self._found()
        except BaseException:
            up.end_nodes(self._running)
            raise
        return self

    def _found(self) -> None:
        def ended() -> bool:
            return any(process.poll() is not None for process in self._running)

        self._operator.wait(lambda: ended() or bool(self._operator.controller(0.1)), APPEAR)
        self.controller = self._operator.controller(0.1)
        if ended() or not self.controller:
            raise self._terminal.refused("the nodes did not start; what they said stands above")

    def __exit__(self, *_: object) -> None:
        if self.controller and all(process.poll() is None for process in self._running):
            self._operator.ask(f"{self.controller}/arm", False, ANSWER)
        up.end_nodes(self._running)

    def ask(self, service: str, on: bool | None = None, node: str = "", seconds: float = 0.0) -> None:
        """Granted at once, or within a time; otherwise the checklist ends here, with the reason."""
        why = ""

        def granted() -> bool:
            nonlocal why
            why = self._operator.ask(f"{node or self.controller}/{service}", on, ANSWER)
            return not why or self.mode == "tripped"

        self._operator.wait(granted, seconds)
        if why:
            raise self._terminal.refused(why)

    @property
    def mode(self) -> str:
        return self._operator.modes[-1] if self._operator.modes else ""

    def reaches(self, *modes: str, seconds: float = 5.0) -> None:
        if not self._operator.wait(lambda: self.mode in modes, seconds):
            raise self._terminal.refused(f"the robot is '{self.mode}', not {' or '.join(modes)}")

    def stands_up(self) -> None:
        """Arm, stand, and the last stage when the ramp is over."""
        self.ask("stand")
        self.reaches("stand")
        self._terminal.tell("it moves into its stance, slowly")
        self.ask("balance", seconds=RAMP)


def run(options: argparse.Namespace) -> None:
    if importlib.util.find_spec("rclpy") is None:
        raise InputError("ROS 2 is not installed; get it with: pip install humanoid_balance[ros]")
    wiring = config.load(options.wiring)
    options.robot = options.robot or wiring.robot or "human"
    wiring.check_joints(registry.load(options.robot))
    from humanoid_balance.commands.operator_node import OperatorNode

    terminal = Terminal(options.yes)
    with OperatorNode(options.namespace) as operator:
        low = min(options.torque, wiring.torque)
        in_the_hoist(options, terminal, low, operator)
        on_the_ground(options, terminal, wiring.torque, operator)
    print("\nbrought up, pushed and let down")


def in_the_hoist(options: argparse.Namespace, terminal: Terminal, torque: float, operator: OperatorNode) -> None:
    """Boards, calibration, directions, and little torque, with the feet off the ground."""
    terminal.begin("hoist")
    terminal.confirm("The hoist carries the robot, feet off the ground, area free, one person at the emergency stop?")
    terminal.begin("boards")
    with Graph(options, terminal, torque, operator) as graph:
        graph.ask("check", node=graph.plant, seconds=5.0)
        terminal.tell(operator.answer)
        terminal.confirm("Press the emergency stop button, release it: did everything stay off?")
        terminal.begin("calibration")
        for line in operator.joint_table(registry.load(options.robot)):
            terminal.tell(line)
        terminal.confirm("Are these the angles of the robot as it hangs?")
        terminal.begin("directions")
        terminal.confirm("Turned by hand, does every joint count the way its URDF says?")
        terminal.begin(f"low torque: {torque:.0%}")
        graph.ask("hoist", True)
        graph.ask("arm", True)
        graph.reaches("armed")
        terminal.confirm("Moved by hand, does every joint resist like honey?")
        terminal.begin("stance, hanging")
        graph.stands_up()
        graph.reaches("hoist")
        terminal.confirm("Did every joint go the right way, and does it come back when it is pushed?")
        terminal.begin("emergency stop")
        graph.ask("estop")
        graph.reaches("tripped")
        terminal.confirm("Does everything let go?")
        graph.ask("reset")
        graph.reaches("disarmed")


def on_the_ground(options: argparse.Namespace, terminal: Terminal, torque: float, operator: OperatorNode) -> None:
    """Stand, balance, a first push, and back into the ropes."""
    terminal.begin("on the ground")
    terminal.confirm("Lowered until the soles carry the robot, ropes slack?")
    with Graph(options, terminal, torque, operator) as graph:
        graph.ask("check", node=graph.plant, seconds=5.0)
        terminal.tell(operator.answer)
        terminal.begin("stand")
        graph.ask("hoist", False)
        graph.ask("arm", True)
        graph.reaches("armed")
        graph.stands_up()
        graph.reaches("stable")
        terminal.begin("push")
        if operator.push(registry.load(options.robot).mass * FINGER):
            terminal.tell("a simulated robot: pushed forward")
        operator.wait(lambda: graph.mode in ("tripped", "falling"), WATCH)
        terminal.confirm("Pushed with one finger, does it stand?")
        if graph.mode in ("tripped", "falling", "disarmed"):
            raise terminal.refused(f"the robot is '{graph.mode}'")
        terminal.begin("let down")
        terminal.confirm("Does the hoist carry the robot again? The motors let go now")
        graph.ask("arm", False)
        graph.reaches("disarmed")
