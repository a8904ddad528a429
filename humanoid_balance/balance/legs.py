"""What a leg is: how long it can be, how high its hip stands, how far its foot turns; read off the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

PARALLEL = 0.7  # cosine from which on a joint counts as turning about an axis
LOWEST = 0.86  # CoM height to which long strides may take the body, of the standing height
SUPPLE = 0.9  # share of its range that an ankle is bent by: at its end stop it turns the whole body instead
ROUNDS = 4  # of a fixed point that comes three times nearer with each
STRAIGHT = 0.99  # share of its full length that a leg is asked for: a straight knee moves nothing


@dataclass(frozen=True)
class Legs:
    """Of the left leg; the right one is taken to be its mirror image."""

    longest: float  # from the hip's to the ankle's pitch axis with a straight knee [m]
    standing: float  # height of the hip over the ankle in the nominal stance [m]
    toes_out: float  # how far one foot turns outward against the pelvis [rad]
    toes_in: float
    com: float  # height of the CoM in the nominal stance [m]
    hip: Point  # of the nominal stance: the hip over the ankle when the CoM is over the sole's centre, x ahead, y out
    socket: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the hip in the base frame [m]
    toe: float = 0.0  # the sole's front edge ahead of the ankle [m]
    ankle: float = 0.0  # height of the ankle over the sole [m]
    points: float = 0.0  # how far the ankle stretches from a sole at right angles to the shank [rad] ...
    bends: float = math.inf  # ... and how far it bends: the shank leans forward over a flat sole
    shank: float = 0.0  # from the knee's to the ankle's pitch axis [m]
    inside: float = -math.inf  # least and ...
    outside: float = math.inf  # ... most that an ankle over a flat sole is further out than its hip [m]

    @staticmethod
    def of(robot: Robot) -> Legs:
        model, data = robot.model, robot.model.createData()
        pin.computeJointJacobians(model, data, robot.q_nominal)
        pin.updateFramePlacements(model, data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        turns = pin.getFrameJacobian(model, data, robot.sole_frames[0], world)[3:, 6:]
        pitch = np.flatnonzero(np.abs(turns[1]) > PARALLEL)
        axes = [data.oMi[model.getJointId(robot.joint_names[i])].translation for i in pitch]
        longest = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(axes))
        yaw = np.flatnonzero(np.abs(turns[2]) > PARALLEL).tolist()
        out, inward = (float(sum(_room(robot, i, sign * turns[2, i]) for i in yaw)) for sign in (1.0, -1.0))
        if not axes:
            return Legs(math.inf, robot.com_height, out, inward, robot.com_height, (0.0, 0.0))
        com, hip, ankle = pin.centerOfMass(model, data, robot.q_nominal), axes[0], axes[-1]
        centre = data.oMf[robot.sole_frames[0]].act(robot.sole_centres[0])
        dx, dy, _ = (hip - com + centre - ankle).tolist()
        sole = data.oMf[robot.sole_frames[0]]
        x, y, z = data.oMi[1].actInv(hip).tolist()
        return Legs(
            longest, float(hip[2] - ankle[2]), out, inward, robot.com_height, (dx, dy), (x, y, z),
            float((sole.translation + robot.soles[0].max(axis=0))[0] - ankle[0]), float(ankle[2] - sole.translation[2]),
            *_ankle(robot, int(pitch[-1]), float(turns[1, pitch[-1]]), axes),
            *_aside(robot, turns[0], float(ankle[1] - hip[1]), float(hip[2] - ankle[2])),
        )  # fmt: skip

    def hip_of(self, q: Array, side: int) -> tuple[float, float, float]:
        """Place of a leg's hip in the world [m]."""
        x, y, z, w = q[3:7].tolist()
        u, v, t = self.socket
        v = v if side == 0 else -v
        ax, ay, az = 2 * (y * t - z * v), 2 * (z * u - x * t), 2 * (x * v - y * u)
        px, py, pz = q[:3].tolist()
        return (
            px + u + w * ax + y * az - z * ay,
            py + v + w * ay + z * ax - x * az,
            pz + t + w * az + x * ay - y * ax,
        )

    def farthest(self, height: float) -> float:
        """Stride at which a leg is straight, with the CoM at a height, but not below what is allowed [m]."""
        hip = self.standing + max(LOWEST * self.com, height) - self.com
        return math.sqrt(max((STRAIGHT * self.longest) ** 2 - hip * hip, 0.0))

    def rise(self, ahead: float, aside: float, above: float, straight: float = STRAIGHT) -> float:
        """By how much the heel has to come up for a hip to be so far from a flat sole's ankle [rad].

        The ankle goes round the front edge, at the distance rho from it, until it is within the leg's length of the
        hip, at the distance D: cos gamma = (D² + rho² - leg²) / (2 D rho) is the angle between the two then.
        """
        x, z, leg = ahead - self.toe, above + self.ankle, straight * self.longest
        square, rho = x * x + z * z, math.hypot(self.toe, self.ankle)
        leg_sq = leg * leg - aside * aside
        cosine = (square + rho * rho - leg_sq) / (2 * math.sqrt(square) * max(rho, 1e-6))
        between = math.acos(max(-1.0, min(1.0, cosine)))
        flat = math.pi - math.atan2(self.ankle, self.toe) - math.atan2(z, x)  # between them while the sole is flat
        return max(0.0, flat - between)

    def lean(self, ahead: float, aside: float, above: float) -> float:
        """How far the shank leans forward when the hip is there, seen from the ankle [rad]."""
        leg, thigh = self.longest, self.longest - self.shank
        square = max(ahead * ahead + aside * aside + above * above, (leg / 10) ** 2)
        far = math.sqrt(square)
        cosine = (self.shank**2 + square - thigh * thigh) / (2 * self.shank * far)
        return math.atan2(ahead, math.hypot(above, aside)) + math.acos(max(-1.0, min(1.0, cosine)))

    def tiptoe(self, ahead: float, aside: float, above: float) -> float:
        """By how much the heel has to come up for the ankle to bend no further than it can [rad].

        Arguments as for ``rise``. The ankle goes round the front edge: it comes up, and the knee bends somewhat more.
        """
        most, angle = SUPPLE * self.bends, 0.0
        if math.isinf(most):
            return 0.0
        for _ in range(ROUNDS):
            cos, sin = math.cos(angle), math.sin(angle)
            x = ahead - self.toe * (1.0 - cos) - self.ankle * sin
            z = above - self.toe * sin + self.ankle * (1.0 - cos)
            angle = max(0.0, self.lean(x, aside, z) - most)
        return angle

    def drop(self, stride: float, straight: float = STRAIGHT, rise: float = 0.0) -> float:
        """By which the hips have to come down for a foot so far before or behind them to be on the ground [m].

        ``straight``: share of its full length that the leg may have then; ``rise``: of the foot over the ground that
        the height counts from [m].
        """
        longest = straight * self.longest
        return max(0.0, self.standing - rise - math.sqrt(max(longest * longest - stride * stride, 0.0)))


def _room(robot: Robot, joint: int, direction: float) -> float:
    """From the nominal posture to the end stop in a direction [rad]."""
    posture = robot.posture[joint]
    return float(robot.upper[joint] - posture if direction > 0 else posture - robot.lower[joint])


def _ankle(robot: Robot, ankle: int, turn: float, axes: list[Array]) -> tuple[float, float, float]:
    """How far an ankle stretches and bends from a sole at right angles to the shank [rad], and the shank [m].

    ``turn``: toes down by 1 rad of it.
    """
    shank = axes[-2] - axes[-1] if len(axes) > 1 else np.array((0.0, 0.0, 1.0))
    leans, sign = math.atan2(float(shank[0]), float(shank[2])), 1.0 if turn > 0 else -1.0
    return _room(robot, ankle, sign) - leans, _room(robot, ankle, -sign) + leans, float(np.linalg.norm(shank))


def _aside(robot: Robot, turns: Array, usual: float, standing: float) -> tuple[float, float]:
    """How far an ankle over a flat sole may be out of its hip, least and most [m]: its roll joint ends there.

    ``turns``: roll of the left sole by each joint; ``usual``: in the nominal stance; ``standing``: the hip above it.
    """
    rolls = np.flatnonzero(np.abs(turns) > PARALLEL)
    if not len(rolls):
        return -math.inf, math.inf
    ankle = int(rolls[-1])
    inward, outward = (math.tan(min(1.0, _room(robot, ankle, sign * float(turns[ankle])))) for sign in (1.0, -1.0))
    return usual - inward * standing, usual + outward * standing
