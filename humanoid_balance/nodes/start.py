"""Which nodes make up a running system; launch files and ``humanoid-balance up`` start the same ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from humanoid_balance.nodes.rank import PRIORITY
from humanoid_balance.plants.serial import config
from humanoid_balance.robot import registry

SEPARATE_RATE = 500.0  # of three processes that talk over topics [Hz]
STACK_RATE = 1000.0  # of one process [Hz]


@dataclass(frozen=True)
class NodeStart:
    """An executable of the package with its parameters."""

    executable: str
    parameters: dict[str, Any] = field(default_factory=dict)
    remappings: dict[str, str] = field(default_factory=dict)

    def arguments(self, namespace: str, files: list[Path]) -> list[str]:
        """What stands behind the executable where there is no launch system."""
        out = ["--ros-args"]
        if namespace:
            out += ["-r", f"__ns:=/{namespace.strip('/')}"]
        for source, target in self.remappings.items():
            out += ["-r", f"{source}:={target}"]
        for file in files:
            out += ["--params-file", str(file)]
        for name, value in self.parameters.items():
            text = yaml.safe_dump(value, default_flow_style=True).split("\n")[0]
            out += ["-p", f"{name}:={text}"]
        return out


def parameter_files(robot: str) -> list[Path]:
    """``config/ros/ROBOT.yaml`` where there is one."""
    name, _ = registry.parse(robot)
    file = registry.config_folder() / "ros" / f"{name}.yaml"
    return [file] if len(Path(name).parts) == 1 and file.is_file() else []


def controller(robot: str, rate: float, simulated: bool, priority: int = 0) -> list[NodeStart]:
    """Estimator and controller for a plant on topics; a real robot is brought up in stages."""
    common = {"robot": robot, "autostart": True, "rate": rate, "priority": priority}
    starting = {"auto_arm": simulated, "staged": not simulated}
    return [NodeStart("state_estimator", common), NodeStart("balance_controller", {**common, **starting})]


def simulation(
    robot: str, rate: float = 0.0, separate: bool = False, recorded: bool = False, **world: Any
) -> list[NodeStart]:
    """A simulated robot that stands by itself; ``rate`` 0 takes the usual one [Hz]. ``world``: parameters of it."""
    rate = rate or (SEPARATE_RATE if separate else STACK_RATE)
    common = {"robot": robot, "autostart": True, "rate": rate}
    if not separate:
        alone = {**common, **world, "auto_arm": True, "full_rate": recorded, "recorded": recorded}
        return [NodeStart("balance_stack", alone)]
    return [NodeStart("simulator", {**common, **world, "recorded": recorded}), *controller(robot, rate, simulated=True)]


def recorder(robot: str, file: str, rotate: float = 0.0, keep: int = 0) -> NodeStart:
    """``rotate``: size at which the next file begins [MB]; ``keep``: newest files that stay. 0: no limit."""
    return NodeStart("recorder", {"robot": robot, "autostart": True, "file": file, "rotate": rotate, "keep": keep})


def teleop(robot: str, source: str, **parameters: Any) -> NodeStart:
    return NodeStart("push_teleop", {"robot": robot, "autostart": True, "input": source, **parameters})


def boards(
    robot: str, rate: float = 0.0, separate: bool = True, priority: int = PRIORITY, **wiring: Any
) -> list[NodeStart]:
    """A robot on motor boards, disarmed. ``wiring``: ports or a wiring file.

    ``rate`` 0 [Hz] takes the wiring file's, or the usual one.
    """
    file = wiring.get("wiring")
    period = config.load(Path(file)).period if file else None
    rate = rate or (1.0 / period if period else SEPARATE_RATE if separate else STACK_RATE)
    common = {"robot": robot, "autostart": True, "rate": rate, "priority": priority}
    if not separate:
        return [NodeStart("balance_stack", {**common, **wiring, "plant": "serial", "staged": True})]
    return [NodeStart("hardware", {**common, **wiring}), *controller(robot, rate, False, priority)]
