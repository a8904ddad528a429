"""The protocol of an actuation: what it can deliver now, and what it does deliver in a simulator.

``bounds`` is what the controller may count on: it bounds the torques of the whole-body QP and of the safety box, tick
by tick. ``drive`` is the simulated actuator of one body; a state (a spring's, a muscle's activation) is kept there.
"""

from __future__ import annotations

from typing import Protocol

from humanoid_balance.types import Array


class Drive(Protocol):
    """All actuators of one simulated body."""

    def torque(self, wanted: Array, q: Array, v: Array, dt: float) -> Array:
        """Torques that arrive at the joints (n,) [N m] over the next ``dt`` [s], for ``wanted`` ones.

        ``q`` and ``v`` are the true joint positions [rad] and velocities [rad/s] (n,).
        """
        ...


class Actuation(Protocol):
    """What the actuators of a robot can do."""

    @property
    def constant(self) -> bool:
        """The bounds never change: they are the torque limits of the joints."""
        ...

    def bounds(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Lowest and highest torque at joint positions [rad] and velocities [rad/s] (n,) [N m]; zero lies between."""
        ...

    def drive(self, scale: float) -> Drive:
        """Actuators of a body, at rest; ``scale`` makes all of them weaker or stronger than they should be."""
        ...
