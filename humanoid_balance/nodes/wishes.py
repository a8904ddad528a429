"""What operators and planners want of a controller, over topics: ``cmd_vel``, ``footstep_plan`` and ``skill``.

A wish counts while it is repeated. Silence is measured on the steady clock: a simulation that is paused, or a clock
that is set, must not keep a robot walking whose operator is gone.
"""

from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Path
from std_msgs.msg import String

from humanoid_balance.gaits import library
from humanoid_balance.loop import COMMAND_AGE
from humanoid_balance.nodes import footstep_topics
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND
from humanoid_balance.types import STILL, Command, Foothold

VELOCITY, SKILL = "cmd_vel", "skill"

ENTRIES = (Entry("stamped_cmd_vel", False, "cmd_vel is a TwistStamped, not a Twist"),)


class Wishes:
    """The newest of each topic. ``command`` is called by the thread that polls the inbox."""

    def __init__(self, node: BoxNode) -> None:
        stamped = node.parameters["stamped_cmd_vel"]
        node.inbox.subscribe(TwistStamped if stamped else Twist, VELOCITY, COMMAND, self._on_velocity)
        node.inbox.subscribe(String, SKILL, COMMAND, self._on_skill)
        node.inbox.subscribe(Path, footstep_topics.PLAN, COMMAND, self._on_plan)
        self._node, self._gaits = node, frozenset(library.names())
        self._velocity, self._moved = np.zeros(3), -np.inf  # and when it came, steady clock [s]
        self._gait, self._skill, self._named = "", "", -np.inf
        self._plan: tuple[Foothold, ...] = ()
        self._planned, self._bad_plan = -np.inf, ""
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

    def _on_plan(self, message: Path) -> None:
        self._plan, self._bad_plan = footstep_topics.read(message)
        self._planned = time.monotonic()

    def command(self, stamp: float) -> Command:
        """What is wanted now; ``stamp`` is that of the newest sensor frame [s]. Footsteps go before a velocity."""
        now = time.monotonic()
        moves, named, planned = (now - since <= COMMAND_AGE for since in (self._moved, self._named, self._planned))
        if not (moves or named or planned):
            return STILL
        gait, skill = (self._gait, self._skill) if named else ("", "")
        velocity, plan = self._velocity if moves else STILL.velocity, self._plan if planned else ()
        return Command(stamp, velocity, gait, skill, footsteps=plan)

    def tell(self, refused: str) -> None:
        """Log why a wish is not obeyed, once per reason."""
        if not refused and time.monotonic() - self._planned <= COMMAND_AGE:
            refused = self._bad_plan
        if refused != self._refused:
            self._refused = refused
            if refused:
                self._node.unwell(refused)
