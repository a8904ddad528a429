"""Writes a script as the YAML that ``script.load`` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.script import Script
from humanoid_balance.yaml_file import read

DIGITS = 4  # of an angle [rad]: finer than any encoder


def write(
    file: Path, script: Script, robot: Robot, provenance: dict[str, Any], gains: tuple[float, float] = (1.0, 1.0)
) -> None:
    """All that the original file says, with the key poses of ``script``, stiffness and damping times ``gains``."""
    data = read(script.file).data
    last = np.clip(np.zeros(robot.n), robot.lower, robot.upper)
    keys = []
    for key, old in zip(script.keys, data["keys"], strict=True):
        changed = [i for i in range(robot.n) if abs(key.pose[i] - last[i]) > 0.5 * 10**-DIGITS or key.world[i]]
        entry: dict[str, Any] = {"at": round(key.at, 3)}
        for kind, wanted in (("pose", False), ("world", True)):
            values = {robot.joint_names[i]: _inside(robot, i, key.pose[i]) for i in changed if key.world[i] == wanted}
            if values:
                entry[kind] = values
        keys.append(entry | {k: v for k, v in old.items() if k in ("until", "unless", "patience")})
        last = key.pose
    data["keys"], data["provenance"] = keys, provenance
    if gains != (1.0, 1.0):
        for entry in data["gains"].values():
            entry["stiffness"] = round(entry["stiffness"] * gains[0], 1)
            entry["damping"] = round(entry["damping"] * gains[1], 2)
    text = yaml.safe_dump(data, sort_keys=False, width=120, default_flow_style=None)
    file.write_text(text, encoding="utf-8")


def _inside(robot: Robot, joint: int, value: float) -> float:
    """Rounded toward the middle of the range."""
    low, high = float(robot.lower[joint]), float(robot.upper[joint])
    rounded = round(float(value), DIGITS)
    step = 10**-DIGITS
    return float(round(rounded + step * bool(rounded < low) - step * bool(rounded > high), DIGITS))
