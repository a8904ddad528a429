"""An operator's reset of stopped boards, repeated until it has arrived."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.serial.line import Bus

ASK_AGAIN = 0.1  # between two Resets [s]
RESETTING = 2.0  # how long a reset goes on trying [s]


class Resets:
    """Boards whose stop was reset, until they leave it. A later stop is another one: it stays latched."""

    def __init__(self) -> None:
        self._buses: set[Bus] = set()
        self._until, self._sent = 0.0, 0.0  # [s]

    def begin(self, buses: Sequence[Bus], now: float) -> None:
        self._buses = {bus for bus in buses if bus.mode is Mode.STOPPED}
        self._until, self._sent = now + RESETTING, 0.0
        self.repeat(now)

    def clear(self) -> None:
        self._buses.clear()

    def repeat(self, now: float) -> None:
        """A frame may get lost; ``now`` [s]."""
        self._buses = {bus for bus in self._buses if bus.mode is Mode.STOPPED}
        if now > self._until:
            self._buses.clear()
        if self._buses and now - self._sent >= ASK_AGAIN:
            self._sent = now
            for bus in self._buses:
                bus.reset()
