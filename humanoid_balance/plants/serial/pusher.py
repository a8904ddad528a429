"""Pushes on a simulated robot behind a line, as they come to every other simulator: forces that act while they last."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.plants.protocol import WirePush, WireTruth
from humanoid_balance.plants.push_place import link_of, takes_hold
from humanoid_balance.plants.pushes import ExternalForce
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

HOLD = 20_000  # a push that the host does not renew is over after so long, as a board's commands are [µs]


class Pusher:
    """Makes the Push frames of a tick. Of several forces on one link the last that was added acts."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._data = robot.model.createData()
        self._forces: dict[str, tuple[ExternalForce, Array | None]] = {}  # by link, with the point in its frame
        self._acting: set[str] = set()  # links of which the simulator knows a push

    def add(self, force: ExternalForce) -> None:
        self._forces[link_of(self.robot, force)] = (force, None if force.point is None else np.array(force.point))

    def remove(self, force: ExternalForce) -> None:
        """Also one that acts now."""
        self._forces = {link: entry for link, entry in self._forces.items() if entry[0] is not force}

    def frames(self, time: float, stamp: int, truth: WireTruth | None, position: Array) -> list[WirePush]:
        """For the host's ``time`` [s]: ``stamp`` is the simulator's clock [µs], ``position`` the joints' (n,)."""
        frames: list[WirePush] = []
        for link, (force, point) in list(self._forces.items()):
            size = force.force_at(time)
            if time >= force.end:
                del self._forces[link]
            if size == 0.0:
                continue
            if point is None:  # from now on fixed to the link; the ground behind a board is level, at zero
                if truth is None or not np.isfinite(position).all():
                    continue
                at = self._placement(link, truth, position)
                point = at.actInv(takes_hold(force, at.translation, truth.com, 0.0))
                self._forces[link] = (force, point)
            frames.append(WirePush(link, stamp + HOLD, point, size * force.axis, np.zeros(3)))
        pushed = {frame.body for frame in frames}
        frames += [WirePush(link, stamp, np.zeros(3), np.zeros(3), np.zeros(3)) for link in self._acting - pushed]
        self._acting = pushed
        return frames

    def _placement(self, link: str, truth: WireTruth, position: Array) -> pin.SE3:
        q = np.concatenate([truth.base_position, truth.base_quaternion, position])
        pin.forwardKinematics(self.robot.model, self._data, q)
        return pin.updateFramePlacement(self.robot.model, self._data, self.robot.model.getFrameId(link))
