"""Makes References: the parts that every mode shares, scaled to the robot."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from humanoid_balance.balance import laws
from humanoid_balance.balance.grip import Grip
from humanoid_balance.balance.situation import Situation
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, BodyReference, Flags, Foothold, FootReference, HeelReference, Stack

# The CoM first, then how the body turns: both together put the centre of pressure where the law wants it. The upright
# trunk and the posture share what is left. On one leg the height comes with the CoM: otherwise a swinging foot or a
# turning trunk that cannot keep up would let the body drop. Foot, turning and posture then give way together: otherwise
# trunk and arms would be thrown about for the last millimetre of a foot that cannot keep up.
STAND = Stack("stand", (("com",), ("momentum",), ("height", "posture")))
SWING = Stack("swing", (("com", "height"), ("feet", "momentum"), ("posture",)), soft=True)
# A leg that swings with every step turns the body about all axes. Trunk and arms give what they can at a price: without
# one they are thrown about, weak arms with all the torque they have.
WALK = Stack("walk", (("com", "height"), ("feet",), ("torso", "momentum", "poise")), soft=True)
KUDOH = Stack("kudoh", (("com",), ("kudoh",)))

HEIGHT_WEIGHT = 300.0  # of the CoM height against joint accelerations [rad²/m²]; beside the CoM's it counts alike
BOTH = np.array([True, True])
FULL = np.array([1.5, 1.5])  # no limit on a foot's load below one and a half times the weight
RIM = 0.01  # of a sole's length that the CoP keeps from its rim in the QP: the edge of a real sole is soft
EDGE = 0.035  # the same for the laws, which so ask for what is strictly feasible
LIFT = GRAVITY / 3  # largest vertical acceleration of the CoM [m/s²]: feet keep two thirds of their load and grip
CROUCH = 0.8  # of the standing height: lower the CoM is not asked to go, however far the feet spread


class Carriage(Protocol):
    """What the joints do that nothing else needs, whatever the mode: a clip's upper body goes on through a push."""

    def at(self, now: Situation) -> tuple[Array, Array, Array]:
        """Posture [rad], its velocity and acceleration of all joints (n,)."""


class ReferenceMaker:
    """Turns a mode's wish into a Reference. ``carriage``: the posture that moves; None: the nominal one, at rest."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.zero_joints = np.zeros(robot.n)
        self.still = np.zeros(3)
        self._level = np.eye(3)
        self.com_weight = np.array([1.0, 1.0, 0.0])
        self.momentum_weight = np.array([1.0, 1.0, 0.0])
        self.carriage: Carriage | None = None
        self.laws = laws.Laws(robot)
        self.grip = Grip(robot.config.friction)
        length = float(np.ptp(robot.soles[0][:, 0]))
        self.zmp_margin = RIM * length  # [m]
        self.edge = EDGE * length  # [m]

    def height(self, now: Situation) -> float:
        """Of the CoM above the ground [m]: it comes down as the feet spread, legs keep their length."""
        (ax, ay), (bx, by) = now.centre
        spread = max(0.0, math.hypot(ax - bx, ay - by) - self.robot.stance_width)
        h = self.robot.com_height
        return max(CROUCH * h, math.sqrt(max(h * h - spread * spread / 4, 0.0)))

    def vertical(self, now: Situation, height: float | None, rate: float = 0.0) -> float:
        """Vertical CoM acceleration toward a height above the ground [m/s²], at most a third of gravity.

        ``rate``: of a height that changes [m/s].

        Without a height the fall is only braked: a bending trunk takes the CoM down, and legs that resist go straight.
        """
        gains, w = self.robot.config.gains, self.robot.omega
        k, z = gains.height * w, gains.height_damping
        speed = float(now.state.com_velocity[2])
        error = 0.0 if height is None else height - now.height
        wish = k * k * error + 2 * z * k * (rate - speed)
        return max(-LIFT, min(LIFT, wish))

    def make(
        self,
        mode: str,
        now: Situation,
        wish: laws.Wish,
        *,
        stack: Stack = STAND,
        height: float | None = None,
        height_rate: float = 0.0,
        contact: Flags = BOTH,
        load_max: Array = FULL,
        feet: tuple[FootReference | None, FootReference | None] = (None, None),
        posture: Array | None = None,
        momentum_weight: Array | None = None,
        height_weight: float | None = None,
        footholds: tuple[Foothold, ...] = (),
        heels: tuple[HeelReference | None, HeelReference | None] = (None, None),
    ) -> BodyReference:
        """``wish`` is what the ground should do; ``height`` of the CoM, if it matters, and how much.

        ``posture`` takes the place of the usual one.
        """
        robot = self.robot
        zero, carriage = self.zero_joints, self.carriage
        usual, velocity, acceleration = (robot.posture, zero, zero) if carriage is None else carriage.at(now)
        if posture is None:
            posture = usual
        else:
            velocity = acceleration = zero
        up = self.vertical(now, height, height_rate)
        wish = self.grip.limited(now, wish)
        heading = self._level.copy()
        heading[0, 0] = heading[1, 1] = math.cos(now.yaw)
        heading[1, 0] = sin = math.sin(now.yaw)
        heading[0, 1] = -sin
        return BodyReference(
            stamp=now.state.stamp,
            mode=mode,
            stack=stack,
            contact=contact,
            load_max=load_max,
            com_acceleration=np.array(laws.acceleration(now, wish, up)),
            com_weight=self.com_weight,
            angular_momentum_rate=np.array(laws.momentum_rate(robot, wish)),
            momentum_weight=self.momentum_weight if momentum_weight is None else momentum_weight,
            torso_rotation=heading.dot(robot.torso_nominal),
            torso_velocity=self.still,
            feet=feet,
            posture=posture,
            posture_velocity=velocity,
            posture_acceleration=acceleration,
            zmp_margin=self.zmp_margin,
            height_weight=height_weight or (1.0 if stack is SWING or stack is WALK else HEIGHT_WEIGHT),
            footholds=footholds,
            heels=heels,
        )
