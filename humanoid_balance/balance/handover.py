"""The weight changes feet: how fast, and where a push drives the DCM meanwhile.

Until the new foot has all of it, the centre of pressure is still near the old one. As long as the DCM is where a step
begins, that takes ``Gait.transfer``. A DCM that a push has driven over the new foot, away from the old one, is driven
further with every millisecond: with the pressure d away from it, it moves by d omega t, and the step that follows
multiplies that by exp(omega T). So the worse it is, the quicker the weight changes feet.
"""

from __future__ import annotations

import math

from humanoid_balance.balance.footsteps import Viable
from humanoid_balance.balance.situation import LONG, Situation
from humanoid_balance.geometry import Point

HURRIED = 3.0  # so much quicker than usual the weight changes feet where the DCM is about to leave what steps hold ...
CALM = 0.2  # ... and up to this share of the way there at its usual pace


class Handover:
    """``share`` of the weight that the new foot has, and ``wait`` until it has all [s]."""

    def __init__(self, usual: float, viable: Viable, half_length: float) -> None:
        """``usual``: the time it takes [s]; ``half_length`` of a sole [m]."""
        self.usual, self.viable, self.half_length = usual, viable, half_length
        self.begin()

    def begin(self) -> None:
        self.share, self.wait = 0.0, self.usual

    def update(self, dt: float, dcm: Point, offset: Point, behind: bool) -> float:
        """Share of the weight on the new foot.

        ``dcm`` and its usual ``offset`` are seen from the new foot, y toward the old one's side; ``behind``: there the
        old foot is.
        """
        haste = self.haste(dcm, offset, behind)
        self.share = min(1.0, self.share + haste * dt / self.usual)
        self.wait = (1.0 - self.share) * self.usual / haste
        return self.share

    def haste(self, dcm: Point, offset: Point, behind: bool) -> float:
        """How much quicker than usual."""
        (x, y), (bx, by), viable = dcm, offset, self.viable
        if behind:
            along = (x - bx) / max(viable.forward - bx, self.half_length)
        else:
            along = (bx - x) / max(viable.backward + bx, self.half_length)
        gone = max(along, (by - y) / (viable.outward + by))  # 0: as usual, 1: where no step holds it any more
        return 1.0 + (HURRIED - 1.0) * min(1.0, max(0.0, (gone - CALM) / (1.0 - CALM)))


def driven(now: Situation, alone: bool = False) -> Point:
    """The caught DCM, or that of the CoM ``alone``, with what a push will add to it while it lasts.

    It is expected to last ``LONG``, in all phases of a step: an expectation that jumped when a foot leaves moved the
    DCM by 5 cm there, and turned the plan round.
    """
    (x, y), (ax, ay), w = now.dcm if alone else now.caught, now.pushed, now.omega
    if not now.state.push.active:
        return x, y
    gain = (1.0 - math.exp(-w * LONG)) / w**2
    return x + gain * ax, y + gain * ay
