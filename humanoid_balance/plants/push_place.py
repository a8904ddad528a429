"""Where a push takes hold of a body: one answer for every simulator."""

from __future__ import annotations

import difflib

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.plants.pushes import ExternalForce
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

REACH = 2.0  # nothing of a standing body is higher than this, in heights of its CoM


def links(robot: Robot) -> list[str]:
    """Links that can be pushed, from the base outward."""
    return [frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY]


def link_of(robot: Robot, push: ExternalForce) -> str:
    """The link that a force acts on; complains about one that the robot has not, and about a height above its head."""
    link = push.link or robot.config.torso
    known = links(robot)
    if link not in known:
        near = difflib.get_close_matches(link, known, 3, 0.0)
        raise InputError(f"push link '{link}': the robot has no such link; allowed: one of its {len(known)}, like "
                         f"{', '.join(near)}")  # fmt: skip
    highest = REACH * robot.com_height
    if push.height is not None and push.height > highest:
        raise InputError(
            f"push height is {push.height:g} m; allowed: 0 to {highest:.2f}, as high as {robot.spec} reaches"
        )
    return link


def takes_hold(push: ExternalForce, origin: Array, com: Array, ground: float) -> Array:
    """The point at which a force without a ``point`` of its own begins to act, world (3,).

    ``origin`` of the link's frame and ``com`` of the body (3,), ``ground`` height below it [m], all of that moment.
    """
    place = np.array(com if push.link is None else origin)
    if push.height is not None:
        place[2] = ground + push.height
    return place
