"""Footstep plans in YAML, and how well one was followed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.experiments.stride import Footfall
from humanoid_balance.recording.record import Record
from humanoid_balance.types import SOLES, Foothold
from humanoid_balance.yaml_file import Reader, read

FEET = {"left": 0, "right": 1}
SETTLE = 0.1  # a foot is measured so long after it came down: it has found the ground and carries [s]
FARTHEST = 1e3  # coordinates beyond this are a mistake [m]

Plan = tuple[Foothold, ...]


def load(file: Path) -> Plan:
    """YAML: ``footsteps``, a list of ``{foot: left, x: M, y: M, yaw: RAD}``, the next first."""
    reader = read(file)
    plan = footsteps(reader)
    reader.done("footsteps")
    return plan


def footsteps(reader: Reader) -> Plan:
    """The list ``footsteps`` of a section: sole frames in the frame in which the robot was started."""
    return tuple(_footstep(section) for section in reader.sections("footsteps"))


def _footstep(section: Reader) -> Foothold:
    foot = section.take("foot", allowed="left or right")
    if foot not in FEET:
        raise section.bad("foot", foot, "left or right")
    x, y = (section.number(key, low=-FARTHEST, high=FARTHEST) for key in ("x", "y"))
    yaw = section.number("yaw", 0.0, -math.tau, math.tau)
    section.done("foot, x, y, yaw")
    return foothold(FEET[foot], x, y, yaw)


def foothold(side: int, x: float, y: float, yaw: float) -> Foothold:
    """On level ground; height and tilt are the ground's."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    rotation = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return Foothold(SOLES[side], np.array([x, y, 0.0]), rotation, 0.0)


def followed(record: Record, landings: Sequence[Footfall], plan: Plan, since: float) -> dict[str, Any]:
    """How a plan that was commanded ``since`` a time [s] was followed: footsteps taken, and how far off.

    ``place_error_max`` [m] and ``yaw_error_max_deg`` are in odom, where plans are made; what odometry adds is ``true``.
    """
    time, places, true_places, yaws = record["time"], [], [], []
    rest = list(plan)
    for landing in landings:
        if not rest or time[landing.row] < since or rest[0].contact != SOLES[landing.foot]:
            continue
        step, k = rest.pop(0), min(int(np.searchsorted(time, time[landing.row] + SETTLE)), record.length - 1)
        moved = record["true_sole_position"][k, landing.foot] - record["true_sole_position"][0, landing.foot]
        truly = record["sole_position"][0, landing.foot] + moved
        places.append(_distance(record["sole_position"][k, landing.foot], step.position))
        true_places.append(_distance(truly, step.position))
        yaws.append(abs(math.remainder(_yaw(record["sole_rotation"][k, landing.foot]) - _yaw(step.rotation), math.tau)))
    return {
        "planned": len(plan),
        "taken": len(places),
        "place_error_max": max(places, default=None),
        "true_place_error_max": max(true_places, default=None),
        "yaw_error_max_deg": math.degrees(max(yaws)) if yaws else None,
    }


def _distance(a: Any, b: Any) -> float:
    return float(np.linalg.norm((a - b)[:2]))


def _yaw(rotation: Any) -> float:
    return math.atan2(float(rotation[1, 0]), float(rotation[0, 0]))
