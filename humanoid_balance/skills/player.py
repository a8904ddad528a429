"""Plays a script: where the joints should be, tick by tick. Knows no loop and no simulator; time comes in.

The clock of the script stands still where a key waits for the body to lie or stand as it should, and slows down where
the joints lag behind: a leg that is stuck under the body is not torn out. Waiting too long ends in giving up, with the
reason.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.curve import Curve
from humanoid_balance.skills.script import FEET, Script
from humanoid_balance.types import Array

LAG = 1.2  # the clock slows down from this joint error on and stands at twice as much [rad]: weak arms sag by 0.8
# Mean speed at which the first key is reached at most [rad/s]. Arms that come from far hit the ground at 30 rad/s; a
# roll needs its swing, getting up does not.
SWING, GENTLE = 6.0, 4.0
STUCK = 2.0  # time that lagging joints may cost altogether [s]; then the body is stuck


class Player:
    """``begin``, then ``update`` once a tick until ``done`` or ``gave_up`` says why it is over."""

    def __init__(self, robot: Robot, script: Script) -> None:
        self.robot, self.script = robot, script
        self._tilt = Tilt(robot) if any(key.world.any() for key in script.keys) else None
        self.done = self.gave_up = ""

    def begin(self, position: Array) -> None:
        """From the joint positions that are (n,) [rad]."""
        self._first, first = position, self.script.keys[0]
        far = float(np.max(np.abs(first.pose - position)[~first.world], initial=0.0))
        self._shift(0, max(0.0, far / (GENTLE if self.script.ends == FEET else SWING) - first.at))
        self._draw()
        self.clock = self.waited = self.lagged = 0.0
        self.next = 0  # key that comes
        self.done = self.gave_up = ""

    def _draw(self) -> None:
        """The curves through the keys."""
        keys = self.script.keys
        self._curve = Curve([0.0, *(key.at for key in keys)], np.array([self._first, *(key.pose for key in keys)]))
        world = [np.zeros(self.robot.n), *(key.world.astype(float) for key in keys)]
        self._world = Curve(self._curve.times, np.array(world)) if self._tilt else None

    @property
    def last(self) -> bool:
        """On the way to the last key, or past it."""
        return self.next >= len(self.script.keys) - 1

    def update(self, dt: float, q: Array, side: str, load: float) -> tuple[Array, Array]:
        """Wanted position and velocity (n,), ``dt`` after the last call.

        ``q``: Pinocchio configuration; ``side``: how the body lies; ``load``: of both soles, as a share of the weight.
        """
        robot, curve = self.robot, self._curve
        position, velocity = curve.at(self.clock)
        if self._tilt is not None and self._world is not None:
            share, _ = self._world.at(self.clock)
            position = position - share * self._tilt.of(q)
        wanted = np.clip(position, robot.lower, robot.upper)
        rate = 0.0 if self._waits(dt, side, load) else self._pace(dt, wanted - q[7:])
        self._advance(dt * rate, side, load)
        return wanted, rate * velocity

    def _waits(self, dt: float, side: str, load: float) -> bool:
        """At a key whose condition is not met."""
        if self.next == 0 or self.done:
            return False
        key = self.script.keys[self.next - 1]
        if self.clock > key.at or key.until is None or key.until.met(side, load):
            return False
        self.waited += dt
        if self.waited > key.patience and not self.gave_up:
            found = f"lies {side}, {load:.0%} of the weight on the soles"
            self.gave_up = f"key {self.next} waits to {key.until}: {found}"
        return True

    def _pace(self, dt: float, error: Array) -> float:
        """How fast the clock goes, 0 to 1."""
        worst = int(np.argmax(np.abs(error)))
        rate = min(1.0, max(0.0, 2.0 - abs(float(error[worst])) / LAG))
        if not self.done:
            self.lagged += (1.0 - rate) * dt
        if self.lagged > STUCK and not self.gave_up:
            joint = self.robot.joint_names[worst]
            self.gave_up = f"joint '{joint}' is {error[worst]:.2f} rad behind, and {self.lagged:.1f} s are lost"
        return rate

    def _advance(self, dt: float, side: str, load: float) -> None:
        """The clock never runs past a key that waits."""
        if self.done:
            return
        keys = self.script.keys
        self.clock += dt
        while self.next < len(keys) and self.clock >= keys[self.next].at:
            key = keys[self.next]
            self.next += 1
            self.waited = 0.0
            self._leave_out(side, load)
            keys = self.script.keys
            if key.until is not None:
                self.clock = key.at
                return
        if self.next == len(keys) and self.clock > keys[-1].at:
            self.done = "the script is over"

    def _leave_out(self, side: str, load: float) -> None:
        """The key that comes is not needed: those after it come sooner."""
        keys, k = self.script.keys, self.next
        unless = keys[k].unless if k < len(keys) else None
        if unless is None or not unless.met(side, load):
            return
        gained = keys[k].at - keys[k - 1].at
        self.script = replace(self.script, keys=(*keys[:k], *keys[k + 1 :]))
        self._shift(k, -gained)
        self._draw()

    def _shift(self, k: int, later: float) -> None:
        """Keys from the k-th on come later [s]."""
        keys = self.script.keys
        moved = (replace(key, at=key.at + later) for key in keys[k:])
        self.script = replace(self.script, keys=(*keys[:k], *moved))


class Tilt:
    """Angle of each joint's parent against the vertical, about the joint's axis; zero in the nominal stance.

    A target against the world is the target against the parent minus this (SIMBICON's torso and swing hip; Torres T1).
    """

    def __init__(self, robot: Robot) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        model, data = self._model, self._data
        pin.computeJointJacobians(model, data, pin.neutral(model))
        self._axes = []  # of each joint in its own frame
        for j in range(2, model.njoints):
            axis = data.oMi[j].rotation.T @ data.J[3:, 6 + j - 2]
            self._axes.append(axis)
        self._zero = np.zeros(robot.n)
        self._zero = self.of(robot.q_nominal)

    def of(self, q: Array) -> Array:
        """(n,) [rad]."""
        model, data = self._model, self._data
        pin.forwardKinematics(model, data, q)
        angles = np.zeros(len(self._axes))
        for i, axis in enumerate(self._axes):
            joint = i + 2
            parent = data.oMi[model.parents[joint]].rotation @ model.jointPlacements[joint].rotation
            up = parent.T @ (0.0, 0.0, 1.0)
            first = _reference(axis)
            angles[i] = math.atan2(-up @ np.cross(axis, first), up @ first)
        turned: Array = (angles - self._zero + math.pi) % (2 * math.pi) - math.pi
        return turned


def _reference(axis: Array) -> Array:
    """A unit vector across an axis."""
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    unit: Array = across / np.linalg.norm(across)
    return unit
