"""What operators and planners want, from messages: ``cmd_vel``, ``footstep_plan`` and ``skill``, live or recorded.

A wish counts while it is repeated. The clock that measures silence is the caller's: the steady one in a running
controller, that of the record in a replay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Pose, Twist, TwistStamped
from nav_msgs.msg import Path
from std_msgs.msg import String

from humanoid_balance.gaits import library
from humanoid_balance.loop import COMMAND_AGE
from humanoid_balance.plants.ros.stamps import from_time
from humanoid_balance.recording.log_topics import ODOM
from humanoid_balance.recording.wish_notes import PLAN, SKILL, VELOCITY
from humanoid_balance.types import STILL, Command, Foothold

UNIT = 0.1  # a quaternion whose length is further from 1 is none


class Wanted:
    """The newest of each topic, and when it came."""

    def __init__(self) -> None:
        self._gaits = frozenset(library.names())
        self._velocity, self._moved = np.zeros(3), -math.inf  # and when it came [s]
        self._gait, self._skill, self._named = "", "", -math.inf
        self._plan: tuple[Foothold, ...] = ()
        self._planned, self._bad_plan = -math.inf, ""
        self.hear: dict[str, Callable[[Any, float], None]] = {  # topic -> what takes a message and its time [s]
            VELOCITY: self._on_velocity, SKILL: self._on_skill, PLAN: self._on_plan,
        }  # fmt: skip

    def _on_velocity(self, message: Twist | TwistStamped, time: float) -> None:
        """What is not a number goes on to the loop, which refuses it with the reason; a stop comes of it."""
        twist = message.twist if isinstance(message, TwistStamped) else message
        self._velocity, self._moved = np.array((twist.linear.x, twist.linear.y, twist.angular.z)), time

    def _on_skill(self, message: String, time: float) -> None:
        gait = message.data in self._gaits
        self._gait, self._skill = (message.data, "") if gait else ("", message.data)
        self._named = time

    def _on_plan(self, message: Path, time: float) -> None:
        (self._plan, self._bad_plan), self._planned = footsteps(message), time

    def command(self, stamp: float, time: float) -> Command:
        """What is wanted at a time [s]; ``stamp`` is that of the newest frame. Footsteps go before a velocity."""
        moves, named, planned = (time - since <= COMMAND_AGE for since in (self._moved, self._named, self._planned))
        if not (moves or named or planned):
            return STILL
        gait, skill = (self._gait, self._skill) if named else ("", "")
        velocity, plan = self._velocity if moves else STILL.velocity, self._plan if planned else ()
        return Command(stamp, velocity, gait, skill, footsteps=plan)

    def bad_plan(self, time: float) -> str:
        """Why the plan that counts at a time [s] cannot be read; usually empty."""
        return self._bad_plan if time - self._planned <= COMMAND_AGE else ""


def footsteps(message: Path) -> tuple[tuple[Foothold, ...], str]:
    """The plan, or why it is none. Its stamp is part of it: the same footsteps with a new one are a new plan."""
    frame = message.header.frame_id
    if frame not in ("", ODOM):
        return (), f"footstep_plan: frame '{frame}'; allowed: {ODOM}, and l_sole or r_sole for each pose"
    stamp = from_time(message.header.stamp)
    return tuple(_foothold(pose.header.frame_id, pose.pose, stamp) for pose in message.poses), ""


def _foothold(contact: str, pose: Pose, stamp: float) -> Foothold:
    """What is not a number stays so: the loop refuses it with the reason."""
    p, q = pose.position, pose.orientation
    turn = np.array((q.x, q.y, q.z, q.w))
    size = float(np.linalg.norm(turn))
    turn *= 1.0 / size if abs(size - 1.0) < UNIT else math.nan
    return Foothold(contact, np.array((p.x, p.y, p.z)), pin.Quaternion(turn).toRotationMatrix(), stamp)
