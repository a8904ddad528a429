"""The boundary to the world: every robot, real or simulated, is a Plant."""

from __future__ import annotations

from typing import Protocol

from humanoid_balance.types import SensorFrame, TorqueCommand


class Plant(Protocol):
    """``read`` gives the newest sensors, ``write`` sends torques; a simulation moves on by one tick in ``write``."""

    dt: float  # control period [s]

    def read(self) -> SensorFrame: ...

    def write(self, command: TorqueCommand) -> None: ...
