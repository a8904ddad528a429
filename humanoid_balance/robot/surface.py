"""A surface of the body that can push on something."""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

from humanoid_balance.types import Array


@dataclass(frozen=True, eq=False)
class Surface:
    """A flat convex patch of a link. Its frame has x and y along the patch and z into the body."""

    name: str
    joint: int  # of the Pinocchio model: the link that it is part of moves with it
    placement: pin.SE3  # of its frame, in the frame of that joint
    corners: Array  # in that frame, counter-clockwise (k, 3) [m]
    friction: float  # counted on, where the reference does not say otherwise
    sensed: bool  # a force sensor measures its wrench; True for the soles only
