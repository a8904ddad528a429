"""One request to the controller of a running graph: arm, disarm, stand, balance, stop, reset."""

from __future__ import annotations

import argparse
import importlib.util

from humanoid_balance.commands.common import namespace
from humanoid_balance.errors import InputError

APPEAR = 5.0  # nodes that run are found within this time [s]
ANSWER = 15.0  # the longest request, a reset of boards that brake, takes half of it [s]


class Request:
    """A subcommand: the service of the controller that it calls."""

    def __init__(self, text: str, service: str, on: bool | None, done: str) -> None:
        """``text`` is for the help, ``on`` the data of a SetBool (None: a Trigger), ``done`` what a grant prints."""
        self.__doc__ = text
        self.service, self.on, self.done = service, on, done

    def configure(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--namespace", type=namespace, default="", metavar="NAME", help="of the robot's nodes")

    def run(self, options: argparse.Namespace) -> None:
        if importlib.util.find_spec("rclpy") is None:
            raise InputError("ROS 2 is not installed; get it with: pip install humanoid_balance[ros]")
        from humanoid_balance.commands.operator_node import OperatorNode

        with OperatorNode(options.namespace) as operator:
            controller = operator.controller(APPEAR)
            if not controller:
                where = options.namespace.strip("/") or "/"
                raise InputError(f"no controller runs in namespace '{where}'; start one with: humanoid-balance up")
            why = operator.ask(f"{controller}/{self.service}", self.on, ANSWER)
            if self.service == "estop":
                why = operator.stop_plant() or why
        if why:
            raise InputError(f"refused: {why}")
        print(f"{controller}: {self.done}")


REQUESTS = {
    "arm": Request("Arm motors and controller of a running graph.", "arm", True, "armed; next: stand"),
    "disarm": Request("Disarm controller and motors: they let go at once.", "arm", False, "disarmed"),
    "stand": Request("Lead an armed robot into its stance.", "stand", None, "standing up; next: balance"),
    "balance": Request("Let the controller balance a robot that stands.", "balance", None, "balances"),
    "stop": Request("Emergency stop of controller and motors.", "estop", None, "stopped; next: reset, then arm"),
    "reset": Request("Clear a stop or a trip of controller, motors and estimate.", "reset", None, "reset; next: arm"),
}
