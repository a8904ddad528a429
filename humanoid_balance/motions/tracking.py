"""Walking by a clip (specification A3 to A5): a reference that waits for the feet, bent for balance, then tracked.

The mode is asked for by a command whose gait is the path of a robot's clip. Four times a frame the pose that the clip
wants a frame later is bent by the balance feedback; the joints follow it in every tick,

    q_dd = k_t (q_r - q) + k_v (q_d_r - q_d) + q_dd_r

with velocity and acceleration of the bent pose from finite differences over a frame, as in the thesis. Its joints obey
exactly, whatever the ground does; here the drives hold them on the course that these accelerations make (q and q_d
above are the course's), and hybrid inverse dynamics feeds the torques forward.
"""

from __future__ import annotations

import math
from collections import deque
from functools import lru_cache
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.transitions import Transition
from humanoid_balance.errors import InputError
from humanoid_balance.motions.feedback import Errors, Modulation
from humanoid_balance.motions.fragments import ClipMoment, Walk
from humanoid_balance.motions.gain_table import table
from humanoid_balance.motions.hybrid import HybridDynamics
from humanoid_balance.motions.pose import Pose, ease
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.motions.synchronised import Synchronised
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Command, JointReference, RobotState

ENDING = ".npz"  # of a gait's name that is a clip
FRAME = 1 / 30  # [s]
AGAIN = FRAME / 4  # the reference is bent again after so long [s]; the thesis does it once a frame
K_T = 60.0  # [1/s²], A3: 20 to 60 in the thesis's code; k_v = 2 sqrt(k_t)
# The drives hold each joint as stiffly as this many times what gravity pulls at a body that leans on its ankles, and
# damp it by this many times the root of that: the thesis's joints obey exactly.
STIFF, DAMP = 40.0, 3.0  # [1], [sqrt(N m s²)]; with 10 and 2, hips gave way by 3 deg at landings and walks fell
K_V = 2.0 * math.sqrt(K_T)  # [1/s]
ANKLE_READY = 0.2  # of a fragment, after which the stance ankle answers fully (A4)
EVEN = 0.005  # over which torques are evened out [s]: the measured force of the ground jumps at landings
LANDED = 0.1  # share of the weight on the swing foot that is a landing, not a touch
SINKS = 0.02  # by which soles that carry are below the ground that the swing foot meets [m]: soft ground gives way
CARRIES = 0.1  # share of the weight below which the soles say nothing of the ground
SLIP = 0.1  # difference from the present velocity at which a foot that carries is half believed [m/s]: it may slide
SETTLES = 0.1  # time constant with which feet that carry correct the velocity [s]
SLOWEST = 0.1  # below this the motion has no direction of its own, and the pelvis's counts [m/s]
LEAN, LOWEST = 1.0, 0.62  # trunk off the vertical [rad] and share of the standing height at which walking is over


@lru_cache(maxsize=16)
def choice(robot: Robot, name: str) -> tuple[RobotClip, Walk] | str:
    """The walk of a file if this robot can go by it, otherwise why not."""
    try:
        if not (robot.drive_stiffness > 0.0).all():
            raise InputError(f"'{robot.spec}' has drives without stiffness; allowed: ROBOT:drives=impedance")
        clip = RobotClip.load(Path(name))
        return clip, Walk(clip, robot)
    except InputError as error:
        return str(error)


def asked(now: Situation, memory: Memory) -> bool:
    """The operator wants a walk that this robot has."""
    name = now.command.gait
    return name.endswith(ENDING) and not isinstance(choice(memory.robot, name), str)


def stopped(now: Situation, memory: Memory) -> bool:
    """Nobody asks for the walk any more, and both feet are down."""
    return not now.command.gait and bool(now.state.contact.all())


def lost(now: Situation, memory: Memory) -> str:
    """Why the walk is over; empty while there is hope."""
    lean = math.asin(min(1.0, math.hypot(*now.lean)))
    if lean > LEAN:
        return f"trunk leans {math.degrees(lean):.0f} deg"
    return f"CoM at {now.height:.2f} m" if now.height < LOWEST * memory.robot.com_height else ""


class Tracking(BalanceMode):
    """``reference`` is the clip under way, ``without`` parts of the control that are left out (ablations)."""

    name = "tracking"
    upright = False  # its own row tells when it is lost
    without: tuple[str, ...] = ()

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._law: HybridDynamics | None = None

    def answers(self, command: Command) -> bool:
        return command.gait.endswith(ENDING) and not isinstance(choice(self.memory.robot, command.gait), str)

    def enter(self, now: Situation) -> None:
        super().enter(now)
        robot, state = self.memory.robot, now.state
        found = choice(robot, now.command.gait)
        assert not isinstance(found, str)
        clip, walk = found
        self._law = self._law or HybridDynamics(robot)
        self._data, self._zero = robot.model.createData(), np.zeros(robot.n)
        self.gains = table().of(clip.name)
        self.modulation = Modulation(robot, self.without)
        pelvis = pin.Quaternion(state.q[3:7]).matrix()
        begin = Pose(state.q[:3], pelvis, state.q[7:].copy())
        self.reference = Synchronised(walk, state.stamp, now.yaw, begin, "synchronisation" not in self.without)
        self._pelvis = pelvis
        self._stamp = state.stamp
        self._drive = state.q[7:].copy(), np.zeros(robot.n)
        self._stiffness = np.full(robot.n, STIFF * robot.weight * robot.com_height)
        self._damping = DAMP * np.sqrt(self._stiffness)
        self._targets: deque[tuple[float, Array]] = deque([(state.stamp, state.q[7:].copy())])
        self._due = state.stamp
        self._velocity, self._drift, self._ground = np.zeros(3), np.zeros(3), state.ground_height
        self._torque = self._law.torque(state.q, state.v, self._zero, state.wrench)

    def _over_ground(self, state: RobotState, passed: float) -> tuple[Array, float]:
        """Velocity of the pelvis (3,), and height of the ground in the axes of ``state.q``, from what carries.

        A sole that rolls or sinks in neither stands nor slips, so the velocity of an estimator that waits for standing
        soles is smooth, but drifts. Where the ground presses, at the centre of pressure, the foot is at rest, but for
        landings: what that says of the velocity is rough, and does not drift. So it corrects the other slowly.
        """
        robot, data, v = self.memory.robot, self._data, state.v.copy()
        v[:3] = 0.0
        pin.forwardKinematics(robot.model, data, state.q, v)
        smooth = data.oMi[1].rotation.dot(state.v[:3])
        load = np.where(state.contact, np.maximum(state.wrench[:, 2], 0.0), 0.0)
        total = float(load.sum())
        if total < CARRIES * robot.weight:
            return smooth + self._drift, self._ground
        ground = 0.0
        for side, frame in enumerate(robot.sole_frames):
            if load[side] > 0.0:
                place, twist = pin.updateFramePlacement(robot.model, data, frame), pin.getFrameVelocity(
                    robot.model, data, frame, pin.ReferenceFrame.LOCAL
                )  # fmt: skip
                wrench, corners = state.wrench[side], robot.soles[side]
                point = np.array([-wrench[4] / wrench[2], wrench[3] / wrench[2], 0.0])
                point = np.clip(point, corners.min(axis=0), corners.max(axis=0))
                (x, y, _), (wx, wy, wz) = point.tolist(), twist.angular.tolist()
                turned = np.array([-wz * y, wz * x, wx * y - wy * x])  # angular velocity x point, in the sole
                off = -place.rotation.dot(twist.linear + turned) - smooth - self._drift
                share = load[side] / total
                slips = float(off.dot(off)) / SLIP**2
                self._drift = self._drift + share * min(1.0, passed / SETTLES) / (1.0 + slips) * off
                ground += share * float(place.act(point)[2])
        return smooth + self._drift, ground

    def update(self, now: Situation) -> JointReference:
        state, stamp = now.state, now.state.stamp
        passed = stamp - self._stamp
        velocity, self._ground = self._over_ground(state, passed)
        self._velocity = self._velocity + min(1.0, passed / FRAME) * (velocity - self._velocity)
        if stamp >= self._due:
            self._due = max(stamp, self._due + AGAIN)
            self._course = stamp, *self._bent(state)
        since, target, velocity, acceleration = self._course
        target = target + (stamp - since) * velocity
        self._stamp = stamp
        position, speed = self._drive
        wanted = K_T * (target - position) + K_V * (velocity - speed) + acceleration
        speed = speed + passed * wanted
        position = position + passed * speed
        self._drive = position, speed
        assert self._law is not None
        torque = self._law.torque(state.q, state.v, wanted, state.wrench)
        self._torque = torque = self._torque + min(1.0, passed / EVEN) * (torque - self._torque)
        return JointReference(stamp, self.name, position, speed, self._zero, self._stiffness, self._damping, torque)

    def _bent(self, state: RobotState) -> tuple[Array, Array, Array]:
        """Target, velocity and acceleration of the joints (n,)."""
        stamp, reference = state.stamp, self.reference
        swing = 1 - reference.stance
        landed = bool(state.contact[swing]) and state.wrench[swing, 2] > LANDED * self.memory.robot.weight
        then, target = self._targets[-1]
        reference.update(stamp, landed, target, self._pelvis, then)
        pose, _ = reference.at(stamp)  # the clock of the reference is a frame ahead of the body
        here = reference.sample(stamp - FRAME)
        self._pelvis = pose.rotation
        target = self._modulated(state, pose, here, stamp)
        self._targets.append((stamp, target))
        while len(self._targets) > 2 and self._targets[1][0] <= stamp - 2 * FRAME:
            self._targets.popleft()
        before, earlier = self._at(stamp - FRAME), self._at(stamp - 2 * FRAME)
        return target, (target - before) / FRAME, (target - 2.0 * before + earlier) / FRAME**2

    def _at(self, stamp: float) -> Array:
        """The target at an earlier time (n,)."""
        targets = self._targets
        if stamp <= targets[0][0]:
            return targets[0][1]
        age = targets[-1][0] - targets[0][0]
        guess = int((len(targets) - 1) * (stamp - targets[0][0]) / age)
        k = min(max(guess, 0), len(targets) - 2)
        while k > 0 and targets[k][0] > stamp:
            k -= 1
        while k < len(targets) - 2 and targets[k + 1][0] < stamp:
            k += 1
        (t0, a), (t1, b) = targets[k], targets[k + 1]
        return np.asarray(a + (b - a) * ((stamp - t0) / (t1 - t0)))

    @staticmethod
    def _direction(here: ClipMoment) -> tuple[float, float]:
        """Of the motion, a horizontal unit vector."""
        x, y = here.velocity[:2].tolist()
        if math.hypot(x, y) < SLOWEST:
            x, y = here.pose.rotation[:2, 0].tolist()
        speed = math.hypot(x, y)
        return x / speed, y / speed

    def _modulated(self, state: RobotState, pose: Pose, here: ClipMoment, stamp: float) -> Array:
        reference, data, stance = self.reference, self._data, self.reference.stance
        standing, swinging = reference.walk.legs[stance], reference.walk.legs[1 - stance]
        thigh, base = data.oMi[standing.thigh].rotation, data.oMi[1].rotation
        distance = data.oMi[1].translation - data.oMi[standing.ankle_joint].translation
        x, y = self._direction(here)

        def planes(error: Array) -> tuple[float, float]:
            ex, ey = error[:2].tolist()
            return x * ex + y * ey, x * ey - y * ex

        height = float(data.oMi[swinging.ankle_joint].translation[2]) - self._ground
        place = data.oMi[swinging.ankle_joint]
        rise = float(place.rotation[2].dot(data.v[swinging.ankle_joint].linear)) + float(self._velocity[2])
        errors = Errors(
            (x, y), planes(here.velocity - self._velocity), planes(here.distance - distance),
            here.height - (height - SINKS), here.rise - rise,
        )  # fmt: skip
        phase = reference.phase(stamp)
        s = ease(phase)
        return self.modulation.update(
            self.gains, pose.joints, pose.rotation, stance, thigh, base, errors, s, s,
            ease(phase, 0.0, ANKLE_READY), reference.late(stamp), reference.fragment.both,
        )  # fmt: skip


ROWS = (
    Transition("stable", "tracking", asked, "asked to walk by a clip"),
    Transition("tracking", "falling", lost, "nothing more can be won on the feet"),
    Transition("tracking", "in place", stopped, "asked to stop"),
)
