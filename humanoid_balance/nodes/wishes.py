"""What operators and planners want of a controller, over topics: ``cmd_vel`` and ``skill``.

A wish counts while it is repeated. Silence is measured on the steady clock: a simulation that is paused, or a clock
that is set, must not keep a robot walking whose operator is gone.
"""

from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from std_msgs.msg import String

from humanoid_balance.gaits import library
from humanoid_balance.loop import COMMAND_AGE
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND
from humanoid_balance.types import STILL, Command

VELOCITY, SKILL = "cmd_vel", "skill"

ENTRIES = (Entry("stamped_cmd_vel", False, "cmd_vel is a TwistStamped, not a Twist"),)


class Wishes:
    """The newest of each topic. ``command`` is called by the thread that polls the inbox."""

    def __init__(self, node: BoxNode) -> None:
        stamped = node.parameters["stamped_cmd_vel"]
        node.inbox.subscribe(TwistStamped if stamped else Twist, VELOCITY, COMMAND, self._on_velocity)
        node.inbox.subscribe(String, SKILL, COMMAND, self._on_skill)
        self._node, self._gaits = node, frozenset(library.names())
        self._velocity, self._moved = np.zeros(3), -np.inf  # and when it came, steady clock [s]
        self._gait, self._skill, self._named = "", "", -np.inf
        self._refused = ""

    def _on_velocity(self, message: Twist | TwistStamped) -> None:
        """What is not a number goes on to the loop, which refuses it with the reason; a stop comes of it."""
        twist = message.twist if isinstance(message, TwistStamped) else message
        self._velocity = np.array((twist.linear.x, twist.linear.y, twist.angular.z))
        self._moved = time.monotonic()

    def _on_skill(self, message: String) -> None:
        gait = message.data in self._gaits
        self._gait, self._skill = (message.data, "") if gait else ("", message.data)
        self._named = time.monotonic()

    def command(self, stamp: float) -> Command:
        """What is wanted now; ``stamp`` is that of the newest sensor frame [s]."""
        now = time.monotonic()
        moves, named = now - self._moved <= COMMAND_AGE, now - self._named <= COMMAND_AGE
        if not moves and not named:
            return STILL
        gait, skill = (self._gait, self._skill) if named else ("", "")
        return Command(stamp, self._velocity if moves else STILL.velocity, gait, skill)

    def tell(self, refused: str) -> None:
        """Log why a wish is not obeyed, once per reason."""
        if refused != self._refused:
            self._refused = refused
            if refused:
                self._node.unwell(refused)
