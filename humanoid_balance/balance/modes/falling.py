"""Falling: nothing more can be won on the feet. Give way, protect knees and arms, go limp on the ground."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Array, JointReference, Reference

LEAN = 1.0  # beyond this the torso does not come back over the feet [rad]
LOWEST = 0.62  # CoM height at which standing is over, of the standing height: knees are folded
LOW = 0.85  # of the standing height: a deep bow over standing feet is not yet a fall, one that sinks is
SUNK_REACH = 0.1  # ``out_of_reach`` of a body that has sunk, or whose trunk is bent, already [CoM heights]
# A joint faster than these times its limit and this much more [rad/s] is thrown. The safety box trips a little above it
# and would leave a robot that lies for good; beside its feet such a body falls. A landing is over sooner [s].
THROWN, THROWN_MARGIN, THROWN_FOR = 1.4, 3.0, 0.005
LYING, AT_REST = 0.15, 0.15  # a CoM slower than this for so long lies on the ground [m/s, s]
LONGEST = 2.0  # no fall takes longer: from 1 m it takes half a second, and some to roll out [s]
TUCK = 0.35  # joints go this share of the distance to the middle of their range: knees and elbows bend
GIVE = 0.7  # share of the torque limit that the springs of a falling body use: motors keep something to brake with
SPRING = 0.4  # a joint so far from where it should be gives that [rad]: elbows and knees are springs of this travel
SOFT = 0.02  # damping as a share of the torque limit [s/rad]: a joint that is thrown at 10 rad/s is braked with a fifth
TINY = 1e-9  # stiffness of a joint that is not held [N m/rad]


def lost(now: Situation, memory: Memory) -> str:
    """Why standing is over; empty while there is hope."""
    lean, h = math.asin(min(1.0, math.hypot(*now.lean))), memory.robot.com_height
    (x, y), (mx, my) = now.caught, now.middle
    most = memory.mode.out_of_reach
    # The middle lies between the feet: where it is near, the feet are nearer, and no hull has to be made.
    sunk = now.height < memory.mode.sunk * h
    thrown = _thrown(now, memory)
    far = math.hypot(x - mx, y - my) > (SUNK_REACH if sunk or thrown or lean > LEAN else most) * h
    outside = -memory.margin(now) if far else 0.0
    if lean > LEAN and (now.height < LOW * h or outside > SUNK_REACH * h):
        return f"trunk leans {math.degrees(lean):.0f} deg, CoM at {now.height:.2f} m"
    if sunk and outside > SUNK_REACH * h:
        return f"CoM at {now.height:.2f} m, capture point {outside:.2f} m from the feet"
    if thrown and outside > SUNK_REACH * h:
        return f"{thrown}, capture point {outside:.2f} m from the feet"
    if now.height < LOWEST * h:
        return f"CoM at {now.height:.2f} m"
    if outside > most * h:
        return f"capture point {outside:.2f} m from the feet, out of reach"
    return ""


def _thrown(now: Situation, memory: Memory) -> str:
    """A joint that has been thrown for long enough; empty while there is none."""
    stamp, speed = now.state.stamp, np.abs(now.state.v[6:])
    fast = speed > THROWN * memory.robot.velocity_limit + THROWN_MARGIN
    if not fast.any():
        memory.slow = stamp
        return ""
    i = int(np.argmax(fast))
    return f"{memory.robot.joint_names[i]} at {speed[i]:.0f} rad/s" if stamp - memory.slow >= THROWN_FOR else ""


class Falling(BalanceMode):
    """Damped compliance toward a tucked posture, with bounded torques. Done when the body lies still."""

    name = "falling"
    upright = False

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        robot = memory.robot
        middle = (robot.lower + robot.upper) / 2
        self.tucked = robot.posture.copy()
        for group in ("legs", "arms"):
            indices = robot.groups.get(group, np.array([], dtype=int))
            self.tucked[indices] += TUCK * (middle - robot.posture)[indices]
        self.most = GIVE * robot.torque_limit
        self.stiffness, self.damping = self.most / SPRING, SOFT * robot.torque_limit
        self._zero = np.zeros(robot.n)

    def enter(self, now: Situation) -> None:
        super().enter(now)
        self.began = self.moved = now.state.stamp

    def pose(self, time: float) -> tuple[Array, Array, Array]:
        """Where the joints go, stiffness and damping, ``time`` [s] after the fall was noticed (n,)."""
        return self.tucked, self.stiffness, self.damping

    def update(self, now: Situation) -> Reference:
        state, stamp, zero = now.state, now.state.stamp, self._zero
        if state.com_velocity.dot(state.com_velocity) > LYING**2 and not self.done:
            self.moved = stamp
        lies = stamp - self.moved > AT_REST or stamp - self.began > LONGEST
        self.done = "on the ground" if lies else ""
        q = state.q[7:]
        if lies or self.memory.settings.fall == "limp":
            return JointReference(stamp, self.name, q.copy(), zero, zero, zero, zero, zero, yielding=True)
        wanted, stiffness, damping = self.pose(stamp - self.began)
        reach = self.most / np.maximum(stiffness, TINY)
        position = q + np.minimum(np.maximum(wanted - q, -reach), reach)
        return JointReference(stamp, self.name, position, zero, zero, stiffness, damping, zero, yielding=True)
