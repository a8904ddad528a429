"""The command of a tick as messages on ``cmd_vel``, ``footstep_plan`` and ``skill``, as an operator would send them.

They are written when they change and, as every wish lasts half a second only, again while they hold. What ends is
written once more as nothing: no velocity, no footsteps, no name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_balance.recording.log_topics import ODOM
from humanoid_balance.types import Array, Command, Foothold

VELOCITY, SKILL, PLAN = "cmd_vel", "skill", "footstep_plan"
AGAIN = 0.1  # as often as a person at a stick [s]
KINDS = {VELOCITY: "geometry_msgs/Twist", PLAN: "nav_msgs/Path", SKILL: "std_msgs/String"}


class WishNotes:
    """Topic and value of what has to be written, tick by tick."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {VELOCITY: (0.0, 0.0, 0.0), PLAN: (), SKILL: ""}
        self._written = dict.fromkeys(KINDS, -np.inf)

    def of(self, command: Command, stamp: float) -> list[tuple[str, Any]]:
        """``stamp``: of the tick [s]."""
        now: dict[str, Any] = {
            VELOCITY: tuple(command.velocity.tolist()), PLAN: command.footsteps,
            SKILL: command.gait or command.skill,
        }  # fmt: skip
        out = []
        for topic, wish in now.items():
            changed = wish is not self._last[topic] and wish != self._last[topic]
            if changed or (any(wish) and stamp - self._written[topic] >= AGAIN):
                out.append((topic, _value(topic, wish)))
                self._last[topic], self._written[topic] = wish, stamp
        return out


def _value(topic: str, wish: Any) -> dict[str, Any]:
    if topic == VELOCITY:
        forward, left, turn = wish
        return {"linear": {"x": [forward], "y": [left]}, "angular": {"z": [turn]}}
    if topic == SKILL:
        return {"data": wish}
    stamp = _time(wish[0].stamp if wish else 0.0)
    return {"header": {"stamp": stamp, "frame_id": ODOM}, "poses": [_pose(step, stamp) for step in wish]}


def _pose(step: Foothold, stamp: dict[str, list[int]]) -> dict[str, Any]:
    turn = pin.Quaternion(step.rotation).coeffs()
    pose = {"position": _numbers(step.position, "xyz"), "orientation": _numbers(turn, "xyzw")}
    return {"header": {"stamp": stamp, "frame_id": step.contact}, "pose": pose}


def _numbers(values: Array, names: str) -> dict[str, list[float]]:
    return {name: [value] for name, value in zip(names, values.tolist(), strict=True)}


def _time(stamp: float) -> dict[str, list[int]]:
    seconds, rest = divmod(round(1e9 * max(stamp, 0.0)), 10**9)
    return {"sec": [seconds], "nanosec": [rest]}
