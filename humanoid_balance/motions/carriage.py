"""How a body carries itself while a clip is played: the clip above the legs, smoothly begun, repeated and ended.

Every mode that stands or steps has it as its posture, so a push interrupts the feet and not the clip.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.balance.situation import Situation
from humanoid_balance.motions.player import PosturePlayer
from humanoid_balance.types import Array

BLEND = 0.8  # from one motion into another [s]
UNASKED = 0.1  # after so long without a question the body was doing something else, and the clip is over [s]


class ClipCarriage:
    """``wish`` is the command's name of the clip; without it the joints go back to the nominal posture."""

    def __init__(self, wish: str, player: PosturePlayer, stamp: float, posture: Array, velocity: Array) -> None:
        self.wish, self.player = wish, player
        self.began = stamp
        self.over = False  # nobody wants the clip any more, or the body could not go on with it
        self._turn = 0
        self._asked = stamp
        self._last = posture, velocity
        self._blend(stamp, posture, velocity)

    def at(self, now: Situation) -> tuple[Array, Array, Array]:
        stamp = now.state.stamp
        turn, gap = self.player.turn(stamp - self.began), stamp - self._asked
        posture, velocity = self._last
        if not self.over and gap > UNASKED:
            self.over = True
            self._since = -math.inf  # where the joints were then does not matter any more
        elif not self.over and (now.command.skill != self.wish or turn != self._turn):
            self.over, self._turn = now.command.skill != self.wish, turn  # the end, or the clip begins again
            self._blend(stamp, posture + gap * velocity, velocity)
        self._asked = stamp
        posture, velocity, acceleration = (
            wanted + left for wanted, left in zip(self._wanted(stamp), self._left(stamp), strict=True)
        )
        self._last = posture, velocity
        return posture, velocity, acceleration

    def _wanted(self, stamp: float) -> tuple[Array, Array, Array]:
        if self.over:
            zero = np.zeros_like(self.player.nominal)
            return self.player.nominal, zero, zero
        return self.player.at(stamp - self.began)

    def _blend(self, stamp: float, posture: Array, velocity: Array) -> None:
        """From here on the wanted motion is approached from a posture and its velocity."""
        wanted, speed, _ = self._wanted(stamp)
        self._since, self._offset, self._drift = stamp, posture - wanted, velocity - speed

    def _left(self, stamp: float) -> tuple[Array, Array, Array]:
        """What is left of the offset and its velocity: quintics that end with velocity and acceleration zero."""
        x = min((stamp - self._since) / BLEND, 1.0)
        o, d = self._offset, BLEND * self._drift
        y = 1.0 - x
        return (
            y**3 * ((1 + 3 * x + 6 * x * x) * o + x * (1 + 3 * x) * d),
            (-30 * x * x * y * y * o + (1 - 18 * x**2 + 32 * x**3 - 15 * x**4) * d) / BLEND,
            (-60 * x * y * (1 - 2 * x) * o + (-36 * x + 96 * x**2 - 60 * x**3) * d) / BLEND**2,
        )
