"""Planned contacts on their way back to the estimator: what a hand on a rail does by the plan is not a push.

In one process the loop hands the plan of the last tick to the estimator. Over topics the controller sends it as
``planned_touch``, a std_msgs/Float64MultiArray: the stamp of the frame that it answers [s], then for each contact the
force and moment [N, N m] about a point, and the point [m], world axes. A message without contacts ends it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from humanoid_balance.loop import Tick
from humanoid_balance.nodes.qos import EACH
from humanoid_balance.plants.ros.joints import to_array
from humanoid_balance.types import TouchWrench

TOPIC = "planned_touch"
FORM = "humanoid_balance/planned_touch/1"
WIDTH = 9  # numbers per contact
FRESH = 0.05  # an older plan does not count: whoever made it has gone, and for all we know so has the hand [s]


class TouchSender:
    """Of a controller: every plan with contacts beside the soles, and once that there are none any more."""

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(Float64MultiArray, TOPIC, EACH)
        self._last: Tick | None = None
        self._touching = False

    def tell(self, tick: Tick | None) -> None:
        """Costs nothing while no mode plans such a contact."""
        solution = None if tick is None else tick.solution
        touch = None if solution is None else solution.touch
        if tick is None or tick is self._last or (touch is None and not self._touching):
            return
        self._last, self._touching = tick, touch is not None
        self._publisher.publish(to_message(tick.frame.stamp, touch))


class TouchReceiver:
    """Of an estimator: the plan that counts for a frame."""

    def __init__(self, complain: Callable[[str, str], None]) -> None:
        self._complain = complain
        self._stamp, self._touch = -math.inf, None  # type: float, TouchWrench | None

    def on_message(self, message: Float64MultiArray) -> None:
        dims = message.layout.dim
        row = np.frombuffer(message.data).copy()
        if not dims or dims[0].label != FORM or row.size % WIDTH != 1 or not np.isfinite(row).all():
            what = dims[0].label if dims else "no label"
            self._complain(f"{TOPIC} refused: not of the form {FORM}", f"{what}, {row.size} numbers")
            return
        parts = row[1:].reshape(-1, WIDTH)
        self._stamp, self._touch = row.item(0), TouchWrench(parts[:, :6], parts[:, 6:]) if len(parts) else None

    def at(self, stamp: float) -> TouchWrench | None:
        """For a frame with this stamp [s]; None where nothing is planned, or the plan is of another time."""
        return self._touch if abs(stamp - self._stamp) <= FRESH else None


def to_message(stamp: float, touch: TouchWrench | None) -> Float64MultiArray:
    rows = np.zeros((0, WIDTH)) if touch is None else np.hstack([touch.wrench, touch.position])
    message = Float64MultiArray(data=to_array(np.concatenate([[stamp], rows.ravel()])))
    message.layout.dim = [MultiArrayDimension(label=FORM, size=1 + rows.size, stride=1 + rows.size)]
    return message
