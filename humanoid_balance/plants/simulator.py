"""What an experiment asks of a simulator, and the simulators there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.plant import Plant
from humanoid_balance.plants.pushes import ExternalForce, PushProfile
from humanoid_balance.plants.truth import Truth
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array


class Simulator(Plant, Protocol):
    """A plant whose robot can be pushed, whose truth is known, and which starts and ends."""

    robot: Robot
    options: PlantOptions

    @property
    def time(self) -> float: ...  # [s]

    def add_push(self, push: ExternalForce) -> None: ...

    def remove_push(self, push: ExternalForce) -> None: ...

    def hold(self) -> None: ...  # one control period passes with the body held still

    def fell(self) -> bool: ...

    def truth(self) -> Truth: ...

    def reset(self, *, time: float = 0.0) -> None: ...

    def lay(self, q: Array) -> None: ...  # at rest, without torque, in a Pinocchio configuration

    def close(self) -> None: ...


def open_simulator(name: str, robot: Robot, options: PlantOptions, pushes: Sequence[PushProfile]) -> Simulator:
    """One of the SIMULATORS of ``world``, standing in the nominal stance."""
    if name == "gazebo":
        from humanoid_balance.plants.gazebo.plant import GazeboPlant  # brings pyserial, which nobody else needs

        return GazeboPlant(robot, options, pushes)
    return MujocoPlant(robot, options, pushes)
