"""What operators and planners want of a controller, over topics: ``cmd_vel``, ``footstep_plan`` and ``skill``.

A wish counts while it is repeated. Silence is measured on the steady clock: a simulation that is paused, or a clock
that is set, must not keep a robot walking whose operator is gone.
"""

from __future__ import annotations

import time
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Path
from std_msgs.msg import String

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import COMMAND
from humanoid_balance.recording.wanted import Wanted
from humanoid_balance.recording.wish_notes import PLAN, SKILL, VELOCITY
from humanoid_balance.types import Command

ENTRIES = (Entry("stamped_cmd_vel", False, "cmd_vel is a TwistStamped, not a Twist"),)


def kinds(stamped: bool) -> dict[str, type]:
    """Topic -> type of its messages; ``stamped``: the parameter ``stamped_cmd_vel``."""
    return {VELOCITY: TwistStamped if stamped else Twist, SKILL: String, PLAN: Path}


class Wishes:
    """``command`` is called by the thread that polls the inbox."""

    def __init__(self, node: BoxNode) -> None:
        self._node, self._wanted, self._refused = node, Wanted(), ""
        for topic, kind in kinds(node.parameters["stamped_cmd_vel"]).items():
            node.inbox.subscribe(kind, topic, COMMAND, self._hears(topic))

    def _hears(self, topic: str) -> Any:
        hear = self._wanted.hear[topic]
        return lambda message: hear(message, time.monotonic())

    def command(self, stamp: float) -> Command:
        """What is wanted now; ``stamp`` is that of the newest sensor frame [s]."""
        return self._wanted.command(stamp, time.monotonic())

    def tell(self, refused: str) -> None:
        """Log why a wish is not obeyed, once per reason."""
        refused = refused or self._wanted.bad_plan(time.monotonic())
        if refused != self._refused:
            self._refused = refused
            if refused:
                self._node.unwell(refused)
