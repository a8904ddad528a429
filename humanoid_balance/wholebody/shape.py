"""The shape of a problem: which contacts push, which tasks stand on which level. One solver is kept for each shape."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import BodyReference, Flags, PlannedContact, RobotState
from humanoid_balance.wholebody.tasks.com import ComTask
from humanoid_balance.wholebody.tasks.feet import FootTask
from humanoid_balance.wholebody.tasks.height import HeightTask
from humanoid_balance.wholebody.tasks.kudoh import KudohTask
from humanoid_balance.wholebody.tasks.momentum import MomentumTask
from humanoid_balance.wholebody.tasks.posture import POISE, PostureTask
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.tasks.torso import TorsoTask
from humanoid_balance.wholebody.touch import FLAT_ROWS, POINT_ROWS

LIFTED = 0.01  # a sole this far above the other's plane has left the ground [m]
UNLOADED = 1e-3  # a sole that may carry less than this share of the weight does not push at all
COUNTED_ON = 0.2  # share of the weight from which on it is missed when it has no ground


class SoleDuty(Enum):
    """What a sole does in a tick."""

    FREE = 0  # swings
    STILL = 1  # does not move, does not push
    PUSHING = 2  # does not move, pushes on the ground


def _in_the_air(state: RobotState, side: int) -> bool:
    """No contact measured, and the sole is above the plane of the other one, which stands."""
    if state.contact[side] or not state.contact[1 - side]:
        return False
    gap = (state.sole_position[side] - state.sole_position[1 - side]).dot(state.ground_normal)
    return bool(gap > LIFTED)


def in_plane(robot: Robot, turning: bool) -> Flags:
    """World axes that the joints of a robot can move or turn it along (3,): a planar body has x, z and pitch only."""
    return np.array([True, True, True]) if not robot.planar else np.array([not turning, turning, not turning])


class Planned(NamedTuple):
    """A contact beside the soles."""

    name: str
    flat: bool
    pushing: bool


def _planned(touch: PlannedContact) -> Planned:
    return Planned(touch.name, touch.flat, touch.load[1] >= UNLOADED)


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that decides the number of rows and columns."""

    soles: tuple[SoleDuty, SoleDuty]
    levels: tuple[tuple[str, ...], ...]
    com_axes: tuple[bool, ...]
    momentum_axes: tuple[bool, ...]
    swinging: tuple[bool, bool]
    soft: bool  # Stack.soft
    touches: tuple[Planned, ...] = ()  # contacts beside the soles

    @staticmethod
    def key(state: RobotState, reference: BodyReference) -> tuple[object, ...]:
        """Equal keys have equal shapes; much cheaper to make than a shape."""
        (left, right), (x, y, z), (u, v, w) = (  # plain floats: a third of the time of comparing arrays
            reference.load_max.tolist(), reference.com_weight.tolist(), reference.momentum_weight.tolist(),
        )  # fmt: skip
        stack, feet = reference.stack, reference.feet
        return (
            stack.levels, stack.soft, reference.contact.tobytes(), left < UNLOADED, right < UNLOADED,
            x > 0, y > 0, z > 0, u > 0, v > 0, w > 0,
            reference.touches and tuple(_planned(touch) for touch in reference.touches),
            feet[0] is None, feet[1] is None, _in_the_air(state, 0), _in_the_air(state, 1),
        )  # fmt: skip

    @staticmethod
    def of(state: RobotState, reference: BodyReference) -> Shape:
        """Read the shape off a reference. A sole that should push but is in the air is only held still.

        A sole that merely carries nothing still lies on the ground: it must be free to push again.
        """
        soles = []
        for side in range(2):
            if not reference.contact[side]:
                soles.append(SoleDuty.FREE)
            elif reference.load_max[side] < UNLOADED or _in_the_air(state, side):
                soles.append(SoleDuty.STILL)
            else:
                soles.append(SoleDuty.PUSHING)
        touches = tuple(_planned(touch) for touch in reference.touches)
        if SoleDuty.PUSHING not in soles and not any(t.flat and t.pushing for t in touches):  # flight
            soles, touches = [SoleDuty.FREE, SoleDuty.FREE], ()
        swing = [s is SoleDuty.FREE and f is not None for s, f in zip(soles, reference.feet, strict=True)]
        com_axes = tuple((reference.com_weight > 0).tolist())
        momentum_axes = tuple((reference.momentum_weight > 0).tolist())
        stack = reference.stack
        both = soles[0], soles[1]
        return Shape(both, stack.levels, com_axes, momentum_axes, (swing[0], swing[1]), stack.soft, touches)

    @property
    def pushing(self) -> list[int]:
        """Contacts that push: soles 0 and 1, then the planned ones from 2 on; the first one is flat."""
        soles = [side for side in range(2) if self.soles[side] is SoleDuty.PUSHING]
        touches = [(not touch.flat, 2 + i) for i, touch in enumerate(self.touches) if touch.pushing]
        return soles + [i for _, i in sorted(touches)]

    @property
    def still(self) -> list[int]:
        """Contacts that do not move and do not push."""
        soles = [side for side in range(2) if self.soles[side] is SoleDuty.STILL]
        return soles + [2 + i for i, touch in enumerate(self.touches) if not touch.pushing]

    def rows(self, contact: int) -> int:
        """How many directions a contact is held in, and pushes in."""
        return FLAT_ROWS if contact < 2 or self.touches[contact - 2].flat else POINT_ROWS

    def tasks(self, robot: Robot) -> list[list[Task]]:
        """New tasks by level; levels and tasks without rows are left out, the last level always stays."""
        levels = [[task for name in names for task in self._make(name, robot)] for names in self.levels]
        return [level for level in levels[:-1] if level] + levels[-1:]

    def _make(self, name: str, robot: Robot) -> list[Task]:
        match name:
            case "com":
                axes = np.array(self.com_axes) & in_plane(robot, False)
                return [ComTask(robot, axes)] if axes.any() else []
            case "height":
                return [HeightTask(robot)]
            case "momentum":
                axes = np.array(self.momentum_axes) & in_plane(robot, True)
                return [MomentumTask(robot, axes)] if axes.any() else []
            case "torso":
                return [TorsoTask(robot)]
            case "feet":
                return [FootTask(robot, side) for side in range(2) if self.swinging[side]]
            case "posture":
                return [PostureTask(robot)]
            case "poise":
                return [PostureTask(robot, POISE)]
            case "kudoh":
                return [KudohTask(robot)]
        raise ValueError(
            f"stack: unknown task '{name}'; known: com, height, momentum, torso, feet, posture, poise, kudoh"
        )
