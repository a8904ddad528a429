"""Stable and feet in place: both soles stay where they are."""

from __future__ import annotations

from humanoid_balance.balance import laws
from humanoid_balance.balance.reference import KUDOH, ReferenceMaker
from humanoid_balance.balance.situation import Situation, Stance
from humanoid_balance.types import Reference

BOTH = (True, True)


class Stable:
    """K2: small disturbances. CoM regulation with the centre of pressure inside the soles, no rotation asked for."""

    name = "stable"

    def __init__(self, maker: ReferenceMaker, stance: Stance) -> None:
        self.maker, self.stance = maker, stance

    def enter(self, now: Situation) -> None:
        pass

    def update(self, now: Situation) -> Reference:
        polygon = self.stance.update(now.state, BOTH)
        wish = self.maker.laws.hold(now, polygon, goal(self.maker, now))
        return self.maker.make(self.name, now, wish, height=self.maker.height(now))


class InPlace:
    """K3: feet in place. The CoM law may ask for more than the soles can give; the whole body answers.

    ``dcm``: feedback on the caught DCM. ``kudoh``: the human CoM law as an equality, A_theta-weighted accelerations.
    """

    name = "in place"

    def __init__(self, maker: ReferenceMaker, stance: Stance, policy: str) -> None:
        self.maker, self.stance, self.policy = maker, stance, policy

    def enter(self, now: Situation) -> None:
        pass

    def update(self, now: Situation) -> Reference:
        target = goal(self.maker, now)
        if self.policy == "kudoh":
            return self.maker.make(self.name, now, laws.kudoh(now, target), stack=KUDOH)
        polygon = self.stance.update(now.state, BOTH)
        return self.maker.make(self.name, now, self.maker.laws.catch(now, polygon, target))


def goal(maker: ReferenceMaker, now: Situation) -> tuple[float, float]:
    """Where the CoM should stand: between the soles, with the nominal offset."""
    x, y = now.middle
    ox, oy = maker.robot.config.stance.com
    return x + ox, y + oy
