"""SensorFrame -> RobotState: the estimator box of the loop."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation.base_filter import BaseFilter
from humanoid_balance.estimation.centroid import Centroid
from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.foot_wrench import FootWrenchObserver
from humanoid_balance.estimation.force_plates import ForcePlateWindow
from humanoid_balance.estimation.ground import GroundPlane
from humanoid_balance.estimation.input_guard import InputGuard
from humanoid_balance.estimation.kinematics import BodyKinematics
from humanoid_balance.estimation.late_state import LATE, LateState, Packed
from humanoid_balance.estimation.settings import EstimatorSettings
from humanoid_balance.estimation.sole import Sole
from humanoid_balance.estimation.support import SupportPolygon
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, LEFT, RIGHT, Array, Flags, RobotState, SensorFrame, TouchWrench

UP = np.array([0.0, 0.0, 1.0])
SIDES = (LEFT, RIGHT)
PACKED = Packed("com_velocity", "sole_position", "sole_rotation")
CONTACT: dict[tuple[bool, bool], Flags] = {(a, b): np.array([a, b]) for a in (False, True) for b in (False, True)}
for constant in CONTACT.values():
    constant.flags.writeable = False

# Of the fields that are not late, in their order: a frozen dataclass would look up each by name to set it.
AT_ONCE = [field.name for field in dataclasses.fields(RobotState) if field.name not in LATE]
SETTERS = tuple(getattr(LateState, name).__set__ for name in (*AT_ONCE, "late"))


class Estimator:
    """What the controller knows, from sensors alone. Starts with the first complete frame, robot at rest.

    Inside a tick small vectors are plain floats: a numpy call costs as much as ten multiplications.
    """

    def __init__(self, robot: Robot, settings: EstimatorSettings | None = None) -> None:
        self.robot = robot
        self.settings = s = settings or EstimatorSettings()
        measured = robot.config.estimation.foot_sensors
        self._floor = 0.5 * s.contact.load_off * robot.weight
        self._guard = InputGuard(robot, s.guard)
        self._body = BodyKinematics(robot)
        self._base = BaseFilter(s.base, s.guard.period)
        left, right = (Sole(FootContact(robot.weight, s.contact, measured), robot.soles[i], self._floor) for i in SIDES)
        self._soles = (left, right)
        self._ground = GroundPlane()
        self._support = SupportPolygon(robot.soles)
        self._centroid = Centroid(robot, s, self._soles, self._ground)
        self._plates = ForcePlateWindow(s.base.sole_window)
        self._observer = None if measured else FootWrenchObserver(robot, s.contact.observer_bandwidth)
        self._state: RobotState | None = None
        self._touch: TouchWrench | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next complete frame starts the estimate anew at the world origin."""
        self._guard.reset()
        self._centroid.push.reset()
        if self._observer is not None:
            self._observer.reset()
        self._started = False
        self._coasting = False
        self._state = None

    def update(self, frame: SensorFrame, touch: TouchWrench | None = None) -> RobotState:
        """One tick. Never raises on bad sensor values; see ``faults`` and ``valid``.

        ``touch``: the planned wrenches of contacts that have no sensor; they are not a push.
        """
        self._touch = touch
        guard, base = self._guard, self._base
        if not guard.accept(frame) and self._state is not None:
            valid = self._started and guard.valid
            self._state = dataclasses.replace(self._state, valid=valid, faults=guard.faults)
            return self._state
        if not self._started:
            self._start()
        elif guard.gap or (self._coasting and not guard.imu_lost):
            self._resume()
        else:
            if guard.imu_lost:
                base.coast(guard.dt)
            else:
                base.predict(guard.gyro, guard.acceleration, guard.dt)
            self._body.update(guard.position, guard.velocity, base.rows, base.position, base.velocity, base.rate)
            corrected = base.take_correction()
            if corrected is not None:
                self._centroid.correct(corrected)
        self._coasting = guard.imu_lost
        self._observe_soles()
        self._state = self._report()
        if base.due:
            self._correct()
        else:
            if base.ticks == base.look_ahead:
                self._set_creep()
            base.prepare()
        return self._state

    # ---- start ----

    def _start(self) -> None:
        """Level by accelerometer and soles, heading zero, origin between the soles."""
        base, body = self._base, self._body
        base.start(np.eye(3), [0.0, 0.0, 0.0])
        self._place_body()
        base.start(self._level(), [0.0, 0.0, 0.0])
        self._place_body()
        turn = -math.atan2(body.rotation[1, 0], body.rotation[0, 0])
        base.start(pin.utils.rotate("z", turn) @ base.rotation, [0.0, 0.0, 0.0])
        self._stand(np.zeros(3))
        self._started = self._guard.complete

    def _resume(self) -> None:
        """Go on after a gap in the data: at rest, soles where they were."""
        place = self._centre_of_soles()
        self._base.resume()
        self._stand(place)

    def _stand(self, place: Array) -> None:
        """Put the soles in contact to a place in the world and begin to observe from there."""
        body, base = self._body, self._base
        self._place_body()
        wrench = self._sole_wrench()
        for side, sole in enumerate(self._soles):
            sole.contact.reset(bool(wrench[side, 2] > 2.0 * self._floor))
        base.position = (base.position + place - self._centre_of_soles()).tolist()
        self._place_body()
        for side, sole in enumerate(self._soles):
            base.set_trust(side, sole.contact.contact, body.sole_position[side].tolist())
        self._centroid.start(body)
        self._disturbed = True
        self._ground.start(place.tolist())
        self._fresh = True

    def _level(self) -> Array:
        """Orientation world <- IMU at rest: up is where accelerometer and soles say, each by its noise.

        The body is placed with its IMU as the world here.
        """
        body, noise = self._body, self.settings.base
        up = np.array(self._guard.acceleration) / noise.acceleration_bias**2
        wrench = self._sole_wrench()
        force = sum(body.sole_rotation[side] @ wrench[side, :3] for side in SIDES) / self.robot.mass
        if self._observer is None and 0.5 * GRAVITY < np.linalg.norm(force) < 2.0 * GRAVITY:
            up = up + force / noise.sole_force**2
        turn = pin.Quaternion.FromTwoVectors(up, UP)
        turn.normalize()  # upside down its norm is one to four digits only
        rotation: Array = turn.toRotationMatrix()
        return rotation

    def _centre_of_soles(self) -> Array:
        """Middle of the rectangles of the soles in contact, of both when none is, world [m]."""
        body, middle = self._body, self.robot.soles.mean(axis=1)
        standing = [side for side in SIDES if self._soles[side].contact.contact] or SIDES
        centre: Array = np.mean([body.sole_position[i] + body.sole_rotation[i] @ middle[i] for i in standing], axis=0)
        return centre

    def _place_body(self) -> None:
        base, guard = self._base, self._guard
        self._body.update(guard.position, guard.velocity, base.rows, base.position, base.velocity, base.rate)

    # ---- the tick ----

    def _sole_wrench(self) -> Array:
        """Measured by the soles, or seen by the joint torques (2, 6)."""
        guard, body = self._guard, self._body
        if self._observer is None:
            return guard.wrench
        return self._observer.update(body.q, body.v, guard.torque, guard.dt)

    def _observe_soles(self) -> None:
        """Soles in the world, their wrenches and contacts; what they tell the base filter."""
        guard, body, base = self._guard, self._body, self._base
        dt, self._wrench, loads = guard.dt, guard.wrench, guard.loads
        if self._observer is not None:
            self._wrench = self._sole_wrench()
            loads = self._wrench.tolist()
        variance = base.covariance.speed_variance
        self._changed = False
        for side, sole, measured in zip(SIDES, self._soles, loads, strict=True):
            position = body.sole_position[side].tolist()
            rows = body.sole_rotation[side].tolist()
            sole.update(position, rows, body.sole_twist(side), measured, variance, dt)
            contact = sole.contact
            if contact.changed:
                self._changed = self._disturbed = True
            if contact.trusted != base.trusted[side]:
                base.set_trust(side, contact.trusted, position)
            elif contact.trusted:
                if sole.flat:
                    base.collect_rate(side, rows, sole.twist)
                elif sole.pressed:
                    x, y, z = sole.rolling()
                    base.roll(side, x * dt, y * dt, z * dt)
                base.collect(side, position)
        if base.ticks == base.weigh_at or self._changed or self._fresh:  # standing soles hardly move in between
            self._fresh = False
            self._ground.update(*self._soles)
            self._support.update(*self._soles)

    def _set_creep(self) -> None:
        """A light or rolling sole is a poor fixed point."""
        s, base = self.settings.base, self._base
        for side, sole in enumerate(self._soles):
            load = max(sole.normal_force / self.robot.weight, 0.01)
            creep = s.anchor * (1.0 + (s.light / load) ** 4)
            base.creep[side] = creep if sole.flat else creep + s.rolling * sole.turning()

    def _correct(self) -> None:
        """Kalman step of the base."""
        base = self._base
        relative = [a - b for a, b in zip(base.velocity, self._body.com_velocity.tolist(), strict=True)]
        if any(sole.contact.contact for sole in self._soles) and not any(base.trusted):
            base.drift()
        base.correct()
        self._calibrate(relative)
        x, y, z = base.velocity
        if not x * x + y * y + z * z < self.settings.base.speed_limit**2:  # run away: no feet and a wild IMU for long
            self._resume()

    def _calibrate(self, relative: list[float]) -> None:
        """Quiet standing on force plates shows the accelerometer's bias. ``relative``: speed of IMU against CoM."""
        *specific, time = self._base.take_impulse()
        force = self._centroid.take_impulse()
        if self._observer is not None:
            return  # its wrenches come from this very IMU
        if self._disturbed or self._touch or not self._centroid.push.quiet or not any(self._base.trusted):
            self._disturbed = False
            self._plates.clear()
            return
        error = self._plates.add(specific, force, relative, time)
        if error is not None:
            self._base.observe_acceleration(error)

    def _report(self) -> RobotState:
        guard, body, base, centroid = self._guard, self._body, self._base, self._centroid
        left, right = self._soles
        velocity = centroid.update(
            body, guard.stamp, guard.dt, base.covariance.speed_variance, self._changed, self._touch
        )
        (a, b, c), (d, e, f) = left.rows, right.rows
        packed = PACKED.pack(*velocity, *left.position, *right.position, *a, *b, *c, *d, *e, *f)
        com_velocity, sole_position, sole_rotation = PACKED.views(packed)
        values = (
            guard.stamp,
            self._started and guard.valid,
            guard.faults,
            body.q.copy(),
            body.v.copy(),
            body.com.copy(),
            com_velocity,
            body.angular_momentum.copy(),
            centroid.omega,
            sole_position,
            sole_rotation,
            CONTACT[left.contact.contact, right.contact.contact],
            self._wrench.copy(),
            self._support.vertices,
            self._ground.normal_array,
            centroid.ground_height,
            centroid.push.report(),
            centroid.late(left, right),
        )
        state = LateState.__new__(LateState)
        for put, value in zip(SETTERS, values, strict=True):
            put(state, value)
        return state
