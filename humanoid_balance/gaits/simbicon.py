"""SIMBICON's torques: poses by joint feedback, an upright trunk, and a swing hip that answers to balance.

Yin, Loken, van de Panne, "SIMBICON: Simple biped locomotion control", SIGGRAPH 2007. Knees, ankles and all that is not
a leg follow the table by joint feedback, tau = k (q* - q) - d q'. Trunk and swinging thigh are held in the world by
virtual torques; the stance hip gives what is left over, so that only internal torques act:

    T_swing  = k e(thigh) - d w(thigh)         on the swinging thigh
    T_trunk  = k e(trunk) - d w(trunk)         on the trunk
    T_stance = - T_trunk - T_swing             on the stance thigh

The swing hip's angle is moved, in both planes, by where the hips are and how fast they go:

    theta = theta_0 + c_d d + c_v v            d: stance ankle -> hips, v: speed of the hips, horizontal

Forward it stays within the range of the table's ``thigh``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import ConfigError
from humanoid_balance.gaits.limb_views import LimbViews, hold, posed
from humanoid_balance.gaits.limbs import JointedBody, Limb
from humanoid_balance.gaits.table import Gain, GaitState, GaitTable
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, RobotState

# Yin computed with 0.1 ms. Drives with feedback of their own are as fast, and get his gains as they are. Where the
# control loop closes the feedback, a damper that stops a free link in less than a period shakes it instead, so the
# feedback of a joint whose link is free is no stiffer than that. Of Yin's gains only the ankle's are, 30 N m s/rad on a
# foot of 0.006 kg m². While the foot stands, the rest of the damping acts on the shank's rate instead of the ankle's:
# the same while the sole lies flat, and no loop through the light foot while it rolls.
BEARABLE = 0.5  # damping x period / inertia
PERIOD = 0.001  # of the control loop until told [s]; also that of end stops in drives
HEAVY = 0.2  # share of the weight above which a foot's centre of pressure is known well enough to measure speed by
# While both feet carry less than this share of the weight, no ground holds the stance leg: what the swinging leg leaves
# over would throw it away under a body that then lands on nothing. The trunk, which is heavy, takes it. In a run, whose
# states all end by time, the leg is thrown on purpose: that is how it gets under the body.
LIGHT = 0.1
# While the body falls over its stance leg the target of the swinging thigh runs ahead, and the thigh follows damping /
# stiffness seconds behind: 0.1 s, 0.35 rad. The tables have allowed for that in steps that last as long as usual; where
# the ground is lower than expected the foot comes down too far back. A late foot is spared half of it; with all of it,
# it comes down too far ahead after 0.25 m.
LEAD = 0.5
STOP = 0.05  # a joint so far beyond its range is driven back with all its torque [rad]; the safety box trips at 0.15
STOP_BEARABLE = 0.2  # stiffness of such a stop x period² / inertia


@dataclass(slots=True)
class Balance:
    """Where the hips are, seen from the stance ankle, and how fast they go; along and across the heading."""

    d: tuple[float, float]  # forward, left [m]
    v: tuple[float, float]  # [m/s]


@dataclass(slots=True)
class Aid:
    """What a gait adds that computes its poses tick by tick, and so knows how fast they change."""

    heading: float  # of the swinging thigh [rad]
    thigh_rate: Array  # wanted of the swinging thigh, world (3,) [rad/s]
    trunk_rate: Array  # wanted of the trunk, world (3,) [rad/s]
    knee_rate: float  # of the swinging knee and ankle, in the sense of the table [rad/s]
    ankle_rate: float
    roll: float  # of the swinging ankle, in the sense of the table [rad]
    stance_ankle: Gain  # in place of the table's
    stance_knee: Gain
    swing: Array  # torque on the swinging thigh that carries the leg, world (3,) [N m]
    stance: Array  # torque on the stance thigh beside what is left over, world (3,) [N m]
    torque: Array  # of all joints beside the hips (n,) [N m]


@dataclass(slots=True)
class Torques:
    """Joint feedback and feed-forward of a tick, and what led to it."""

    position: Array
    velocity: Array
    stiffness: Array
    damping: Array
    torque: Array
    balance: Balance
    sliding: tuple[float, float] | None  # see Simbicon._sliding
    trunk: Array  # virtual torque on the trunk, world (3,) [N m]


class Simbicon:
    """Torques of a state of a gait on a robot. Keeps nothing from tick to tick."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.body = robot, JointedBody(robot)
        self._data = robot.model.createData()
        self._views = tuple(LimbViews(limb, self._data) for limb in self.body.limbs)
        self._base, self._place = self._data.oMi[1].rotation, self._data.oMi[1].translation
        self._hips = self.body.hips.tolist()
        corners = np.linalg.norm(robot.soles[0] - robot.sole_centres[0], axis=1)
        self._grip = robot.config.friction * float(corners.mean()) / 2  # yaw torque per newton on the sole [m]
        self._light = LIGHT * robot.mass * GRAVITY
        self._heavy = HEAVY * robot.mass * GRAVITY
        self.pace(PERIOD)
        self._zero = np.zeros(robot.n)
        self._hips_of_both = np.array([j for limb in self.body.limbs for j in limb.hip])
        self._hip_limits = [[float(robot.torque_limit[j]) for j in limb.hip] for limb in self.body.limbs]

    def pace(self, period: float) -> None:
        """Take the control period [s]; drives with feedback of their own close it faster."""
        robot = self.robot
        self._onboard = onboard = (robot.drive_stiffness > 0.0) | (robot.drive_damping > 0.0)
        self.period = period
        self._table: GaitTable | None = None
        self._period = np.where(onboard, PERIOD, period)  # of each joint's feedback (n,)
        self._stop = np.minimum(robot.torque_limit / STOP, STOP_BEARABLE * self.body.inertia / self._period**2)

    def _matching(self, pattern: str) -> list[int]:
        """Joints beside the legs."""
        return [i for i in self.body.others if fnmatchcase(self.robot.joint_names[i], pattern)]

    def check(self, table: GaitTable) -> None:
        """Complain about what this robot lacks."""
        robot = self.robot
        for pattern, angle in table.posture.items():
            if not self._matching(pattern):
                known = ", ".join(robot.joint_names[i] for i in self.body.others) or "none"
                raise ConfigError(
                    table.file, f"posture.{pattern}", angle, f"joints of '{robot.spec}' beside its legs: {known}"
                )
        if table.space == "space" and robot.planar:
            raise ConfigError(
                table.file, "space", table.space, f"'plane': '{robot.spec}' cannot move its legs sideways"
            )

    def _take(self, table: GaitTable) -> None:
        """Gains and posture of the joints for a gait."""
        robot, body = self.robot, self.body
        self._table = table
        k, d = np.zeros(robot.n), np.zeros(robot.n)

        for joints, gain in ((body.others, table.gains.rest), (body.between, table.gains.waist)):
            share = np.minimum(1.0, robot.torque_limit[joints] / max(gain.stiffness, 1e-9))  # weak joints are light
            k[joints], d[joints] = share * gain.stiffness, share * gain.damping
        for limb in body.limbs:
            legs = [(limb.knee.index, table.gains.knee), (limb.ankle.index, table.gains.ankle)]
            for joint, gain in legs + [(joint, table.gains.hip) for joint in limb.hip]:
                k[joint], d[joint] = gain.stiffness, gain.damping
        self._posture = robot.posture.copy()
        for limb in body.limbs:
            if limb.ankle_roll is not None:
                self._posture[limb.ankle_roll.index] = limb.ankle_roll.position(0.0)
        for pattern, angle in table.posture.items():
            self._posture[self._matching(pattern)] = angle
        self._loaded = k, d
        self._free = tuple(self._bearable(k, d, limb, table.gains.torso) for limb in body.limbs)

    def _bearable(self, k: Array, d: Array, on: Limb, torso: Gain) -> tuple[Array, Array]:
        """Gains while no foot stands; the hip of the stance leg ``on`` holds the trunk."""
        k, d = k.copy(), d.copy()
        k[list(on.hip)], d[list(on.hip)] = torso.stiffness, torso.damping
        share = np.minimum(1.0, BEARABLE * self.body.inertia / self._period / np.maximum(d, 1e-9))
        share[self._onboard] = 1.0
        return share * k, share * d

    def update(
        self, table: GaitTable, row: GaitState, stance: int, state: RobotState, heading: float,
        trunk_forward: float = 0.0, drift: tuple[float, float] = (0.0, 0.0), aid: Aid | None = None,
        late: bool = False,
    ) -> Torques:  # fmt: skip
        """``heading`` [rad] is where the trunk should look.

        ``trunk_forward`` is a learnt torque on the trunk, forward leaning [N m]; ``drift`` is how far the estimated
        velocity is known to be wrong, world [m/s]; ``late``: the swinging foot has not found the ground in time.
        """
        if table is not self._table:
            self._take(table)
        robot, body, data = self.robot, self.body, self._data
        on, off = body.limbs[stance], body.limbs[1 - stance]
        pin.forwardKinematics(robot.model, data, state.q, state.v)
        balance = self._balance(state, stance, heading, drift)
        (dx, dy), (vx, vy) = balance.d, balance.v

        joints, rates = state.q[7:], state.v[6:]
        position, velocity, torque = self._posture.copy(), self._zero.copy(), self._zero.copy()
        k, d = self._loaded
        k_free, d_free = self._free[stance]
        stiffness, damping = k_free.copy(), d_free.copy()
        if state.contact[stance]:
            i = on.ankle.index
            stiffness[i] = k[i]
            torque[i] = (d[i] - damping[i]) * on.ankle_axis.dot(self._views[stance].shank_rate)
        c_d, c_v = row.ankle
        position[on.knee.index] = on.knee.position(row.stance_knee)
        position[on.ankle.index] = on.ankle.position(row.stance_ankle + c_d * dx + c_v * vx)
        position[off.knee.index] = off.knee.position(row.swing_knee)
        position[off.ankle.index] = off.ankle.position(row.swing_ankle)

        back, ahead = table.thigh
        forward = row.swing_hip + row.c_d * dx + row.c_v * vx
        lead = LEAD * row.c_d * vx if late and back < forward < ahead else 0.0
        forward = min(max(forward, back), ahead)
        c_d, c_v = row.lateral
        outward = row.swing_roll if stance == 1 else -row.swing_roll  # the left leg's outside is the left
        left = outward + c_d * dy + c_v * vy + table.drift
        swinging = self._views[1 - stance]
        thigh, base = swinging.thigh, self._base
        thigh_rate, trunk_rate = thigh.dot(swinging.thigh_rate), base.dot(state.v[3:6])
        wanted = posed(heading, left, forward)
        if aid is not None:
            wanted = posed(aid.heading, left, forward)
            thigh_rate, trunk_rate = thigh_rate - aid.thigh_rate, trunk_rate - aid.trunk_rate
            self._aided(aid, on, off, position, velocity, torque, stiffness, damping)
        if lead:
            thigh_rate = thigh_rate + lead * wanted[:, 1]  # forward is about the thigh's own -y
        swing = hold(table.gains.hip, wanted, thigh.dot(off.upright), thigh_rate)
        wanted = posed(heading, 0.0, row.torso)
        trunk = hold(table.gains.torso, wanted, base.dot(body.level), trunk_rate)
        if trunk_forward:
            trunk += trunk_forward * np.array([-math.sin(heading), math.cos(heading), 0.0])
        # About the vertical the standing sole holds by friction alone; more would only spin a leg.
        grip = self._grip * max(state.wrench.item(stance, 2), 0.0)
        swing[2] = min(max(swing[2], -grip), grip)
        if aid is not None:
            trunk, swing = trunk - aid.stance - aid.swing, swing + aid.swing
        swing = self._share(1 - stance, swing, torque)
        borne = (max(state.wrench.item(0, 2), 0.0) + max(state.wrench.item(1, 2), 0.0)) / self._light
        rest = -trunk - (swing if borne > 1.0 or not table.lands else borne * swing)
        rest[2] = min(max(rest[2], -grip), grip)
        self._share(stance, rest, torque)
        # What the hips give is right at this state. Until the next tick it changes with the joint as the law's does:
        # a drive with feedback of its own goes on with that, and for others these terms are zero.
        hips = self._hips_of_both
        position[hips], velocity[hips] = joints[hips], rates[hips]
        beyond = np.minimum(np.maximum(joints, robot.lower), robot.upper)
        if (beyond != joints).any():  # an end stop: one spring more
            stop = np.where(beyond != joints, self._stop, 0.0)
            position = (stiffness * position + stop * beyond) / np.maximum(stiffness + stop, 1e-9)
            stiffness = stiffness + stop
        return Torques(position, velocity, stiffness, damping, torque, balance, self._sliding(state), trunk)

    @staticmethod
    def _aided(
        aid: Aid, on: Limb, off: Limb, position: Array, velocity: Array, torque: Array, stiffness: Array, damping: Array
    ) -> None:
        """Speeds of the swinging knee and ankle, a foot that rolls with the leg, the stance ankle's own gains."""
        velocity[off.knee.index] = off.knee.sign * aid.knee_rate
        velocity[off.ankle.index] = off.ankle.sign * aid.ankle_rate
        ankles = [on.ankle.index]
        if off.ankle_roll is not None and on.ankle_roll is not None:
            position[off.ankle_roll.index] = off.ankle_roll.position(aid.roll)
            ankles.append(on.ankle_roll.index)
        stiffness[ankles], damping[ankles] = aid.stance_ankle.stiffness, aid.stance_ankle.damping
        knee = on.knee.index
        stiffness[knee], damping[knee] = aid.stance_knee.stiffness, aid.stance_knee.damping
        torque[ankles] = 0.0
        torque += aid.torque

    def _share(self, side: int, wanted: Array, torque: Array) -> Array:
        """Spread a torque on a thigh over the hip's axes, within their limits; what acts on it in the end (3,)."""
        limb = self.body.limbs[side]
        axes = [rotation.dot(axis) for rotation, axis in zip(self._views[side].hips, limb.axes, strict=True)]
        free = True
        for joint, axis, limit in zip(limb.hip, axes, self._hip_limits[side], strict=True):
            given = float(axis.dot(wanted))
            if abs(given) > limit:
                given, free = math.copysign(limit, given), False
            torque[joint] = given
        if len(axes) == 1:
            return axes[0] * torque[limb.hip[0]]
        return wanted if free or len(axes) != 3 else np.linalg.solve(np.array(axes), torque[list(limb.hip)])

    def _sliding(self, state: RobotState) -> tuple[float, float] | None:
        """How fast the ground's points of contact seem to go over it, world [m/s]; None with no foot loaded.

        A foot that rolls over heel or toes turns about its centre of pressure, so that this point stands still.
        """
        along = across = weight = 0.0
        for limb, wrench in zip(self._views, state.wrench.tolist(), strict=True):
            _, _, force, about_x, about_y, _ = wrench
            if force < self._heavy:
                continue
            x, y, z = limb.pressed(-about_y / force, about_x / force)
            u, v, w, a, b, c = limb.foot_twist.tolist()
            u, v, w = u + b * z - c * y, v + c * x - a * z, w + a * y - b * x
            (a, b, c), (d, e, f), _ = limb.foot.tolist()
            along += force * (a * u + b * v + c * w)
            across += force * (d * u + e * v + f * w)
            weight += force
        return (along / weight, across / weight) if weight > 0.0 else None

    def _balance(self, state: RobotState, stance: int, heading: float, drift: tuple[float, float]) -> Balance:
        rx, ry, rz = self._hips
        (a, b, c), (d, e, f), _ = self._base.tolist()
        (x, y, _), (ax, ay, _) = self._place.tolist(), self._views[stance].ankle.tolist()
        x, y = x + a * rx + b * ry + c * rz - ax, y + d * rx + e * ry + f * rz - ay
        ux, uy, uz, wx, wy, wz = state.v[:6].tolist()
        ux, uy, uz = ux + wy * rz - wz * ry, uy + wz * rx - wx * rz, uz + wx * ry - wy * rx
        vx, vy = a * ux + b * uy + c * uz - drift[0], d * ux + e * uy + f * uz - drift[1]
        c, s = math.cos(heading), math.sin(heading)
        return Balance((c * x + s * y, c * y - s * x), (c * vx + s * vy, c * vy - s * vx))
