"""Pushes from the topic ``push``: a wrench acts from its stamp on, for 0.1 s or until the next one.

A stamp of zero, or one of another clock, acts now. Messages may be sent up to a minute ahead of their time, so that a
push begins and ends with the very tick it was planned for, however fast the simulation runs; one that comes too late
is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
from geometry_msgs.msg import WrenchStamped

from humanoid_balance.plants.pushes import ExternalForce
from humanoid_balance.plants.ros.stamps import from_time
from humanoid_balance.types import Array

TOPIC = "push"
HOLD = 0.1  # a push ends this long after its last message [s]
AHEAD = 60.0  # [s]
STRONGEST = 5000.0  # [N]
KEPT = 10_000  # messages that wait for their time
FRAMES = ("", "world", "odom", "map")
EARLY = 1e-9  # a tick that is this much early is the one that was meant [s]


class Pushable(Protocol):
    """A simulated body."""

    @property
    def time(self) -> float: ...  # [s]

    def add_push(self, push: ExternalForce) -> None: ...

    def remove_push(self, push: ExternalForce) -> None: ...


class LivePush:
    """A force that changes while it acts; the simulator sees it as a profile without an end."""

    point: tuple[float, float, float] | None = None
    end = math.inf

    def __init__(self, force: Array, link: str | None = None, height: float | None = None) -> None:
        self.axis = force  # world (3,) [N]
        self.link, self.height = link, height

    def force_at(self, time: float) -> float:
        return 1.0


class PushInput:
    """Takes messages, and pushes the plant when their time has come. ``update`` once a tick, before the physics.

    They act on the torso at the CoM, on the origin of another ``link``, or at a ``height`` above the ground [m].
    """

    def __init__(
        self,
        plant: Pushable,
        complain: Callable[[str, str], None],
        link: str | None = None,
        height: float | None = None,
    ) -> None:
        self._plant, self._complain = plant, complain
        self._place = link, height
        self._waiting: list[tuple[float, Array]] = []  # start [s], force [N], sorted by start
        self._acting: LivePush | None = None
        self._until = -math.inf

    def on_message(self, message: WrenchStamped) -> None:
        push = message.wrench
        force = np.array((push.force.x, push.force.y, push.force.z))
        if not np.linalg.norm(force) <= STRONGEST:
            self._complain("push refused: force", f"{force.tolist()} N; allowed: up to {STRONGEST:g} N")
            return
        if push.torque.x or push.torque.y or push.torque.z:
            self._complain("push refused: it has a torque", "only the force can be pushed with")
            return
        if message.header.frame_id not in FRAMES:
            self._complain("push refused: frame", f"'{message.header.frame_id}'; allowed: world, odom, map or none")
            return
        if len(self._waiting) >= KEPT:
            self._complain("push refused: too many messages wait for their time", str(KEPT))
            return
        now, start = self._plant.time, from_time(message.header.stamp)
        if start == 0.0 or not now - AHEAD < start < now + AHEAD:
            start = now
        if start <= now - HOLD:
            self._complain("push refused: too late", f"by {now - start:.2f} s")
            return
        self._waiting.append((start, force))
        self._waiting.sort(key=lambda entry: entry[0])  # keeps the order of those with the same start

    def update(self) -> None:
        now = self._plant.time + EARLY
        while self._waiting and self._waiting[0][0] <= now:
            start, force = self._waiting.pop(0)
            self._until = start + HOLD if force.any() else -math.inf
            if self._acting is not None:
                self._acting.axis = force
            elif force.any():
                self._acting = LivePush(force, *self._place)
                self._plant.add_push(self._acting)
        if now >= self._until:
            self.stop()

    def stop(self) -> None:
        """Whatever pushes, pushes no more."""
        if self._acting is not None:
            self._plant.remove_push(self._acting)
            self._acting = None

    @property
    def force(self) -> Array:
        """Acting now, world (3,) [N]."""
        return self._acting.axis if self._acting is not None else np.zeros(3)
