"""A finished run of any experiment: what figures, video, report and viewer need to show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.record import Record
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Array, Foothold, Push


@dataclass
class Run:
    """``title`` and ``result`` are the experiment's own: one line, and the object that ``--json`` prints."""

    settings: RunSettings
    pushes: tuple[PushProfile, ...]
    record: Record  # tick by tick
    reported: list[Push]  # pushes as the observer saw them, each when its impulse was complete
    times: dict[str, Array]  # seconds of each tick by stage of the loop, and ``tick``: all but the plant
    dt: float  # control period [s]
    wall: float  # seconds the run took
    cpu: float  # and of these its own: less than ``wall`` on a busy machine
    commanded: Array | None = None  # velocity, tick by tick: forward, left [m/s], turn [rad/s] (k, 3)
    plan: tuple[Foothold, ...] = ()  # footsteps that were commanded last
    title: str = ""
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def robot(self) -> Robot:
        """The simulated body."""
        return self.record.robot

    @property
    def main_push(self) -> PushProfile | None:
        """The push that matters most."""
        acting = [push for push in self.pushes if push.force and push.duration]
        return max(acting, key=lambda push: abs(push.force) * push.duration, default=None)
