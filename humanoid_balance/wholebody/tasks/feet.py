"""A swinging sole follows its trajectory."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms

WEIGHT = 3.0  # root of the weight: a foot that gives way for the turning of the body does not land ...
LIFT = 2.0  # ... and of its height beside the rest: a leg too slow for its foothold would drag the foot over the ground


class FootTask(Task):
    """J a = R' x_dd* + (k omega)² e + 2 zeta k omega (R' x_d* - v) - drift, in the axes of the sole, times WEIGHT.

    e stacks R'(p* - p) and log(R' R*); k, zeta are ``gains.foot`` and ``gains.foot_damping``. The third row, across the
    sole, counts LIFT times as much.
    """

    rows = 6

    def __init__(self, robot: Robot, side: int) -> None:
        gains = robot.config.gains
        self.side = side
        self.stiffness = (gains.foot * robot.omega) ** 2
        self.damping = 2 * gains.foot_damping * gains.foot * robot.omega

    def fill(self, terms: Terms, reference: BodyReference, A: Array, b: Array) -> None:
        sole, wanted = terms.soles[self.side], reference.feet[self.side]
        assert wanted is not None
        back = sole.rotation.T
        np.copyto(A, sole.J)
        away = wanted.position - terms.base - sole.position
        b[:3] = back.dot(wanted.acceleration[:3] + self.stiffness * away + self.damping * wanted.velocity[:3])
        b[3:] = back.dot(wanted.acceleration[3:] + self.damping * wanted.velocity[3:])
        b[3:] += self.stiffness * pin.log3(back.dot(wanted.rotation))
        b -= self.damping * sole.velocity
        b -= sole.drift
        A *= WEIGHT
        b *= WEIGHT
        A[2] *= LIFT
        b[2] *= LIFT
