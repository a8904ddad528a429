"""The nominal gait: time, length, width and DCM offset of a step from the velocity that is commanded.

A walk that repeats itself has the DCM at the offset b from each new foot when the weight comes onto it. On a pendulum
with the centre of pressure in the middle of the stance foot the DCM grows by G = exp(omega T) in a step of T, so

    b_x = L / (G - 1)          b_y = W / (G - 1) -+ l / (G + 1)

with the step length L = v_x T, W = v_y T and the distance l of the feet; the sign is that of the side the foot lands
on (Khadiv, Herzog, Moosavian, Righetti, "Walking control based on step timing adaptation", T-RO 2020). A walk that ends
has the foot beside the other and the DCM between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance.legs import Legs
from humanoid_balance.balance.reach import Reach
from humanoid_balance.geometry import Point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY

STEP_TIME = 1.45  # of a slow step, in pendulum times sqrt(h / g): people take 1.6 to 2, robots' joints like it short
QUICKEST = 0.9  # step time, in pendulum times
TRANSFER = 0.22  # of that the weight takes to change feet, in pendulum times
LONGEST = 0.60  # step length, in CoM heights, beyond which steps become quicker instead
LOWEST = 0.95  # CoM height to which long steps may take the body, of the standing height: well above a fall's
BACKWARD, SIDEWAYS = 0.65, 0.45  # of the fastest walk forward, from which a robot can stop
TOGETHER = 1.5  # forward, sideways and turn at once: sum of their shares of what each can be alone; g1 fell with 2.0
TURNED = 0.85  # share of what hips and ankles can turn that steps use ...
TOES = 0.6  # ... and the angle between the feet at which toes or heels would meet [rad]

Velocity = tuple[float, float, float]  # forward, left [m/s], turn [rad/s], in the heading of the body


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it should be, seen from the stance foot: x along it, y to its left, angles about the vertical."""

    time: float  # from one change of feet to the next [s]
    place: Point  # of the landing foot's centre [m]
    turn: float  # of the landing foot against the stance foot [rad]
    offset: Point  # b, the DCM from the landed foot when the weight comes onto it [m]


class Gait:
    """Nominal steps of a robot."""

    def __init__(self, robot: Robot, reach: Reach) -> None:
        t = math.sqrt(robot.com_height / GRAVITY)
        self.robot, self.reach, self.legs = robot, reach, Legs.of(robot)
        self.transfer = TRANSFER * t  # [s]
        self.width = (reach.near + robot.stance_width) / 2  # of the feet, sideways: less sway than in the stance [m]
        # [m], in steps aside: of feet that are nearer than the hips, the thighs meet above the knees.
        self.apart = max(reach.near, 2 * self.legs.socket[1])
        self.longest = LONGEST * robot.com_height
        self.slowest, self.quickest = STEP_TIME * t, QUICKEST * t
        self.toes_out, self.toes_in = (
            min(TOES, 2 * TURNED * angle) for angle in (self.legs.toes_out, self.legs.toes_in)
        )

    def limited(self, velocity: Velocity) -> Velocity:
        """What of a velocity the legs can make, each part and all together; what is not a number is zero."""
        forward, left, turn = (value if math.isfinite(value) else 0.0 for value in velocity)
        ahead, back = self.longest / self.quickest, min(self.longest, self.reach.backward) / self.slowest
        aside = 0.8 * (self.reach.far - self.apart) / 2 / self.slowest
        most = min(self.toes_out, self.toes_in) / self.slowest
        fastest = self.robot.config.steps.walk * math.sqrt(GRAVITY * self.robot.com_height)
        ahead, back, aside = min(ahead, fastest), min(back, BACKWARD * fastest), min(aside, SIDEWAYS * fastest)
        forward, left, turn = (
            max(-back, min(ahead, forward)),
            max(-aside, min(aside, left)),
            max(-most, min(most, turn)),
        )
        total = abs(forward) / (ahead if forward > 0.0 else back) + abs(left) / aside + abs(turn) / most
        share = min(1.0, TOGETHER / max(total, 1e-9))
        return share * forward, share * left, share * turn

    def step_time(self, velocity: Velocity) -> float:
        """As long as a pendulum of this height likes, shorter where the steps would become too long [s]."""
        speed = math.hypot(velocity[0], velocity[1])
        return max(self.quickest, min(self.slowest, self.longest / max(speed, 1e-6)))

    def stride(self, velocity: Velocity) -> float:
        """How far the leg that is left behind is from its hip when it leaves the ground [m]."""
        return math.hypot(velocity[0], velocity[1]) * (self.step_time(velocity) / 2 + self.transfer)

    def height(self, velocity: Velocity) -> float:
        """Of the CoM: low enough for the leg that is left behind until the weight has changed feet [m]."""
        drop = self.legs.drop(self.stride(velocity))
        return max(LOWEST * self.robot.com_height, self.robot.com_height - drop)

    def step(self, velocity: Velocity, side: int, omega: float, turn: float, least: float = 0.0) -> Step:
        """The step of one foot (``side``) that turns by ``turn`` [rad] against the stance foot.

        ``least``: time that it takes in any case [s].
        """
        sign = 1.0 if side == 0 else -1.0
        turn = sign * max(-self.toes_in, min(self.toes_out, sign * turn))
        time = max(least, self.step_time(velocity))
        grown = math.exp(omega * time)
        length, aside = velocity[0] * time, velocity[1] * time
        width = max(self.width, self.apart + abs(aside))  # the foot that follows comes near, but not nearer
        place = length, aside + sign * width
        offset = length / (grown - 1), aside / (grown - 1) - sign * width / (grown + 1)
        return Step(time, _turned(place, turn / 2), turn, _turned(offset, turn))

    def last_step(self, side: int, turn: float) -> Step:
        """The step that ends a walk, or holds a push: beside the other foot, the DCM between both."""
        sign = 1.0 if side == 0 else -1.0
        turn = sign * max(-self.toes_in, min(self.toes_out, sign * turn))
        width = self.robot.stance_width
        return Step(self.slowest, _turned((0.0, sign * width), turn / 2), turn, _turned((0.0, -sign * width / 2), turn))


def _turned(point: Point, angle: float) -> Point:
    cos, sin = math.cos(angle), math.sin(angle)
    return cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]
