"""Torres' walker: the swinging foot goes where the pendulum wants it, the stance leg keeps the speed (T4).

The foot moves from where it left the ground to its landing along Catmull-Rom splines over the phase of the step; a leg
of two links reaches for it. Beside the law of ``simbicon``, which holds trunk and swinging thigh in the world:

    swing leg   carried against gravity, joint by joint
    stance hip  carries what stands on it: trunk and swinging leg
    stance leg  tau = - J^T F, F = K_v (V_d - V) on the CoM, as far as the sole does not tip; its knee holds the hips up
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_balance.gaits.limb_views import LimbViews, posed
from humanoid_balance.gaits.limbs import JointedBody, Limb
from humanoid_balance.gaits.pendulum_steps import PendulumSteps, Point
from humanoid_balance.gaits.simbicon import Aid
from humanoid_balance.gaits.table import Gain, GaitState
from humanoid_balance.gaits.two_links import two_links
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.curve import Curve
from humanoid_balance.types import GRAVITY, Array, RobotState

LONGEST = 1.0  # of a step: one that took longer was a rest [s]
AHEAD = 0.005  # speeds of the leg's angles are differences over this time [s]
HURRY = 1.0  # the velocity that is aimed at follows the command with this acceleration [m/s²]
LIFT = 8.0  # the hips come back to their height as a critically damped mass does [rad/s]: within a third of a step
LEAST, MOST_LIFT = 0.3, 1.8  # least and largest load that is asked for on the way [weights]
SETTLES = 0.03  # time constant with which the speed of the landing point is followed [s]
LEARNT, MOST = 0.25, 0.5  # of a step's error of speed is added to the wish for the next; the most it gets to [m/s]
PUSHED = 0.6  # a step farther off was pushed: nothing is learnt from it [m/s]
USED = 0.8  # share of the lever from the ankle to the sole's edge that the force through the stance leg may use


Velocity = tuple[float, float, float]


class _Axes:
    """Horizontal axes that look along a heading."""

    def __init__(self, heading: float) -> None:
        self.c, self.s = math.cos(heading), math.sin(heading)

    def seen(self, x: float, y: float) -> Point:
        """A vector of the world in these axes."""
        return self.c * x + self.s * y, self.c * y - self.s * x

    def world(self, x: float, y: float) -> Point:
        return self.c * x - self.s * y, self.s * x + self.c * y


class PendulumWalk:
    """Poses and torques of the gaits of a robot that have a ``pendulum``. Keeps where the swinging foot came from."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.body = robot, JointedBody(robot)
        self._data = robot.model.createData()
        self._views = tuple(LimbViews(limb, self._data) for limb in self.body.limbs)
        self._curves: dict[PendulumSteps, Curve] = {}
        self._start: Array = np.zeros(3)  # of the swinging ankle, world [m]
        self._begun = math.nan  # stamp of the step [s]
        self._end: Array = np.zeros(3)  # where the swinging ankle lands, world [m]
        self._moving: Array = np.zeros(3)  # how fast that moves [m/s]
        self._stamp = self._now = math.nan  # of the landing point, and of the last tick [s]
        self._from: Point = (0.0, 0.0)  # where the CoM was when the step began, world [m]
        self._wish: Velocity = (0.0, 0.0, 0.0)  # that the walk aims at now
        self._pressure: Point = (0.0, 0.0)  # centre of pressure that the force asks for, from the ankle, world axes [m]
        self._pace: Point = (0.0, 0.0)  # added to the wish: legs that lag take the body slower than feet land [m/s]
        pin.framesForwardKinematics(robot.model, robot.data, robot.q_nominal)
        self._levers = tuple(self._lever(side) for side in range(2))

    def _lever(self, side: int) -> tuple[float, float, float, float]:
        """From the ankle to heel, toe, right and left edge of the sole [m]."""
        robot = self.robot
        place = robot.data.oMf[robot.sole_frames[side]]
        ankle = robot.data.oMi[self.body.limbs[side].ankle_joint].translation
        edges = np.array([place.act(corner) for corner in robot.soles[side]]) - ankle
        (back, right), (front, left) = edges[:, :2].min(axis=0).tolist(), edges[:, :2].max(axis=0).tolist()
        return back, front, right, left

    def _curve(self, steps: PendulumSteps) -> Curve:
        if steps not in self._curves:
            knots = np.array(steps.swing)
            self._curves[steps] = Curve(knots[:, 0].tolist(), knots[:, 1:])
        return self._curves[steps]

    def update(
        self, steps: PendulumSteps, row: GaitState, stance: int, begun: float, state: RobotState, heading: float,
        asked: Velocity, drift: Point,
    ) -> tuple[GaitState, Aid]:  # fmt: skip
        """The pose of this tick and what helps it; ``begun``: stamp at which the step began [s].

        ``asked``: forward, left [m/s] and turn [rad/s]; ``drift``: how wrong the estimated velocity is, world [m/s].
        """
        wish = self._hurry(asked, state.stamp)
        pin.forwardKinematics(self.robot.model, self._data, state.q, state.v)
        pin.centerOfMass(self.robot.model, self._data, state.q)
        swinging = self._views[1 - stance]
        if begun != self._begun:
            self._learn_pace(state, begun, heading, wish)
            self._begun, self._start, self._stamp = begun, swinging.ankle.copy(), math.nan
        velocity = float(state.com_velocity[0]) - drift[0], float(state.com_velocity[1]) - drift[1]
        age = state.stamp - begun
        left = max(steps.time - age, 0.0)
        end = self._landing(steps, state, velocity, heading + wish[2] * left, left, wish, stance)
        moving = self._follow(end, state.stamp)
        lead = wish[2] * (left + steps.time / 2)  # the foot will stand while the body turns on
        seen = _Axes(heading).seen

        limb = self.body.limbs[1 - stance]
        curve = self._curve(steps)
        hip = swinging.hip

        def at(later: float) -> tuple[float, float, float, float]:
            (share, height, toes), _ = curve.at((age + later) / steps.time)
            way = self._start + share * (end + later * moving - self._start) - hip
            ahead, aside = seen(way[0] - later * velocity[0], way[1] - later * velocity[1])
            forward, outward, knee = two_links(limb.lengths, ahead, aside, way[2] + height)
            return forward, outward, knee, toes - forward - knee

        forward, roll, bend, ankle = at(0.0)
        soon = at(AHEAD)
        rate: Array = pin.log3(posed(heading, soon[1], soon[0]).dot(posed(heading, roll, forward).T)) / AHEAD
        aid = Aid(
            heading=heading + min(1.0, age / steps.time) * lead,
            thigh_rate=rate + np.array([0.0, 0.0, wish[2]]),
            trunk_rate=np.array([0.0, 0.0, wish[2]]),
            knee_rate=(soon[2] - bend) / AHEAD,
            ankle_rate=(soon[3] - ankle) / AHEAD,
            roll=-roll,
            stance_ankle=Gain(*steps.ankle),
            stance_knee=Gain(*steps.knee),
            swing=np.zeros(3),
            stance=np.zeros(3),
            torque=np.zeros(self.robot.n),
        )
        self._carry(aid, stance)
        self._bear(aid, steps, stance, state)
        speed = seen(*velocity)
        self._drive(aid, steps, stance, state, heading, (wish[0] - speed[0], wish[1] - speed[1]))
        row = replace(
            row, swing_hip=forward, swing_roll=roll if stance == 1 else -roll, swing_knee=bend, swing_ankle=ankle,
            c_d=0.0, c_v=0.0, lateral=(0.0, 0.0),
        )  # fmt: skip
        return row, aid

    def _hurry(self, asked: Velocity, stamp: float) -> Velocity:
        """The velocity to aim at follows what is asked, no faster than legs get the body there."""
        passed = stamp - self._now
        if not 0.0 <= passed < LONGEST:
            self._wish, passed = (0.0, 0.0, 0.0), 0.0
        self._now = stamp
        (x, y, _), (a, b, turn) = self._wish, asked
        share = min(1.0, HURRY * passed / max(math.hypot(a - x, b - y), 1e-9))
        self._wish = x + share * (a - x), y + share * (b - y), turn
        return self._wish

    def _learn_pace(self, state: RobotState, begun: float, heading: float, wish: Velocity) -> None:
        """From the speed of the step that is over."""
        x, y, _ = state.com.tolist()
        passed = begun - self._begun
        if not 0.0 < passed < LONGEST:  # the first step of a walk
            self._pace = 0.0, 0.0
        else:
            u, v = _Axes(heading).seen((x - self._from[0]) / passed, (y - self._from[1]) / passed)
            ahead, aside = wish[0] - u, wish[1] - v
            if math.hypot(ahead, aside) < PUSHED:
                a, b = self._pace
                self._pace = _within(a + LEARNT * ahead, MOST), _within(b + LEARNT * aside, MOST)
        self._from = x, y

    def _follow(self, end: Array, stamp: float) -> Array:
        """How fast the landing point moves [m/s]; at rest when a step begins."""
        passed = stamp - self._stamp
        if not passed > 0.0:
            self._moving = np.zeros(3)
        else:
            self._moving = self._moving + min(1.0, passed / SETTLES) * ((end - self._end) / passed - self._moving)
        self._end, self._stamp = end, stamp
        return self._moving

    def _landing(
        self, steps: PendulumSteps, state: RobotState, velocity: Point, heading: float, left: float, wish: Velocity,
        stance: int,
    ) -> Array:  # fmt: skip
        """Of the swinging ankle, world (3,) [m]: within reach of the body and beside the other leg.

        ``heading`` of the body when it lands. What turns in the body now will turn no more then: the capture point is
        that of a body that has stopped turning.
        """
        omega, axes, ankle = state.omega, _Axes(heading), self._views[stance].ankle
        x, y, _ = (state.com - ankle).tolist()
        across, along, _ = (omega / self.robot.weight * state.angular_momentum).tolist()
        u, v = velocity
        capture = axes.seen(x + u / omega + along, y + v / omega - across)
        side, paced = (1.0 if stance == 1 else -1.0), (wish[0] + self._pace[0], wish[1] + self._pace[1])
        ahead, aside = steps.landing(omega, capture, axes.seen(*self._pressure), left, paced, side)
        cosh, sinh = math.cosh(omega * left), math.sinh(omega * left) / omega
        x, y = axes.seen(x * cosh + u * sinh, y * cosh + v * sinh)  # the body at the landing
        far = steps.reach * sum(self.body.limbs[stance].lengths)
        dx, dy = ahead - x, aside - y
        share = min(1.0, far / max(math.hypot(dx, dy), 1e-9))
        ahead, aside = x + share * dx, y + share * dy
        x, y = axes.world(ahead, side * max(side * aside, steps.apart))
        return ankle + np.array([x, y, 0.0])

    def _carry(self, aid: Aid, stance: int) -> None:
        """Torques that hold the swinging leg and what stands on the stance hip against gravity."""
        data, on, off = self._data, self.body.limbs[stance], self.body.limbs[1 - stance]
        for joint in (off.knee.index + 2, off.ankle.index + 2):
            aid.torque[joint - 2] = float(self._axis(off, joint).dot(self._weight(joint)))
        aid.swing = self._weight(off.hip_joints[0])
        hip, leg = on.hip_joints[0], data.mass[on.hip_joints[0]]
        whole, mine = data.com[0], data.oMi[hip].act(data.com[hip])
        rest = (data.mass[0] * whole - leg * mine) / (data.mass[0] - leg)
        aid.stance = -_moment(rest - self._views[stance].hip, (data.mass[0] - leg) * GRAVITY)

    def _bear(self, aid: Aid, steps: PendulumSteps, stance: int, state: RobotState) -> None:
        """The stance knee pushes along the line from the ankle to the CoM, as far as the hips are to be held up."""
        limb, view, knee = self.body.limbs[stance], self._views[stance], self.body.limbs[stance].knee.index + 2
        short = steps.height * sum(limb.lengths) - float(view.hip[2] - view.ankle[2])
        lift = GRAVITY + LIFT**2 * short - 2 * LIFT * float(state.com_velocity[2])
        line = state.com - view.ankle
        arm = view.ankle - self._data.oMi[knee].translation
        push = self.robot.mass * min(max(lift, LEAST * GRAVITY), MOST_LIFT * GRAVITY) / max(float(line[2]), 0.1) * line
        aid.torque[knee - 2] = -float(self._axis(limb, knee).dot(np.cross(arm, push)))

    def _weight(self, joint: int) -> Array:
        """Moment about a joint that carries all beyond it (3,) [N m]."""
        data = self._data
        place = data.oMi[joint]
        return _moment(place.act(data.com[joint]) - place.translation, data.mass[joint] * GRAVITY)

    def _axis(self, limb: Limb, joint: int) -> Array:
        axis: Array = self._data.oMi[joint].rotation.dot(limb.axis_of[joint])
        return axis

    def _drive(
        self, aid: Aid, steps: PendulumSteps, stance: int, state: RobotState, heading: float, error: Point
    ) -> None:
        """A horizontal force on the CoM through the stance leg; the ankle's share does not tip the sole."""
        limb, view = self.body.limbs[stance], self._views[stance]
        load = max(state.wrench.item(stance, 2), 0.0)
        back, front, right, left = self._levers[stance]
        tall = max(float(state.com[2] - view.ankle[2]), 0.1)
        # Forward the ground pushes behind the ankle, so that the heel is the bound, and so on.
        most = USED * load / tall
        x = min(max(steps.velocity[0] * error[0], -most * front), -most * back)
        y = min(max(steps.velocity[1] * error[1], -most * left), -most * right)
        x, y = _Axes(heading).world(x, y)
        force = np.array([x, y, 0.0])
        self._pressure = (-x * tall / load, -y * tall / load) if load > 0.0 else (0.0, 0.0)
        joints = [limb.knee.index, limb.ankle.index]
        if limb.ankle_roll is not None:
            joints.append(limb.ankle_roll.index)
        for index in joints:
            joint = index + 2
            arm = state.com - self._data.oMi[joint].translation
            aid.torque[index] -= float(self._axis(limb, joint).dot(np.cross(arm, force)))
        aid.stance -= np.cross(state.com - view.hip, force)


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)


def _moment(arm: Array, weight: float) -> Array:
    """Of an upward force: arm x (0, 0, weight)."""
    return np.array([arm[1] * weight, -arm[0] * weight, 0.0])
