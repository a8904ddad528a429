"""The last word before the motors: it can only make a command smaller.

States: ``disarmed`` (no torque), ``armed`` (damping), ``active`` (the controller's torques). A trip is latched: damping
until ``reset``, ``arm``, ``activate``. Every trip names what, where, the value and the limit. What leaves is finite,
within the torque limit and its rate, whatever comes in; ``activate`` forgets all earlier ticks. No check asks whether a
push is reported: that is an estimate, which a fault can fake.

A body that hits the ground throws its joints about, and nobody's motor is at fault. While a command says that the body
gives way (``yielding``: a fall, or lying on the ground), a joint beyond its range or speed is braked by the box, as a
trip would do, for as long as it is there; the others go on giving way, and nothing is latched. A joint that gets faster
and faster against its motor is given no torque until the command no longer yields: right for a limb that the body rolls
over and for a motor gone mad, which look alike then. All other checks count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety import fields
from humanoid_balance.safety.bounds import ABSURD, TorqueBounds
from humanoid_balance.safety.following import FollowWatch
from humanoid_balance.safety.glance import Glance
from humanoid_balance.safety.runaway import RunawayWatch
from humanoid_balance.safety.speed import CEILING, SpeedWatch
from humanoid_balance.safety.trip import Trip
from humanoid_balance.types import Array, Flags, RobotState, SensorFrame, TorqueCommand

COMMAND_AGE = 0.020  # [s]
DISORDER = 0.010  # frames overtake one another on their way: stamps may go back, and a command be ahead, by this [s]
GAP = 0.5  # between two frames; after such a time the boards have switched off [s]
READING, POSITION, VELOCITY, FOLLOWED, EFFORT = range(5, 10)  # rows of the glance, behind the fields of the command
SILENCE = 0.020  # a joint without a reading for longer has stopped answering [s]


class Arming(Enum):
    DISARMED = "disarmed"
    ARMED = "armed"
    ACTIVE = "active"
    TRIPPED = "tripped"


@dataclass(frozen=True)
class SafetyLimits:
    """What is still normal. The defaults are generous: they stop accidents, they do not shape motion."""

    velocity_factor: float = 1.5  # of the joint's velocity limit ...
    velocity_margin: float = 3.0  # ... and this much more [rad/s]; short excursions pass, see ``speed``
    position_margin: float = 0.15  # beyond the joint's range [rad]
    rate: float = 0.2  # largest change of torque in a tick, as a share of the torque limit


class SafetyBox:
    """Checks command and sensors, then bounds torque and its rate. ``bounds.share`` lowers the limit of hot joints."""

    def __init__(self, robot: Robot, limits: SafetyLimits | None = None) -> None:
        self.robot = robot
        self.limits = limits or SafetyLimits()
        self.arming = Arming.DISARMED
        self.trip: Trip | None = None
        self.bounds = TorqueBounds(robot.torque_limit, self.limits.rate)
        self._varying = not robot.actuation.constant
        self._fastest = self.limits.velocity_factor * robot.velocity_limit + self.limits.velocity_margin
        self._low = robot.lower - self.limits.position_margin
        self._high = robot.upper + self.limits.position_margin
        self._reading_low, self._reading_high = fields.limits_of_reading(robot)
        self._command_low, self._command_high = fields.limits_of_command(robot)
        self._shapes = ((robot.n,),) * 7 + ((7 + robot.n,), (6 + robot.n,))
        self._excess = np.zeros(robot.n)  # measured torque beyond the one of the last tick [N m]
        self._last = 0.0  # stamp of the last frame that had one [s]
        self._forget()
        rows = [self._reading_high, self._high, self._fastest, self.following.excess, self.runaway.effort]
        low = [self._reading_low, self._low, *(-row for row in rows[2:])]
        self._glance = Glance(np.vstack([self._command_low, low]), np.vstack([self._command_high, rows]))

    def _forget(self) -> None:
        """All that was remembered of earlier ticks."""
        self.runaway, self.following = RunawayWatch(self.robot), FollowWatch(self.robot)
        self.speed = SpeedWatch(self._fastest)
        self._stamp: float | None = None  # of the last frame [s]
        self._complete: float | None = None  # stamp of the last frame, if it had a reading of every joint [s]
        self._heard = np.full(self.robot.n, np.inf)  # stamp of each joint's last reading, while one is missing [s]
        self._released = np.zeros(self.robot.n, dtype=bool)  # joints that ran away in a command that yields

    @property
    def stopped(self) -> bool:
        """Only the brake leaves, whatever is asked for, until ``reset``."""
        return self.arming is Arming.TRIPPED

    def arm(self) -> None:
        if self.arming is Arming.DISARMED:
            self.arming = Arming.ARMED

    def activate(self, torque: Array) -> None:
        """Let the controller through; its torque continues from ``torque``, the one the motors give now."""
        if self.arming is Arming.ARMED:
            self.arming = Arming.ACTIVE
            self.bounds.start(torque)
            self._forget()

    def disarm(self) -> None:
        if self.arming is not Arming.TRIPPED:
            self.arming = Arming.DISARMED

    def stop(self, trip: Trip) -> None:
        """Emergency stop or any fault: damping, latched."""
        if self.arming is not Arming.TRIPPED:
            self.trip = trip
        self.arming = Arming.TRIPPED

    def reset(self) -> None:
        """Clear a trip; the robot is disarmed afterwards."""
        self.arming, self.trip = Arming.DISARMED, None

    def update(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> TorqueCommand:
        """The command that may go to the motors."""
        if self.arming is Arming.ACTIVE:
            try:
                sent = self._admit(frame, state, command)
            except (TypeError, ValueError, AttributeError, ArithmeticError, RuntimeWarning) as error:
                # Arrays that are none, or of another length; arithmetic where the caller made a warning an error.
                trip = fields.misshapen(self.robot.n, frame, state, command)
                sent = trip or Trip(f"nothing can be computed ({error})", "safety box", math.nan, 0.0, "", "command")
            if isinstance(sent, TorqueCommand):
                return sent
            self.stop(sent)
        if math.isfinite(frame.stamp):
            self._last = float(frame.stamp)
        if self.arming is Arming.DISARMED:
            return TorqueCommand.damp(self._last, np.zeros(self.robot.n))
        return TorqueCommand.damp(self._last, self.robot.brake)

    def _admit(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> TorqueCommand | Trip:
        """The bounded command, or what is wrong."""
        if not state.valid:
            return Trip("no usable sensors", "estimator", float(frame.stamp - state.stamp), COMMAND_AGE, "s", "state")
        q, v = state.q, state.v
        shapes = (
            command.torque.shape, command.position.shape, command.velocity.shape, command.stiffness.shape,
            command.damping.shape, frame.position.shape, frame.torque.shape, q.shape, v.shape,
        )  # fmt: skip
        if shapes != self._shapes:
            raise ValueError
        q, v = q[7:], v[6:]
        trip = self._check_stamps(float(frame.stamp), float(state.stamp), float(command.stamp))
        if trip is not None:
            return trip
        np.subtract(frame.torque, self.bounds.previous, self._excess)
        glance = self._glance
        glance.look(
            command.torque, command.position, command.velocity, command.stiffness, command.damping,
            frame.position, q, v, self._excess, frame.torque,
        )  # fmt: skip
        if not glance.well_before(EFFORT):
            trip = self._look_closely(frame, q, v, command)
            if trip is None and command.yielding:
                command = self._braked(command, q, v)
        else:
            self._complete = frame.stamp
            self.following.reset()
            trip = None
        if glance.well(EFFORT):
            self.runaway.reset()
        elif trip is None:
            trip = self._check_opposed(frame, v, command.yielding)
        if trip is not None:
            return trip
        if not command.yielding:
            self._released[:] = False
        elif self._released.any():
            command = _without(command, self._released)
        if self._varying:
            self.bounds.narrow(*self.robot.actuation.bounds(q, v))
        sent = self.bounds.apply(command, q, v)
        if not self.bounds.sound:
            return Trip("the last torque is not remembered", "safety box", math.nan, 0.0, "N m", "box.bounds")
        return sent

    def _check_stamps(self, frame: float, state: float, command: float) -> Trip | None:
        """Stamps [s] of this tick and the frame before."""
        last = self._stamp if self._stamp is not None else frame
        self._period = frame - last
        self._stamp = frame
        if not -DISORDER <= self._period <= GAP:
            back = self._period < 0.0
            what = "sensor stamps go back" if back else "sensor stamps jump"
            return Trip(what, "sensors", self._period, -DISORDER if back else GAP, "s", "frame.stamp")
        if not -DISORDER <= frame - command <= COMMAND_AGE:
            what = "command is ahead of its time" if command > frame else "old command"
            limit = -DISORDER if command > frame else COMMAND_AGE
            return Trip(what, "controller", frame - command, limit, "s", "command.stamp")
        if not -DISORDER <= frame - state <= COMMAND_AGE:
            what = "state is ahead of its time" if state > frame else "old state"
            limit = -DISORDER if state > frame else COMMAND_AGE
            return Trip(what, "estimator", frame - state, limit, "s", "state.stamp")
        return None

    def _look_closely(self, frame: SensorFrame, q: Array, v: Array, command: TorqueCommand) -> Trip | None:
        """At a tick that is not plainly well; ``q``, ``v`` are the joints' (n,)."""
        names, glance = self.robot.joint_names, self._glance
        if not glance.well_before(READING):
            trip = fields.absurd(names, self._command_low, self._command_high, command)
            if trip is not None:
                return trip
        if not (glance.well(POSITION) and glance.well(VELOCITY)):
            trip = _not_numbers(names, q, v) if command.yielding else self._check_motion(frame.stamp, q, v)
            if trip is not None:
                return trip
        silent = self._silent(frame)
        if silent is not None:
            age = float(frame.stamp - self._heard[silent])
            return Trip("joint does not answer", names[silent], age, SILENCE, "s", "frame.position, frame.torque")
        return self._check_followed(frame)

    def _check_motion(self, stamp: float, q: Array, v: Array) -> Trip | None:
        names = self.robot.joint_names
        trip = _not_numbers(names, q, v)
        if trip is not None:
            return trip
        fast = self.speed.update(stamp, max(self._period, 0.0), v)
        if not self.speed.sound():
            return Trip("the last speeds are not remembered", "safety box", math.nan, 0.0, "s", "box.speed")
        if fast is not None:
            limit = float(self.speed.limit[fast])
            return Trip("joint too fast", names[fast], float(v[fast]), limit, "rad/s", "state.v")
        inside = (q >= self._low) & (q <= self._high)
        if not inside.all():
            i = int(np.argmin(inside))
            limit = float(self._low[i] if q[i] < self._low[i] else self._high[i])
            return Trip("joint outside its range", names[i], float(q[i]), limit, "rad", "state.q")
        return None

    def _braked(self, command: TorqueCommand, q: Array, v: Array) -> TorqueCommand:
        """The command with the brake on each joint that is beyond its range or speed."""
        thrown = (np.abs(v) > self._fastest) | (q < self._low) | (q > self._high)
        if not thrown.any():
            return command
        most = CEILING * self._fastest  # beyond it the brake gives all it has anyway
        brake = -self.robot.brake * np.minimum(np.maximum(v, -most), most)
        rest = _without(command, thrown)
        return replace(rest, torque=np.where(thrown, brake, rest.torque))

    def _check_followed(self, frame: SensorFrame) -> Trip | None:
        """A motor that does what nobody asked for."""
        if self._glance.well(FOLLOWED):
            self.following.reset()
            return None
        with np.errstate(all="ignore"):  # the memory may be infinite
            over = self.following.update(frame.stamp, frame.torque, self.bounds.previous)
        if not self.following.sound():
            return Trip("the last torques are not remembered", "safety box", math.nan, 0.0, "s", "box.following")
        if over is None:
            return None
        value, asked = float(frame.torque[over]), float(self.bounds.previous[over])
        limit = max(math.copysign(asked, asked * value), 0.0) + float(self.following.excess[over])
        what, where = "motor gives what nobody asked for", self.robot.joint_names[over]
        return Trip(what, where, value, math.copysign(limit, value), "N m", "frame.torque")

    def _check_opposed(self, frame: SensorFrame, v: Array, yielding: bool) -> Trip | None:
        """A joint that moves against its motor; in a command that yields it is released instead."""
        away = self.runaway.update(frame.stamp, frame.torque, v)
        if not self.runaway.sound():
            return Trip("the last speeds are not remembered", "safety box", math.nan, 0.0, "rad/s", "box.runaway")
        if away is None:
            return None
        if yielding:
            self._released[away] = True
            return None
        value, limit = float(v[away]), self.runaway.limit(away)
        what, where = "joint moves against its torque", self.robot.joint_names[away]
        return Trip(what, where, value, math.copysign(limit, value), "rad/s", "state.v")

    def _silent(self, frame: SensorFrame) -> int | None:
        """A joint that has had no usable reading of position and torque for too long."""
        position, torque = frame.position, frame.torque
        answered = (position >= self._reading_low) & (position <= self._reading_high)
        answered &= np.abs(torque) <= self._command_high[0]
        if answered.all():
            self._complete = frame.stamp
            return None
        if self._complete is not None:  # the first gap
            self._heard[:] = self._complete
            self._complete = None
        self._heard = np.where(answered, frame.stamp, np.minimum(self._heard, frame.stamp))
        silent = ~(frame.stamp - self._heard <= SILENCE)
        return int(np.argmax(silent)) if silent.any() else None


def _without(command: TorqueCommand, joints: Flags) -> TorqueCommand:
    """The command without torque and feedback on some joints (n,)."""
    torque, stiffness, damping = (
        np.where(joints, 0.0, values) for values in (command.torque, command.stiffness, command.damping)
    )
    return replace(command, torque=torque, stiffness=stiffness, damping=damping)


def _not_numbers(names: tuple[str, ...], q: Array, v: Array) -> Trip | None:
    """A joint whose velocity or position is not a number, or so large that it cannot be computed with."""
    for values, what, unit, field in ((v, "velocity", "rad/s", "state.v"), (q, "position", "rad", "state.q")):
        known = np.abs(values) < ABSURD
        if not known.all():
            i = int(np.argmin(known))
            fault = "cannot be meant" if math.isfinite(values[i]) else "is not a number"
            return Trip(f"{what} {fault}", names[i], float(values[i]), ABSURD, unit, field)
    return None
