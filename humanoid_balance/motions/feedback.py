"""Balance feedback of data-driven walking (specification A4): the reference is bent until it recovers balance.

All are changes of the pose that a clip wants next, by where the pelvis is and how it moves, seen from the stance foot:

1. stance hip: the pelvis is held as the reference has it, on the thigh as it is,
       q_hip = q_sth (q_sth^-1 q_d)^(c0 s),  q_d = q_pelvis^-1 q_thigh
2. swing hip: the foot is placed, in the vertical plane of the motion and across it,
       theta = theta_swh + [c1 (v_d - v) + c2 (d_d - d)] s           + extends the hip, the foot goes back
3. stance ankle:
       theta = theta_sta + [c3 (v_d - v) + c4 (d_d - d)] s           + is dorsiflexion
4. height of the swing foot, by bending and stretching the leg:
       h = h_swh + [c5 (h_d - h) + c6 (h_d' - h')] s

d, v: of the pelvis, a proxy of the CoM, from the stance ankle; with index d as the reference has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_balance.motions.ball import Ball
from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

Planes = tuple[float, float]  # sagittal (along the motion), coronal (to its left)
STRAIGHT = 0.999  # of a leg's length: a swing leg is not stretched beyond


@dataclass(frozen=True)
class FeedbackGains:
    """A row of the table (A4); see ``config/motions/feedback.yaml`` for units."""

    c1: Planes
    c2: Planes  # sagittal where d_d - d > 0
    c2_ahead: float  # sagittal where d_d - d < 0: the body is too far ahead
    c3: Planes
    c0: float = 1.0
    c4: float = 0.1
    c5: float = 0.5
    c6: float = 0.02


def swing_hip(gains: FeedbackGains, velocity: Planes, distance: Planes) -> Planes:
    """Angles of the swing thigh for v_d - v and d_d - d [rad]: extension, and inward to the right."""
    ahead = gains.c2[0] if distance[0] > 0.0 else gains.c2_ahead
    return (
        gains.c1[0] * velocity[0] + ahead * distance[0],
        gains.c1[1] * velocity[1] + gains.c2[1] * distance[1],
    )


def stance_ankle(gains: FeedbackGains, velocity: Planes, distance: Planes) -> Planes:
    """Angles of the stance foot for v_d - v and d_d - d [rad]: dorsiflexion, and the same across the motion."""
    return tuple(gains.c3[k] * velocity[k] + gains.c4 * distance[k] for k in range(2))  # type: ignore[return-value]


def stance_hip(hip: Array, pelvis: Array, thigh: Array, share: float) -> Array:
    """q_sth (q_sth^-1 q_d)^share, q_d = q_pelvis^-1 q_thigh; all (3, 3)."""
    wanted = pelvis.T.dot(thigh)
    if share == 1.0:
        return np.asarray(wanted)
    return np.asarray(hip.dot(pin.exp3(share * pin.log3(hip.T.dot(wanted)))))


class Leg:
    """Hip, what is below it up to the knee, ankle."""

    def __init__(self, limbs: RobotLimbs, side: int) -> None:
        model, chain = limbs.robot.model, limbs.legs[side]
        knee = chain.index(limbs.knees[side])
        self.hip, self.knee, self.ankle = (
            Ball(model, part) for part in (chain[:3], chain[3 : knee + 1], chain[knee + 1 :])
        )
        self.thigh, self.shank, self.ankle_joint, self.ankle_last = chain[2], chain[knee], chain[knee + 1], chain[-1]
        self.bend = int(model.joints[chain[knee]].idx_v) - 6  # index of the hinge that bends the knee
        self.index = np.array([model.joints[k].idx_v - 6 for k in chain], dtype=int)
        self._places = [
            np.array(model.jointPlacements[k].translation) for k in (chain[3], chain[knee], chain[knee + 1])
        ]

        bent = limbs.robot.posture.copy()
        length = np.linalg.norm(self.reach(bent))
        bent[self.bend] += 0.01
        self._flexes = 1.0 if np.linalg.norm(self.reach(bent)) < length else -1.0

    def reach(self, joints: Array) -> Array:
        """From hip to ankle in the pelvis's frame, for hips whose axes meet (3,)."""
        to_knee, _, to_ankle = self._places
        return np.asarray(self.hip.rotation(joints).dot(to_knee + self.knee.rotation(joints).dot(to_ankle)))

    def lift(self, joints: Array, offset: Array) -> None:
        """Move the ankle by ``offset`` in the pelvis's frame (3,); the foot keeps its orientation there."""
        to_knee, _, to_ankle = self._places
        foot = self.hip.rotation(joints).dot(self.knee.rotation(joints)).dot(self.ankle.rotation(joints))
        a, b = float(np.linalg.norm(to_knee)), float(np.linalg.norm(to_ankle))
        now = self.reach(joints)
        wanted = now + offset
        length, far = float(np.linalg.norm(now)), float(np.linalg.norm(wanted))
        far = min(max(far, abs(a - b) + 1e-6), max(STRAIGHT * (a + b), length))
        inside = [math.acos(min(max((a * a + b * b - d * d) / (2 * a * b), -1.0), 1.0)) for d in (length, far)]
        joints[self.bend] += self._flexes * (inside[0] - inside[1])
        hip = self.hip.rotation(joints)
        new = self.reach(joints)
        turn = pin.Quaternion.FromTwoVectors(new / np.linalg.norm(new), wanted / np.linalg.norm(wanted)).matrix()
        joints[self.hip.index] = self.hip.angles(turn.dot(hip), joints)
        shank = self.hip.rotation(joints).dot(self.knee.rotation(joints))
        joints[self.ankle.index] = self.ankle.angles(shank.T.dot(foot), joints)


@dataclass(frozen=True, slots=True)
class Errors:
    """Reference less measured, along and across the direction of the motion."""

    direction: tuple[float, float]  # of the motion, horizontal unit vector in the world
    velocity: Planes  # v_d - v [m/s]
    distance: Planes  # d_d - d [m]
    height: float  # h_d - h of the swing foot [m]
    rise: float  # its rate [m/s]


class Modulation:
    """The balance-recovering pose of a robot. Which feedback acts can be chosen, to show what each is for."""

    PARTS = ("stance hip", "swing hip", "stance ankle", "swing height")

    def __init__(self, robot: Robot, without: tuple[str, ...] = ()) -> None:
        limbs = RobotLimbs(robot)
        self.legs = tuple(Leg(limbs, side) for side in range(2))
        self._acts = {part: part not in without for part in self.PARTS}
        self.placed = np.zeros(3)  # rotation of the swing thigh by feedback, world (3,) [rad]

    def update(
        self, gains: FeedbackGains, joints: Array, pelvis: Array, stance: int, thigh: Array, base: Array,
        errors: Errors, s_stance: float, s_swing: float, s_ankle: float, hold: bool = False,
        both: bool = False,
    ) -> Array:  # fmt: skip
        """The joints of P^ (n,) for those of the reference.

        ``pelvis``: orientation of the reference; ``thigh``, ``base``: of the stance thigh and the pelvis as they are;
        ``hold``: the swing hip keeps its correction (late landing, A5).
        """
        out = joints.copy()
        standing, swinging = self.legs[stance], self.legs[1 - stance]
        x, y = errors.direction
        if self._acts["stance hip"] and not both:
            hip = standing.hip.rotation(joints)
            wanted = stance_hip(hip, pelvis, thigh, gains.c0 * s_stance)
            out[standing.hip.index] = standing.hip.angles(wanted, joints)
        if self._acts["swing hip"] and not both:
            if not hold:
                sagittal, coronal = swing_hip(gains, errors.velocity, errors.distance)
                self.placed = s_swing * np.array([-y * sagittal - x * coronal, x * sagittal - y * coronal, 0.0])
            _turn(out, swinging.hip, pelvis, self.placed)
        if self._acts["stance ankle"]:
            sagittal, coronal = stance_ankle(gains, errors.velocity, errors.distance)
            turn = s_ankle * np.array([y * sagittal + x * coronal, -x * sagittal + y * coronal, 0.0])
            for leg in self.legs if both else (standing,):
                shank = pelvis.dot(leg.hip.rotation(out)).dot(leg.knee.rotation(out))
                _turn(out, leg.ankle, shank, turn)
        if self._acts["swing height"] and not both:
            offset = (gains.c5 * errors.height + gains.c6 * errors.rise) * s_swing
            leg = swinging if offset > 0.0 else standing  # too high a foot: the body comes down on the other leg
            if offset != 0.0:
                leg.lift(out, base.T.dot(np.array([0.0, 0.0, abs(offset)])))
        return out


def _turn(joints: Array, ball: Ball, parent: Array, turn: Array) -> None:
    """Turn what a ball joint carries about an axis of the world by a rotation vector (3,)."""
    if turn.any():
        rotation = parent.T.dot(pin.exp3(turn)).dot(parent).dot(ball.rotation(joints))
        joints[ball.index] = ball.angles(rotation, joints)
