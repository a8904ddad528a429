"""The host's last gate in front of the boards: what is asked of them, and what is latched when one of them drops out.

It mirrors the modes of the boards (``docs/protocol.md``): torque only after all of them confirmed that they are armed;
after a lapse, a lost port, silence or a restart of any board all others brake, until the host has disarmed. After an
emergency stop nothing but the stop is sent until ``reset``, then disarm, then arm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.protocol.vocabulary import ARMED_MODES
from humanoid_balance.safety.bounds import TorqueBounds
from humanoid_balance.safety.glance import finite
from humanoid_balance.types import Array, TorqueCommand


def wanted_mode(command: TorqueCommand) -> Mode:
    """What a command asks of a board."""
    if command.damped:
        return Mode.DAMPING if np.count_nonzero(command.damping) else Mode.DISARMED
    feedback = np.count_nonzero(command.stiffness) or np.count_nonzero(command.damping)
    return Mode.IMPEDANCE if feedback else Mode.TORQUE


class Gate:
    """Decides the mode that goes to all boards. ``reason`` says why torque is withheld."""

    def __init__(self, bounds: TorqueBounds) -> None:
        self.bounds = bounds
        self.stopped = False  # emergency stop, latched
        self.reason = "not armed"
        self._mode = Mode.DISARMED  # that was sent last
        self.latched = True  # brake until the host disarms; nothing is armed before it has done so once
        self._measured = np.zeros((2, bounds.limit.size))  # position and velocity of each joint, as last read

    def stop(self, reason: str) -> None:
        """Emergency stop; the first reason is kept."""
        if not self.stopped:
            self.reason = reason
        self.stopped = self.latched = True
        self._mode = Mode.DISARMED

    def reset(self) -> None:
        """Clear an emergency stop; disarm and arm have to follow."""
        if self.stopped:
            self.stopped, self.reason = False, "not disarmed since the emergency stop"

    def trip(self, reason: str) -> None:
        """Brake until the host has disarmed."""
        if not self.latched:
            self.reason, self.latched = reason, True

    def admit(
        self, command: TorqueCommand, modes: Sequence[Mode], measured: tuple[Array, Array, Array]
    ) -> tuple[Mode, TorqueCommand]:
        """The mode to ask for and the bounded command; ``measured``: position, velocity, torque (n,)."""
        wanted = wanted_mode(command)
        if self.stopped:
            return Mode.DISARMED, command
        if wanted is Mode.DISARMED:
            self.latched, self.reason = False, "not armed"
        else:
            self._watch(command, modes)
        self._mode = self._next(wanted, modes, measured[2])
        seen = np.stack(measured[:2])
        np.copyto(self._measured, seen, where=np.isfinite(seen))
        if self._mode in ARMED_MODES and self._mode is not Mode.DAMPING:
            return self._mode, self.bounds.apply(command, *self._measured)
        return self._mode, command

    def _next(self, wanted: Mode, modes: Sequence[Mode], torque: Array) -> Mode:
        following = self._mode in (Mode.TORQUE, Mode.IMPEDANCE)
        if self.latched:  # those that are armed brake, those that never were stay so
            return Mode.DAMPING if any(mode in (*ARMED_MODES, Mode.LAPSED) for mode in modes) else Mode.DISARMED
        if wanted in (Mode.DISARMED, Mode.DAMPING):
            return wanted
        if not following:
            if self._mode is Mode.DISARMED or not all(mode in ARMED_MODES for mode in modes):
                return self._mode  # the way up has no short cuts
            self.bounds.start(torque)
        self.reason = ""
        return wanted

    def _watch(self, command: TorqueCommand, modes: Sequence[Mode]) -> None:
        """Latch if a board fell out of step, or the command cannot be run."""
        rows = (command.torque, command.position, command.velocity, command.stiffness, command.damping)
        if not all(map(finite, rows)):
            self.trip("a command is not a number")
        for mode in modes:
            allowed = (*ARMED_MODES, Mode.DISARMED) if self._mode in (Mode.DISARMED, Mode.DAMPING) else ARMED_MODES
            if mode not in allowed:
                self.trip(f"a board is {mode.name}")
