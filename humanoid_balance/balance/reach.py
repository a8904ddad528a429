"""Where legs can put a foot, and how fast: limits of a step from the size of the body and the range of its hips.

Coordinates are relative to the stance sole's centre, x along the stance foot, y toward the side of the swinging leg.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

ASIDE = 1.3  # a foot flies this much faster to the side: a leg that is swung forward throws the trunk back
PEAK = 1.875  # greatest speed of a quintic path over its mean: 15/8
APART = 1.35  # smallest distance between the sole centres, in widths of a sole: a third of one stays free
PAST = 1.7  # in lengths of a sole: further ahead a shin passes the other as well; with 1.15 legs collided
SOLES = 0.65  # share of that from which on soles one behind the other do not touch: 1.1 lengths
CROSSED = 0.12  # most that feet cross where the hips allow it [CoM heights]
SPEED = 0.75  # mean speed of a foot, in sqrt(g h): 2.2 m/s for a body of human size
PULL = 0.75 * GRAVITY  # distance per time squared [m/s²]: a foot is sped up and stopped within the swing


@dataclass(frozen=True)
class Reach:
    """Where a sole can be set down beside the other [m], and how fast a foot flies."""

    forward: float
    backward: float
    near: float  # smallest distance between the sole centres, sideways: feet do not touch, hips allow it
    far: float
    past: float  # further than this forward or backward a foot may cross before or behind the other: shins pass too
    across: float  # smallest distance then; negative where the feet cross
    speed: float  # mean speed of the foot [m/s]
    pull: float  # distance a foot can fly per time squared [m/s²]: it has to be sped up and stopped
    shortest: float  # time of a swing [s]
    longest: float

    @staticmethod
    def of(robot: Robot) -> Reach:
        """From the size of the body: legs about as long as the CoM is high, feet as wide as they are."""
        h, steps = robot.com_height, robot.config.steps
        width = float(robot.soles[0][:, 1].max() - robot.soles[0][:, 1].min())
        length = float(robot.soles[0][:, 0].max() - robot.soles[0][:, 0].min())
        t = math.sqrt(h / GRAVITY)
        closest = closest_feet(robot)
        return Reach(
            forward=steps.forward * h, backward=steps.backward * h, near=max(APART * width, closest),
            far=steps.aside * h, past=PAST * length,
            across=max(-CROSSED * h, closest),
            speed=min(SPEED * math.sqrt(GRAVITY * h), fastest_flight(robot) / ASIDE), pull=PULL,
            shortest=steps.shortest * t, longest=steps.longest * t,
        )  # fmt: skip

    def flight(self, time: float) -> float:
        """How far a foot flies in a time, forward or backward [m]."""
        return min(self.speed * time, self.pull * time * time)

    @staticmethod
    def distance(x: float, y: float) -> float:
        """Of a foot's flight [m]; one to the side counts less, as a leg that is swung forward throws the trunk back."""
        return math.hypot(x, y / ASIDE)

    def clip(self, x: float, y: float) -> Point:
        """The nearest place that can be reached without the legs touching."""
        x = max(-self.backward, min(self.forward, x))
        near = self.across if abs(x) > self.past else self.near
        return x, max(near, min(self.far, y))

    def passing(self, y: float) -> float:
        """How far before or behind the other a foot stands at a ``y`` below ``near`` [m]: soles pass, then shins."""
        share = (self.near - y) / max(self.near - self.across, 1e-6)
        return self.past * (SOLES + (1.0 - SOLES) * max(0.0, min(1.0, share)))

    def beside(self, x: float, y: float) -> Point:
        """The nearest place on the leg's own side; nearer than feet are beside each other only where they pass."""
        x = max(-self.backward, min(self.forward, x))
        y = max(self.across, min(self.far, y))
        return x, (y if y >= self.near or abs(x) >= self.passing(y) else self.near)


def hips(robot: Robot) -> list[tuple[int, float]]:
    """Of each leg, left first, the joint that moves the sole most to the side, and how far outward [m/rad]."""
    model, data, found = robot.model, robot.model.createData(), []
    pin.computeJointJacobians(model, data, robot.q_nominal)
    pin.updateFramePlacements(model, data)
    for side, sign in ((0, 1.0), (1, -1.0)):
        J = pin.getFrameJacobian(model, data, robot.sole_frames[side], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        outward = sign * J[1, 6:]
        joint = int(np.argmax(np.abs(outward)))
        found.append((joint, float(outward[joint])))
    return found


def closest_feet(robot: Robot) -> float:
    """Signed distance of the sole centres, sideways, with both legs turned inward as far as their hips allow [m].

    Negative: the legs can cross.
    """
    distance = robot.stance_width
    for joint, outward in hips(robot):
        low, high = robot.posture[joint] - robot.lower[joint], robot.upper[joint] - robot.posture[joint]
        distance -= abs(outward) * float(low if outward > 0 else high)
    return distance


def fastest_flight(robot: Robot) -> float:
    """Mean speed of a foot whose hip just reaches its velocity limit in the middle of the swing [m/s]."""
    return min(abs(outward) * float(robot.velocity_limit[joint]) for joint, outward in hips(robot)) / PEAK
