"""A fall that protects: poses for the direction of the fall, as data (``config/skills/ROBOT/falls/``, ``script.py``).

Hips and knees give way, so that the pelvis comes down slowly and near the feet; the arms go out with bent elbows, as
springs; the head is kept away from the ground. A robot without such files tucks its limbs (``balance.modes.falling``).
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.falling import Falling
from humanoid_balance.balance.situation import Situation
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.curve import Curve
from humanoid_balance.skills.mirror import Mirror
from humanoid_balance.skills.script import Script, folder, load
from humanoid_balance.types import Array

FORWARD, BACKWARD, LEFT, RIGHT = "forward", "backward", "left", "right"
ASIDE = math.radians(60.0)  # a fall within this of straight ahead or back is one of those


def falls(robot: Robot) -> dict[str, Script]:
    """Scripts of a robot by the direction of the fall; the one to the right is the mirror image of the left one.

    They are springs, not paths: a variant of the robot with narrower joints falls as near to them as it can.
    """
    found = {file.stem: load(file, robot, nearest=True) for file in sorted((folder(robot) / "falls").glob("*.yaml"))}
    if LEFT in found:
        found[RIGHT] = found[LEFT].mirrored(Mirror(robot))
    return found


def direction(now: Situation) -> str:
    """Where the body falls to, as its feet see it: where the capture point is."""
    (x, y), (mx, my) = now.caught, now.middle
    angle = (math.atan2(y - my, x - mx) - now.yaw + math.pi) % (2 * math.pi) - math.pi
    if abs(angle) < ASIDE:
        return FORWARD
    if abs(angle) > math.pi - ASIDE:
        return BACKWARD
    return LEFT if angle > 0 else RIGHT


class ProtectedFalling(Falling):
    """Falls by the script of the direction."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._falls = falls(memory.robot)
        self._script: Script | None = None
        self.towards = ""

    def enter(self, now: Situation) -> None:
        super().enter(now)
        self.towards = direction(now)
        script = self._script = self._falls.get(self.towards)
        if script is not None:
            poses = np.array([now.state.q[7:], *(key.pose for key in script.keys)])
            self._curve = Curve([0.0, *(key.at for key in script.keys)], poses)

    def pose(self, time: float) -> tuple[Array, Array, Array]:
        script = self._script
        if script is None:
            return super().pose(time)
        wanted, _ = self._curve.at(time)
        return wanted, script.stiffness, script.damping
