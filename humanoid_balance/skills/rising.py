"""Rising: from a squat, the CoM over the feet, to the standing height; then the balance modes take over."""

from __future__ import annotations

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import goal
from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Reference, Stack

PACE = 0.4  # the CoM rises with this speed [CoM heights/s]: people take 0.7 to 2.6 s for the last part
RISEN = 0.93  # of the standing height: from here on the balance modes hold and straighten the body
TIPPED = 0.12  # the capture point is so far outside of the feet that a squat does not come back [CoM heights]
LONGEST = 4.0  # [s]
# The posture on its way from the squat to the stance turns the body upright. The law of standing would turn it at once:
# a trunk that hangs head down has far to go, arms were thrown at 13 rad/s for it and the body dropped.
RISE = Stack("rise", (("com", "height"), ("posture",)))


def risen(now: Situation, memory: Memory) -> bool | str:
    """Nearly as tall as standing."""
    return now.height > RISEN * memory.robot.com_height and f"CoM at {now.height:.2f} m"


def tipped(now: Situation, memory: Memory) -> bool | str:
    """The feet are lost, or it takes too long."""
    margin = memory.margin(now)
    if margin < -TIPPED * memory.robot.com_height:
        return f"capture point {-margin:.2f} m from the feet"
    return memory.age(now) > LONGEST and f"CoM at {now.height:.2f} m after {LONGEST:g} s"


class Rising(BalanceMode):
    """The CoM goes to the middle of the feet by the law of the DCM, and up along a ramp; the joints go with it."""

    name = "rising"
    upright = False

    def enter(self, now: Situation) -> None:
        super().enter(now)
        self._stamp, self._height = now.state.stamp, now.height
        self._squat, self._low = now.state.q[7:].copy(), now.height

    def update(self, now: Situation) -> Reference:
        memory = self.memory
        maker, h = memory.maker, memory.robot.com_height
        dt, self._stamp = now.state.stamp - self._stamp, now.state.stamp
        polygon = memory.stance.update(now.state, BOTH)
        if memory.margin(now) > 0.0:  # first over the feet, then up
            self._height = min(self._height + PACE * h * dt, maker.height(now), now.height + 0.1 * h)
        wish = maker.laws.accompany(now, polygon, goal(memory, now))
        share = (self._height - self._low) / max(maker.height(now) - self._low, 0.1 * h)
        posture = self._squat + min(max(share, 0.0), 1.0) * (memory.robot.posture - self._squat)
        return maker.make(self.name, now, wish, stack=RISE, height=self._height, height_weight=1.0, posture=posture)
