"""Stable and feet in place: both soles stay where they are."""

from __future__ import annotations

import math

from humanoid_balance.balance import laws
from humanoid_balance.balance.memory import BOTH, STABLE_AREA, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.reference import KUDOH
from humanoid_balance.balance.situation import Situation
from humanoid_balance.geometry import Point
from humanoid_balance.types import Reference

QUIET = 0.08  # a CoM slower than this is at rest [m/s]: its capture point is 2.5 cm ahead, inside any sole
REST = 0.4  # a mode is kept at least this long before going back to an easier one: no chatter [s]; one sway is 2 s
BACK = 0.05  # Kudoh's feet in place lasts at least this long: the CoM starts inside the stable area [s]


def reacting(now: Situation, memory: Memory) -> bool:
    """A push is so fresh that a person would not have reacted yet."""
    return bool(now.state.stamp - now.state.push.onset < memory.settings.delay)


def near_edge(now: Situation, memory: Memory) -> str:
    """The feedback of the stable mode runs into the edge of the feet."""
    margin = memory.margin(now)
    return f"DCM margin {margin:.3f} m" if margin < memory.stable_margin(now) else ""


def recovered(now: Situation, memory: Memory) -> bool:
    """The DCM is well inside and the body at rest; in Kudoh's thesis, the CoM is back in the stable area."""
    if memory.margin(now) <= 2 * memory.stable_margin(now):
        return False
    if memory.settings.policy == "kudoh":
        area = memory.stance.polygon.scaled(STABLE_AREA)
        return memory.age(now) > BACK and area.margin(*now.com) > 0
    return at_rest(now, memory)


def at_rest(now: Situation, memory: Memory) -> bool:
    """The CoM is slow, and this mode has had its time."""
    return math.hypot(*now.com_velocity) < QUIET and memory.age(now) > REST


class Stable(BalanceMode):
    """K2: small disturbances. CoM regulation with the centre of pressure inside the soles, no rotation asked for."""

    name = "stable"
    flat = True  # a standing sole lies flat; one that is tipping says nothing about the ground

    def update(self, now: Situation) -> Reference:
        maker = self.memory.maker
        polygon = self.memory.stance.update(now.state, BOTH)
        wish = maker.laws.hold(now, polygon, goal(self.memory, now))
        return maker.make(self.name, now, wish, height=maker.height(now))


class InPlace(BalanceMode):
    """K3: feet in place. The CoM law may ask for more than the soles can give; the whole body answers.

    ``dcm``: feedback on the caught DCM. ``kudoh``: the human CoM law as an equality, A_theta-weighted accelerations.
    """

    name = "in place"

    def update(self, now: Situation) -> Reference:
        maker, target = self.memory.maker, goal(self.memory, now)
        if self.memory.settings.policy == "kudoh":
            return maker.make(self.name, now, laws.kudoh(now, target), stack=KUDOH)
        polygon = self.memory.stance.update(now.state, BOTH)
        return maker.make(self.name, now, maker.laws.catch(now, polygon, target))


def goal(memory: Memory, now: Situation) -> Point:
    """Where the CoM should stand: between the soles, with the nominal offset, world x y [m]."""
    x, y = now.middle
    ox, oy = memory.robot.config.stance.com
    return x + ox, y + oy
