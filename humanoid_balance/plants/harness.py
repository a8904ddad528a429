"""A simulated robot in a harness, as a real one hangs in it until somebody takes over."""

from __future__ import annotations

from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.types import SensorFrame, TorqueCommand


class HarnessedPlant:
    """Held still, while time passes, until the first command that is more than damping."""

    def __init__(self, plant: Simulator, held: bool = True) -> None:
        self.plant, self.dt = plant, plant.dt
        self._harness = self.held = held

    def read(self) -> SensorFrame:
        return self.plant.read()

    def write(self, command: TorqueCommand) -> None:
        if self.held and command.damped:
            self.plant.hold()
        else:
            self.held = False
            self.plant.write(command)

    def hang_up(self) -> None:
        """Stand in the nominal stance again, held as in the beginning; time goes on."""
        self.plant.reset(time=self.plant.time)
        self.held = self._harness
